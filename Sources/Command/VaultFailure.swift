import AccountVault
import Faults

extension CommandFailure {
  /// The library's error as the command shows it: the code is the exit, and what fits is listed below.
  ///
  /// A hint is a command that works when it is pasted; advice that is none goes behind the message.
  init(_ error: VaultError) {
    let isCommand =
      error.hint.map { hint in Self.commands.contains { hint.hasPrefix($0) } } ?? false
    let advice = isCommand ? "" : error.hint.map { "; \($0)" } ?? ""
    self.init(
      ExitStatus(error.code), error.message + advice, hint: isCommand ? error.hint : nil)
    candidates = error.candidates
  }

  private static let commands = ["vault ", "export ", "chmod ", "mkdir ", "ls ", "ulimit ", "df "]
}

extension ExitStatus {
  init(_ code: VaultError.Code) {
    self =
      switch code {
      case .failed: .failed
      case .usage: .usage
      case .damaged: .damaged
      case .notFound: .notFound
      case .exists: .exists
      case .io: .io
      case .tryAgain: .tryAgain
      case .denied: .denied
      case .config: .config
      case .neverAsked: .neverAsked
      case .revoked: .revoked
      case .signIn: .signIn
      case .ambiguous: .ambiguous
      case .locked: .locked
      case .wrongKey: .wrongKey
      case .newerFormat: .newerFormat
      case .wrongUser: .wrongUser
      }
  }
}
