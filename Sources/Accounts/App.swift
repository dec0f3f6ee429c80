package import Encoding
public import Time

/// A program that asks for access to accounts.
public struct App: Equatable, Sendable {
  /// As the owner or a provider wrote it; see ``isID(_:)``.
  public let id: String
  /// What a person reads when it asks.
  public var name: String
  /// The clients of its own, at most one of a type. For another type it uses the type's default.
  public var clients: [ClientReference]
  /// It is never handed a token: its requests are to be signed for it, which a later release does.
  public var signOnly: Bool
  /// The Unix users that may show its key; anyone who has the key where it is empty.
  public var uids: [UInt32]
  /// A keyed hash of its key; nil where it has no key and cannot come through the agent.
  package var keyHash: Digest32?
  /// When it was added, or first met in a decision.
  public let createdAt: Timestamp
  /// When its present key was made; nil where it has none.
  public var keyChangedAt: Timestamp?

  /// - Precondition: `id` is one (``isID(_:)``).
  package init(
    id: String, name: String, clients: [ClientReference] = [], signOnly: Bool = false,
    uids: [UInt32] = [], keyHash: Digest32? = nil, createdAt: Timestamp,
    keyChangedAt: Timestamp? = nil
  ) {
    precondition(App.isID(id), "an app's id is checked before it comes here")
    self.id = id
    self.name = name
    self.clients = clients
    self.signOnly = signOnly
    self.uids = uids
    self.keyHash = keyHash
    self.createdAt = createdAt
    self.keyChangedAt = keyChangedAt
  }

  /// Whether it has a key of its own, for the agent that a later release brings.
  public var hasKey: Bool { keyHash != nil }

  /// The app's own client for a type.
  public func client(for type: String) -> ClientReference? {
    clients.first { same($0.type, type) }
  }

  /// Whether a text may be the id of an app: 1 to 128 of the letters A to Z and a to z, the digits,
  /// `.`, `_` and `-`. Case counts.
  public static func isID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

extension App {
  static let version: UInt8 = 1

  /// The record: version (1), id, name, clients (count; type and client id each), sign only (flag),
  /// uids (count; u32 each), key (flag; hash of 32 bytes), created (i64), key changed (optional).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(App.version)
    writer.field(id)
    writer.field(name)
    writer.u32(UInt32(clients.count))
    for client in clients {
      writer.field(client.type)
      writer.field(client.clientID)
    }
    writer.flag(signOnly)
    writer.u32(UInt32(uids.count))
    for uid in uids { writer.u32(uid) }
    writer.flag(keyHash != nil)
    if let keyHash { writer.raw(keyHash.bytes) }
    writer.time(createdAt)
    writer.optional(keyChangedAt)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused, and so is an id that
  /// ``isID(_:)`` refuses.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(App.version)
    id = try reader.text()
    guard App.isID(id) else { throw .notCanonical("app id") }
    name = try reader.text()
    clients = []
    for _ in 0..<(try reader.count(least: 8)) {
      let type = try reader.text()
      clients.append(ClientReference(type: type, clientID: try reader.text()))
    }
    signOnly = try reader.flag()
    uids = []
    for _ in 0..<(try reader.count(least: 4)) { uids.append(try reader.u32()) }
    keyHash = try reader.flag() ? Digest32(try reader.raw(32)) : nil
    createdAt = try reader.time()
    keyChangedAt = try reader.optionalTime()
    try reader.end()
  }
}
