package import Encoding
import Time

extension GrantSet {
  static let version: UInt8 = 1
  /// What a standing takes at least: an empty name 4, group 1, decision 1, audience 1, until 1,
  /// since 8, entry 8, reason 1, author 1, confirmed 1, lapse 1.
  private static let leastStanding = 28

  /// The record: version (1), app id, account (16 bytes), standings (count). Each standing: name,
  /// group (u8), decision (u8), audience (u8, 0 none), until (optional), since (i64), entry (u64),
  /// reason (optional), author (u8), confirmed (optional), entry of the lapse (optional).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(GrantSet.version)
    writer.field(app)
    writer.raw(account.key.bytes)
    writer.u32(UInt32(standings.count))
    for standing in standings {
      writer.field(standing.name)
      writer.coded(standing.group)
      writer.coded(standing.decision)
      writer.coded(standing.audience)
      writer.optional(standing.until)
      writer.time(standing.since)
      writer.u64(standing.entry)
      writer.optional(standing.reason)
      writer.coded(standing.decidedBy)
      writer.optional(standing.confirmedAt)
      writer.optional(standing.lapseEntry.map { Int64(bitPattern: $0) })
    }
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused. Names out of order or twice are
  /// refused too: with two standings of one name, what an app may do would depend on who looks.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(GrantSet.version)
    app = try reader.text()
    guard App.isID(app) else { throw .notCanonical("app id") }
    account = AccountID(Key16(try reader.raw(16)))
    standings = []
    for _ in 0..<(try reader.count(least: GrantSet.leastStanding)) {
      let standing = try PermissionStanding(from: &reader)
      if let last = standings.last, !precedes(last.name, standing.name) {
        throw .notCanonical("order of permissions")
      }
      standings.append(standing)
    }
    try reader.end()
  }
}

extension PermissionStanding {
  fileprivate init(from reader: inout Reader) throws(EncodingError) {
    name = try reader.text()
    group = try reader.coded(PermissionGroup.self)
    decision = try reader.coded(Decision.self)
    audience = try reader.optionalCoded(Audience.self)
    until = try reader.optionalTime()
    since = try reader.time()
    entry = try reader.u64()
    reason = try reader.optionalText()
    decidedBy = try reader.coded(Author.self)
    confirmedAt = try reader.optionalTime()
    lapseEntry = try reader.optionalInt64().map { UInt64(bitPattern: $0) }
  }
}
