import AccountVault
import AccountVaultNetwork
import Accounts
import Command
import Faults

/// `vault-agent send-revocations`: tells providers of the tokens that are over here, as far as that is
/// due. What has to do with one is told on standard error; there is no data.
enum SendRevocationsCommand {
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let terminal = context.terminal
    let network = Network.system(version: Release.version)
    let (outcomes, waiting) = try await context.withSession {
      (session) async throws(VaultError) in
      let outcomes = try await session.sendRevocations(over: network)
      return (outcomes, try session.pendingRevocations().count)
    }
    var status = waiting > 0 ? ExitStatus.tryAgain : .ok
    for outcome in outcomes {
      let what = "\(outcome.revocation.type):\(outcome.revocation.username)"
      switch outcome.state {
      case .sent: break
      case .later:
        terminal.note(
          "\(what): not told yet (\(outcome.reason ?? "no answer"))"
            + (outcome.nextAttemptAt.map { "; next try at \($0)" } ?? ""))
      case .givenUp:
        terminal.warning(
          "\(what): its tokens could not be taken back: \(outcome.reason ?? "no way");"
            + " take the app away at the provider's site")
        status = status.combined(with: .failed)
      case .superseded: terminal.note("\(what): \(outcome.reason ?? "signed in anew")")
      }
    }
    return status
  }
}
