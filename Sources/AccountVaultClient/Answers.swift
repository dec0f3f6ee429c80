/// An app, as the agent knows it by its key.
public struct App: Sendable, Equatable, Decodable {
  public let id: String
  public let name: String?
  /// Whether it has its requests signed and sent, and is never handed a token.
  public let isSignOnly: Bool
  /// The registrations that it uses, each `TYPE:CLIENT_ID`.
  public let clients: [String]

  private enum CodingKeys: String, CodingKey {
    case id, name, clients
    case isSignOnly = "sign_only"
  }
}

/// An account on which the app holds something.
public struct Account: Sendable, Equatable, Decodable {
  public let id: String
  /// The provider.
  public let type: String
  public let username: String
  /// The provider's own name of the user.
  public let userID: String?

  private enum CodingKeys: String, CodingKey {
    case id, type, username
    case userID = "user_id"
  }
}

/// What an app that asks by groups wants.
public enum AccessGroup: String, Sendable, Codable {
  case read
  case write
  case readwrite
}

/// Who may see what an app writes.
public enum Audience: String, Sendable, Codable {
  case everyone
  case friends
  case onlyMe = "only_me"
}

/// One permission of the app on one account.
public struct Access: Sendable, Equatable, Decodable {
  public enum State: String, Sendable, Decodable {
    case never
    case granted
    case denied
    case revoked
    case lapsed
  }

  /// The account's id.
  public let account: String
  public let permission: String
  /// `read`, `write` or `extended`.
  public let group: String
  public let state: State
  public let audience: Audience?
  /// When it lapses: RFC 3339 in UTC with whole seconds.
  public let until: String?
  /// Since when it is so.
  public let since: String?
}

/// What became of an ask.
public struct AccessAnswer: Sendable, Equatable, Decodable {
  public enum Decision: String, Sendable, Decodable {
    case granted
    case denied
    case noAccount = "no_account"
    /// Nobody has decided yet.
    case pending
  }

  public let type: String
  /// The account's id.
  public let account: String?
  public let decision: Decision
  public let granted: [String]
  public let declined: [String]
}

/// A header of a request or an answer.
public struct Header: Sendable, Equatable, Codable {
  public let name: String
  public let value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// Headers that make a request the account's. They may hold a token: they go with that request and
/// nowhere else.
public struct Signature: Sendable, Decodable {
  /// The account's id.
  public let account: String
  /// The address as it must be sent.
  public let url: String
  public let headers: [Header]
  /// What must be put behind the address's query, where the provider takes its token there.
  public let query: String?
}
