package import Encoding
public import Time

/// A token that is over here, and of which its provider was not told yet.
///
/// Its secrets are a ``RevocationSecret`` of their own.
public struct PendingRevocation: Equatable, Sendable {
  /// Why the token is over.
  public enum Cause: String, CaseIterable, Sendable {
    /// The account was removed.
    case accountRemoved = "account_removed"
    /// A person signed in anew, and the older token was still good.
    case replaced
    /// A sign-in came back as somebody else.
    case wrongUser = "wrong_user"
    /// The one app that used the client lost all that it was granted.
    case appRevoked = "app_revoked"
  }

  package let id: Key16
  /// The provider's id.
  public let type: String
  /// The client that the token was issued to; empty where that is not known.
  public let clientID: String
  /// The account's id in the vault; it may be gone.
  public let account: AccountID
  /// What the account was called.
  public let username: String
  /// The provider's id of the user whose token it is.
  public let userID: String?
  /// The protocol of the token.
  public let kind: Credential.Kind
  /// As the provider wrote it, such as `bearer`.
  public let tokenType: String
  /// Of the credential.
  public let generation: Int64
  /// When the access token ends by itself; nil where that is not known, or never.
  public let accessEndsAt: Timestamp?
  /// Whether a refresh token is to be revoked too.
  public let hasRefreshToken: Bool
  /// Why the token is over.
  public let cause: Cause
  /// When it was.
  public let createdAt: Timestamp
  /// No try before this.
  public internal(set) var notBefore: Timestamp
  /// Whether ``notBefore`` is the provider's own word.
  public internal(set) var isProvidersTime: Bool
  /// How often it was tried, a try that is under way among them.
  public internal(set) var attempts: Int64
  /// The class in the error catalogue of the last answer.
  public internal(set) var lastClass: String?

  package init(
    id: Key16, type: String, clientID: String, account: AccountID, username: String,
    userID: String?, kind: Credential.Kind, tokenType: String, generation: Int64,
    accessEndsAt: Timestamp?, hasRefreshToken: Bool, cause: Cause, createdAt: Timestamp
  ) {
    self.id = id
    self.type = type
    self.clientID = clientID
    self.account = account
    self.username = username
    self.userID = userID
    self.kind = kind
    self.tokenType = tokenType
    self.generation = generation
    self.accessEndsAt = accessEndsAt
    self.hasRefreshToken = hasRefreshToken
    self.cause = cause
    self.createdAt = createdAt
    notBefore = createdAt
    isProvidersTime = false
    attempts = 0
  }

  /// How many failed tries make it one that a person should look after.
  public static let overdueAttempts: Int64 = 6

  /// How long it is tried at all, in seconds: 30 days.
  public static let lifetime: Int64 = 30 * 86_400

  /// Whether it failed so often that a person should take the app away at the provider's site.
  public var isOverdue: Bool { attempts >= PendingRevocation.overdueAttempts }

  /// When it is given up: at the token's own end where nothing can renew it, after 30 days else.
  public var endsAt: Timestamp {
    let limit = createdAt + PendingRevocation.lifetime
    guard let accessEndsAt, !hasRefreshToken else { return limit }
    return min(limit, accessEndsAt)
  }

  /// The longest wait after the present try, in seconds: a minute, doubled by each, up to six hours.
  package var backoff: Int64 { min(21_600, 60 << min(max(attempts, 1) - 1, 9)) }

  /// Notes that a try is under way. Until `backoff` is over no other process begins one.
  package mutating func begin(at now: Timestamp) {
    attempts = attempts &+ 1
    notBefore = now + backoff
    isProvidersTime = false
  }

  /// Notes that a try came to nothing.
  package mutating func postpone(
    to time: Timestamp, isProvidersTime: Bool, lastClass: String
  ) {
    notBefore = time
    self.isProvidersTime = isProvidersTime
    self.lastClass = lastClass
  }
}

extension PendingRevocation {
  static let version: UInt8 = 1

  /// The record: version (1), id, type, client id, account, username, user id (optional), kind (u8),
  /// token type, generation (i64), end of the access token (optional), has a refresh token (flag),
  /// cause (u8), created (i64), not before (i64), is the provider's time (flag), attempts (i64), last
  /// class (optional).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(PendingRevocation.version)
    writer.key(id)
    writer.field(type)
    writer.field(clientID)
    writer.key(account.key)
    writer.field(username)
    writer.optional(userID)
    writer.coded(kind)
    writer.field(tokenType)
    writer.i64(generation)
    writer.optional(accessEndsAt)
    writer.flag(hasRefreshToken)
    writer.coded(cause)
    writer.time(createdAt)
    writer.time(notBefore)
    writer.flag(isProvidersTime)
    writer.i64(attempts)
    writer.optional(lastClass)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(PendingRevocation.version)
    id = try reader.key()
    type = try reader.text()
    clientID = try reader.text()
    account = AccountID(try reader.key())
    username = try reader.text()
    userID = try reader.optionalText()
    kind = try reader.coded(Credential.Kind.self)
    tokenType = try reader.text()
    generation = try reader.i64()
    accessEndsAt = try reader.optionalTime()
    hasRefreshToken = try reader.flag()
    cause = try reader.coded(Cause.self)
    createdAt = try reader.time()
    notBefore = try reader.time()
    isProvidersTime = try reader.flag()
    attempts = try reader.i64()
    lastClass = try reader.optionalText()
    try reader.end()
    guard attempts >= 0 else { throw .notCanonical("attempts") }
  }
}

extension PendingRevocation.Cause: ByteCoded {
  var code: UInt8 {
    switch self {
    case .accountRemoved: 1
    case .replaced: 2
    case .wrongUser: 3
    case .appRevoked: 4
    }
  }
}
