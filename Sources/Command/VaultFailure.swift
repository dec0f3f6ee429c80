package import Faults

extension CommandFailure {
  /// The library's error as the command shows it: the code is the exit, message and hint are as they
  /// are, and what fits is listed below.
  package init(_ error: VaultError) {
    self.init(ExitStatus(error.code), error.message, hint: error.hint)
    candidates = error.candidates
  }
}

extension ExitStatus {
  package init(_ code: VaultError.Code) {
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
