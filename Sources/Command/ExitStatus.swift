/// What a command tells its caller: the codes of the contract, section 3.
///
/// The raw value is the process's exit code.
package enum ExitStatus: Int32, CaseIterable, Sendable {
  case ok = 0
  case failed = 1
  case usage = 64
  case damaged = 65
  case notFound = 66
  case exists = 73
  case io = 74
  case tryAgain = 75
  case denied = 77
  case config = 78
  case neverAsked = 80
  case revoked = 81
  case signIn = 82
  case ambiguous = 83
  case locked = 84
  case wrongKey = 85
  case newerFormat = 86
  case wrongUser = 87

  /// The process's exit code.
  package var code: Int32 { rawValue }

  /// The name that scripts read in `{"error":{"code":…}}`.
  package var name: String {
    switch self {
    case .ok: "ok"
    case .failed: "failed"
    case .usage: "usage"
    case .damaged: "damaged"
    case .notFound: "not_found"
    case .exists: "exists"
    case .io: "io"
    case .tryAgain: "try_again"
    case .denied: "denied"
    case .config: "config"
    case .neverAsked: "never_asked"
    case .revoked: "revoked"
    case .signIn: "sign_in"
    case .ambiguous: "ambiguous"
    case .locked: "locked"
    case .wrongKey: "wrong_key"
    case .newerFormat: "newer_format"
    case .wrongUser: "wrong_user"
    }
  }

  /// When it is used, as the help screen has it.
  package var meaning: String {
    switch self {
    case .ok: "all of it was done"
    case .failed: "it failed, and none of the rows below says why"
    case .usage: "unknown command, flag, permission, value or combination"
    case .damaged: "vault, row, backup or ledger damaged, altered or put back"
    case .notFound: "no such vault file, account, app or provider"
    case .exists: "it is there already"
    case .io: "disk full, read-only, or refused by the file system"
    case .tryAgain: "busy or in trouble: nothing is lost, try again later"
    case .denied: "the person said no"
    case .config: "the provider definition, client id or client secret is wrong"
    case .neverAsked: "nobody has decided yet"
    case .revoked: "granted once, and taken back, lapsed or narrowed since"
    case .signIn: "the credential is gone or absent: a person must sign in"
    case .ambiguous: "several accounts fit; they are listed on standard error"
    case .locked: "no passphrase or key could be had"
    case .wrongKey: "that passphrase or key does not open this vault"
    case .newerFormat: "made by a later version; nothing was changed"
    case .wrongUser: "signed in as somebody else; nothing was changed"
    }
  }

  /// From the most important to the least.
  static let ranking: [ExitStatus] = [
    .damaged, .newerFormat, .io, .wrongKey, .locked, .usage, .notFound, .exists, .config,
    .wrongUser, .signIn, .tryAgain, .ambiguous, .denied, .revoked, .neverAsked, .failed, .ok,
  ]

  /// The status of a command that did several things: the highest-ranking of what happened.
  package func combined(with other: ExitStatus) -> ExitStatus {
    Self.ranking.first { $0 == self || $0 == other } ?? self
  }
}
