import AccountVault
import Accounts
import Command

/// Says on standard error what came of revocations that were due: a renewal has lines of its own on
/// standard output, a revocation none.
struct RevocationReport {
  /// `tryAgain` where a provider could not be told yet, `failed` where one will not be.
  private(set) var status = ExitStatus.ok

  mutating func add(_ outcomes: [RevocationOutcome], to terminal: Terminal) {
    for outcome in outcomes {
      let what = "\(outcome.revocation.type):\(outcome.revocation.username)"
      switch outcome.state {
      case .sent: break
      case .later:
        terminal.note(
          "\(what): not told yet (\(outcome.reason ?? "no answer"))"
            + (outcome.nextAttemptAt.map { "; next try at \($0)" } ?? ""))
        status = status.combined(with: .tryAgain)
      case .givenUp:
        terminal.warning(
          "\(what): its tokens could not be taken back: \(outcome.reason ?? "no way");"
            + " take the app away at the provider's site")
        status = status.combined(with: .failed)
      case .superseded: terminal.note("\(what): \(outcome.reason ?? "signed in anew")")
      }
    }
  }
}
