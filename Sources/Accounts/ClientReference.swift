/// A client by its provider and its id there, written `type:client_id`.
public struct ClientReference: Hashable, Sendable, CustomStringConvertible {
  /// The provider's id.
  public let type: String
  /// The client's id at the provider.
  public let clientID: String

  /// The client of an id at a provider. Nothing is looked up.
  public init(type: String, clientID: String) {
    self.type = type
    self.clientID = clientID
  }

  /// Reads `type:client_id`; a client id may have colons of its own. Nil where either is empty.
  public init?(_ text: String) {
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    type = String(decoding: parts[0], as: UTF8.self)
    clientID = String(decoding: parts[1], as: UTF8.self)
  }

  public var description: String { "\(type):\(clientID)" }
}
