public import Accounts

/// A sign-in that the owner wants.
public struct SignInRequest: Sendable {
  /// Whose.
  public enum Subject: Sendable {
    /// A known account, as a person names it.
    case account(String)
    /// One that is added by it. Where its type and user id are known already it is a new sign-in of
    /// that account.
    case new(NewAccount)
  }

  /// Whose sign-in it is.
  public var subject: Subject
  /// The id of the client that gets the token; nil for the app's own, else the type's default.
  public var client: String?
  /// The app for which it is: its own client is used, and what it was granted is asked for.
  public var app: String?
  /// What to ask for; empty for what the credential had, else what the app was granted, else the
  /// provider's basic permission.
  public var permissions: [String] = []
  /// How; nil for the first that is possible, in the order of ``SignInWay``.
  public var way: SignInWay?
  /// How long the person has, at most ``longest``.
  public var seconds = SignInRequest.longest
  /// Registers a client at a server that hands them out, where there is none yet, without asking.
  public var registers = false

  /// The longest wait, in seconds.
  public static let longest: Int64 = 300

  /// A sign-in of a known account, or of a new one.
  public init(_ subject: Subject) { self.subject = subject }
}

/// What came of a sign-in.
public struct SignInOutcome: Sendable {
  /// The account as it is now.
  public let account: Account
  /// The client that the token was issued to.
  public let clientID: String
  /// The credential's number.
  public let generation: Int64
  /// Whether the account was added by it.
  public let isNew: Bool
  /// What the token may do; nil where the provider does not say.
  public let granted: [String]?
  /// What was asked for and not given.
  public let declined: [String]
  /// What the owner should know.
  public let notes: [String]
}
