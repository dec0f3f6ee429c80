/// Why a call came to nothing.
public struct AgentError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A name of the table of exit codes, as `vault` uses it. Names that this version does not know are
  /// kept as they came.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// None of the others.
    public static let failed = Code(rawValue: "failed")
    /// A value that the agent does not take.
    public static let usage = Code(rawValue: "usage")
    /// The vault is damaged.
    public static let damaged = Code(rawValue: "damaged")
    /// There is no such account, permission or route.
    public static let notFound = Code(rawValue: "not_found")
    public static let exists = Code(rawValue: "exists")
    /// The disk.
    public static let io = Code(rawValue: "io")
    /// Busy, throttled, network or server trouble: a later try may work.
    public static let tryAgain = Code(rawValue: "try_again")
    /// The owner said no.
    public static let denied = Code(rawValue: "denied")
    /// A setting is wrong: ours, the app's or the provider definition's.
    public static let config = Code(rawValue: "config")
    /// Nobody has decided yet, or there is no such account.
    public static let neverAsked = Code(rawValue: "never_asked")
    /// Granted once, and taken back.
    public static let revoked = Code(rawValue: "revoked")
    /// The credential is gone: a person must sign in.
    public static let signIn = Code(rawValue: "sign_in")
    /// Several accounts fit.
    public static let ambiguous = Code(rawValue: "ambiguous")
    /// The vault is locked.
    public static let locked = Code(rawValue: "locked")
    /// The app key is none of an app that may be used by this user.
    public static let wrongKey = Code(rawValue: "wrong_key")
    public static let newerFormat = Code(rawValue: "newer_format")
    public static let wrongUser = Code(rawValue: "wrong_user")
  }

  /// Who found it.
  public enum Cause: Sendable, Equatable {
    /// The agent answered so.
    case agent
    /// No agent listens at that path.
    case unreachable
    /// The connection broke before the whole answer was there: what was asked for may have been done.
    case connectionLost
    /// The time was over, with the same doubt.
    case timedOut
    /// The task was cancelled, with the same doubt.
    case cancelled
    /// What came was not understood.
    case answer
    /// The source of a request's body failed.
    case body
    /// The socket's or the key's place is not set, or cannot be read.
    case setup
  }

  public let code: Code
  public let cause: Cause
  /// One sentence, without a secret.
  public let message: String
  /// What to do, where something can be done.
  public let hint: String?
  /// The HTTP status of the agent's answer.
  public let status: Int?
  /// Seconds after which another try may work, where the agent named them.
  public let retryAfter: Int?
  /// With `ambiguous`: the ids of accounts that fit and on which the app holds something.
  public let candidates: [String]

  init(
    _ code: Code, _ cause: Cause, _ message: String, hint: String? = nil, status: Int? = nil,
    retryAfter: Int? = nil, candidates: [String] = []
  ) {
    self.code = code
    self.cause = cause
    self.message = message
    self.hint = hint
    self.status = status
    self.retryAfter = retryAfter
    self.candidates = candidates
  }

  public var description: String {
    "\(code.rawValue): \(message)" + (hint.map { " (\($0))" } ?? "")
  }
}
