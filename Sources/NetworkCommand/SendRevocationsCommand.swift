import AccountVault
import AccountVaultNetwork
import Command
import Faults

/// `vault-agent send-revocations`: tells providers of the tokens that are over here, as far as that is
/// due. What has to do with one is told on standard error; there is no data.
enum SendRevocationsCommand {
  static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let network = Network.system(version: Release.version)
    let (outcomes, waiting) = try await context.withSession {
      (session) async throws(VaultError) in
      let outcomes = try await session.sendRevocations(over: network)
      return (outcomes, try session.pendingRevocations().count)
    }
    var report = RevocationReport()
    report.add(outcomes, to: context.terminal)
    return waiting > 0 ? report.status.combined(with: .tryAgain) : report.status
  }
}
