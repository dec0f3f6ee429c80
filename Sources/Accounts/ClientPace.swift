package import Encoding
package import Time

/// How the renewals of one client are spaced, shared by all of its accounts and kept over restarts.
package struct ClientPace: Equatable, Sendable {
  package let type: String
  package let clientID: String
  /// Failures of the client in a row, whichever account they were met at.
  package var failures: Int64 = 0
  /// When the last of them was.
  package var failedAt: Timestamp?
  /// Before this nothing is sent for it, but for the owner.
  package var waitsUntil: Timestamp?
  /// The same, where the provider itself named the time: it binds the owner too.
  package var providerTime: Timestamp?
  /// The provider refused the client itself at this time: one alarm was written, and nothing but a rare
  /// probe is sent until it is good again.
  package var stoppedAt: Timestamp?
  /// Which registration was refused: another secret ends the stop.
  package var stoppedClient: Key16?
  package var errorClass: String?
  package var reason: String?

  package init(type: String, clientID: String) {
    self.type = type
    self.clientID = clientID
  }

  /// Whether nothing stands against sending.
  package var isClear: Bool {
    failures == 0 && waitsUntil == nil && providerTime == nil && stoppedAt == nil
  }
}

extension ClientPace {
  static let version: UInt8 = 1

  /// The record: version (1), type, client id, failures (i64), failed at, waits until, provider's time,
  /// stopped at (optional each), stopped client (flag, 16 bytes), class, reason (optional each).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(ClientPace.version)
    writer.field(type)
    writer.field(clientID)
    writer.i64(failures)
    writer.optional(failedAt)
    writer.optional(waitsUntil)
    writer.optional(providerTime)
    writer.optional(stoppedAt)
    writer.flag(stoppedClient != nil)
    if let stoppedClient { writer.key(stoppedClient) }
    writer.optional(errorClass)
    writer.optional(reason)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(ClientPace.version)
    type = try reader.text()
    clientID = try reader.text()
    failures = try reader.i64()
    guard failures >= 0 else { throw .notCanonical("failures") }
    failedAt = try reader.optionalTime()
    waitsUntil = try reader.optionalTime()
    providerTime = try reader.optionalTime()
    stoppedAt = try reader.optionalTime()
    stoppedClient = try reader.flag() ? try reader.key() : nil
    errorClass = try reader.optionalText()
    reason = try reader.optionalText()
    try reader.end()
  }
}
