package import Encoding
public import Time

/// One event in the ledger, with everything that was true when it happened.
///
/// Entries are numbered from 0; the number is the index of the entry's leaf in the Merkle tree.
/// An entry is never changed or removed.
public struct Entry: Equatable, Sendable {
  /// One more thing that an event tells, such as the client, the generation or the old name.
  public struct Detail: Hashable, Sendable {
    /// Which thing it tells, in snake_case.
    public var name: String
    /// The thing, as text.
    public var value: String

    /// A name and its value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The index of the entry's leaf, from 0.
  public var number: UInt64
  /// When it happened, to the second. The leaf shows only the minute.
  public var time: Timestamp
  /// What happened.
  public var event: Event
  /// Who did it: `owner`, `app:` and the app's id, `provider`, `engine` or `configuration`.
  public var actor: String
  /// The id of the app that it is about.
  public var app: String?
  /// The account that it is about.
  package var account: Key16?
  /// The account as `type:username` at the time. The username may have changed since.
  public var accountLabel: String?
  /// The names of the permissions that it is about.
  public var permissions: [String]
  /// Who sees what is written by the permissions granted.
  public var audience: String?
  /// When what was granted ends.
  public var until: Timestamp?
  /// Why, in the owner's or the vault's words.
  public var reason: String?
  /// What the provider said, where the provider was the cause.
  public var evidence: Evidence?
  /// In the order in which they were written.
  public var details: [Detail]

  package init(
    number: UInt64, time: Timestamp, event: Event, actor: String, app: String? = nil,
    account: Key16? = nil, accountLabel: String? = nil, permissions: [String] = [],
    audience: String? = nil, until: Timestamp? = nil, reason: String? = nil,
    evidence: Evidence? = nil, details: [Detail] = []
  ) {
    self.number = number
    self.time = time
    self.event = event
    self.actor = actor
    self.app = app
    self.account = account
    self.accountLabel = accountLabel
    self.permissions = permissions
    self.audience = audience
    self.until = until
    self.reason = reason
    self.evidence = evidence
    self.details = details
  }

  /// The id of the account in lower-case base32.
  public var accountID: String? { account?.base32 }

  /// The value of the first detail of that name.
  public func detail(_ name: String) -> String? {
    details.first { $0.name == name }?.value
  }
}
