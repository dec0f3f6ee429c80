package import Encoding
public import Time

/// An app's ask for access that nobody has answered yet.
///
/// It has an owner, the process that is asking the person, or none where nobody can be asked; and a
/// deadline. So an ask that was cut off, or that nobody answers, never stands in the way of the
/// next one, and is never taken for a no.
public struct Ask: Equatable, Sendable {
  /// Which of its permissions the app asks for.
  public enum Group: String, CaseIterable, Sendable {
    /// Reading alone.
    case read
    /// Writing alone.
    case write
    /// Read first, then write.
    case readwrite
    /// Permissions beyond reading and writing, which are asked for alone.
    case extended
  }

  /// A process, told apart from every other of this machine, also from a later one of the same
  /// number.
  public struct Asker: Hashable, Sendable {
    /// The number that the kernel gave the process; numbers come again.
    public let processID: Int32
    /// When the process started, in clock ticks since the machine did.
    public let startedAt: UInt64
    /// The kernel's random id of this run of the machine.
    public let bootID: String

    /// A process by its number, its start and the run of the machine.
    public init(processID: Int32, startedAt: UInt64, bootID: String) {
      self.processID = processID
      self.startedAt = startedAt
      self.bootID = bootID
    }
  }

  /// What has become of it.
  public enum State: String, Sendable {
    /// It can be answered.
    case pending
    /// The process that was asking has ended without an answer.
    case interrupted
    /// Its deadline has come.
    case overdue
  }

  package let id: Key16
  /// The app's id.
  public let app: String
  /// The provider's id.
  public let type: String
  /// The account, where the app named one.
  public let account: AccountID?
  /// Names as the provider writes them, without those that were decided before.
  public let permissions: [String]
  /// Nil where the permissions decide.
  public let group: Group?
  /// Who would see what is written.
  public let audience: Audience?
  /// When the app asked.
  public let askedAt: Timestamp
  /// From this second on it can no longer be answered.
  public let deadline: Timestamp
  /// The process that is asking the person; nil where the ask waits for `vault grant`.
  public let asker: Asker?

  /// - Precondition: `app` is an app's id.
  package init(
    id: Key16, app: String, type: String, account: AccountID? = nil, permissions: [String],
    group: Group? = nil, audience: Audience? = nil, askedAt: Timestamp, deadline: Timestamp,
    asker: Asker? = nil
  ) {
    precondition(App.isID(app), "an app's id is checked before it comes here")
    self.id = id
    self.app = app
    self.type = type
    self.account = account
    self.permissions = permissions
    self.group = group
    self.audience = audience
    self.askedAt = askedAt
    self.deadline = deadline
    self.asker = asker
  }

  /// The id in lower-case base32.
  public var idText: String { id.base32 }

  /// What has become of it at a time.
  ///
  /// - Parameter isAlive: whether a process still runs; called at most once.
  public func state(now: Timestamp, isAlive: (Asker) -> Bool) -> State {
    if let asker, !isAlive(asker) { return .interrupted }
    return now >= deadline ? .overdue : .pending
  }
}

extension Ask {
  static let version: UInt8 = 1

  /// The record: version (1), id (16 bytes), app id, type, account (flag, 16 bytes), permissions
  /// (list), group (u8, 0 none), audience (u8, 0 none), asked (i64), deadline (i64), asker (flag;
  /// process u32, start u64, boot id).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(Ask.version)
    writer.raw(id.bytes)
    writer.field(app)
    writer.field(type)
    writer.flag(account != nil)
    if let account { writer.raw(account.key.bytes) }
    writer.list(permissions)
    writer.coded(group)
    writer.coded(audience)
    writer.time(askedAt)
    writer.time(deadline)
    writer.flag(asker != nil)
    if let asker {
      writer.u32(UInt32(bitPattern: asker.processID))
      writer.u64(asker.startedAt)
      writer.field(asker.bootID)
    }
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(Ask.version)
    id = Key16(try reader.raw(16))
    app = try reader.text()
    guard App.isID(app) else { throw .notCanonical("app id") }
    type = try reader.text()
    account = try reader.flag() ? AccountID(Key16(try reader.raw(16))) : nil
    permissions = try reader.list()
    group = try reader.optionalCoded(Group.self)
    audience = try reader.optionalCoded(Audience.self)
    askedAt = try reader.time()
    deadline = try reader.time()
    if try reader.flag() {
      let processID = Int32(bitPattern: try reader.u32())
      let startedAt = try reader.u64()
      asker = Asker(processID: processID, startedAt: startedAt, bootID: try reader.text())
    } else {
      asker = nil
    }
    try reader.end()
  }
}

extension Ask.Group: ByteCoded {
  var code: UInt8 {
    switch self {
    case .read: 1
    case .write: 2
    case .readwrite: 3
    case .extended: 4
    }
  }
}
