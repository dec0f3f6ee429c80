package import Encoding
public import Time

/// A registration at a provider, of which the client secret is kept apart.
public struct Client: Equatable, Sendable {
  /// The provider's id.
  public let type: String
  /// As the provider gave it.
  public let clientID: String
  /// The owner's own word for it.
  public var name: String?
  /// The address that sign-ins of this client come back to.
  public var redirect: String?
  /// When it was added.
  public let createdAt: Timestamp
  /// Whether apps without a client of their own use it. One client of a type is.
  public var isDefault: Bool
  /// Whether the vault keeps a client secret for it; public clients have none.
  public var hasSecret: Bool

  package init(
    type: String, clientID: String, name: String? = nil, redirect: String? = nil,
    createdAt: Timestamp, isDefault: Bool, hasSecret: Bool
  ) {
    self.type = type
    self.clientID = clientID
    self.name = name
    self.redirect = redirect
    self.createdAt = createdAt
    self.isDefault = isDefault
    self.hasSecret = hasSecret
  }

  /// How the client is named on the command line.
  public var reference: ClientReference { ClientReference(type: type, clientID: clientID) }
}

extension Client {
  static let version: UInt8 = 1

  /// The record: version (1), type, client id, name (optional), redirect (optional), created (i64),
  /// default (flag), has a secret (flag).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(Client.version)
    writer.field(type)
    writer.field(clientID)
    writer.optional(name)
    writer.optional(redirect)
    writer.time(createdAt)
    writer.flag(isDefault)
    writer.flag(hasSecret)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(Client.version)
    type = try reader.text()
    clientID = try reader.text()
    name = try reader.optionalText()
    redirect = try reader.optionalText()
    createdAt = try reader.time()
    isDefault = try reader.flag()
    hasSecret = try reader.flag()
    try reader.end()
  }
}
