package import Encoding
public import Time

/// A person's account at a provider.
///
/// Its identity is the provider and the provider's user id. The username is a label: it can change,
/// and another person may take the old one, who must not inherit what was granted here.
public struct Account: Equatable, Sendable {
  /// A name that the account had once.
  public struct FormerUsername: Hashable, Sendable {
    /// What the account was called until then.
    public let name: String
    /// When the vault saw that the account had another name.
    public let until: Timestamp

    /// A name and the time at which it was given up.
    public init(name: String, until: Timestamp) {
      self.name = name
      self.until = until
    }
  }

  /// The vault's own name for it, which never changes.
  public let id: AccountID
  /// The provider's id, such as `facebook`.
  public let type: String
  /// The label at present.
  public private(set) var username: String
  /// The provider's id of the user as text, for it may have 64 bits or be no number at all; nil
  /// until the provider has told it.
  public var userID: String?
  /// The owner's own words about it.
  public var description: String?
  /// When the vault got to know it.
  public let createdAt: Timestamp
  /// The oldest first.
  public private(set) var formerUsernames: [FormerUsername]
  /// The ids of the clients that there is a credential for, in the order in which they came.
  public var clients: [String]

  package init(
    id: AccountID, type: String, username: String, userID: String? = nil,
    description: String? = nil, createdAt: Timestamp, formerUsernames: [FormerUsername] = [],
    clients: [String] = []
  ) {
    self.id = id
    self.type = type
    self.username = username
    self.userID = userID
    self.description = description
    self.createdAt = createdAt
    self.formerUsernames = formerUsernames
    self.clients = clients
  }

  /// `type:username`, by which people call the account.
  public var label: String { "\(type):\(username)" }

  /// Gives the account another username and keeps the old one in its history.
  ///
  /// - Returns: Whether the name changed.
  @discardableResult
  package mutating func rename(to name: String, at time: Timestamp) -> Bool {
    if same(name, username) { return false }
    formerUsernames.append(FormerUsername(name: username, until: time))
    username = name
    return true
  }
}

extension Account {
  static let version: UInt8 = 1

  /// The record: version (1), id (16 bytes), type, username, user id (optional), description
  /// (optional), created (i64), former usernames (count; name and time each), clients (list).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(Account.version)
    writer.raw(id.key.bytes)
    writer.field(type)
    writer.field(username)
    writer.optional(userID)
    writer.optional(description)
    writer.time(createdAt)
    writer.u32(UInt32(formerUsernames.count))
    for former in formerUsernames {
      writer.field(former.name)
      writer.time(former.until)
    }
    writer.list(clients)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(Account.version)
    id = AccountID(Key16(try reader.raw(16)))
    type = try reader.text()
    username = try reader.text()
    userID = try reader.optionalText()
    description = try reader.optionalText()
    createdAt = try reader.time()
    formerUsernames = []
    for _ in 0..<(try reader.count(least: 12)) {
      let name = try reader.text()
      formerUsernames.append(FormerUsername(name: name, until: try reader.time()))
    }
    clients = try reader.list()
    try reader.end()
  }
}
