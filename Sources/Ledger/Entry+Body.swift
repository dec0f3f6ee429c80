import Encoding
import Time

/// The body of an entry: the one sequence of bytes that its leaf commits to.
///
/// In order, with the forms of `Writer`: version (1), number (u64), time in seconds (i64), event
/// code (u8), actor, app (optional), account (flag, 16 bytes), account label (optional),
/// permissions (list), audience (optional), until in seconds (optional), reason (optional),
/// evidence (flag; status, code, subcode, class, body hash, each optional), details (count; name
/// and value each).
///
/// There is one body for an entry and one entry for a body. Were there two bodies, the commitment
/// would still bind one of them, but what a reader sees would depend on who decodes it.
extension Entry {
  static let bodyVersion: UInt8 = 1

  /// The canonical body.
  package var body: [UInt8] {
    var writer = Writer()
    writer.u8(Entry.bodyVersion)
    writer.u64(number)
    writer.i64(time.seconds)
    writer.u8(event.code)
    writer.field(actor)
    writer.optional(app)
    if let account {
      writer.u8(1)
      writer.raw(account.bytes)
    } else {
      writer.u8(0)
    }
    writer.optional(accountLabel)
    writer.list(permissions)
    writer.optional(audience)
    writer.optional(until?.seconds)
    writer.optional(reason)
    if let evidence {
      writer.u8(1)
      evidence.write(to: &writer)
    } else {
      writer.u8(0)
    }
    writer.u32(UInt32(details.count))
    for detail in details {
      writer.field(detail.name)
      writer.field(detail.value)
    }
    return writer.bytes
  }

  /// Decodes a canonical body.
  ///
  /// - Throws: ``LedgerError/newerVersion(_:)`` for a version that this release does not know,
  ///   ``LedgerError/unknownEvent(code:)`` for a code outside the registry, and
  ///   ``LedgerError/malformed(_:)`` for every form but the canonical one.
  package init(body: [UInt8]) throws(LedgerError) {
    var reader = Reader(body)
    do {
      let version = try reader.u8()
      guard version == Entry.bodyVersion else { throw LedgerError.newerVersion(version) }
      let number = try reader.u64()
      let time = Timestamp(seconds: try reader.i64())
      let code = try reader.u8()
      guard let event = Event(code: code) else { throw LedgerError.unknownEvent(code: code) }
      self.init(number: number, time: time, event: event, actor: try reader.text())
      app = try reader.optionalText()
      account = try reader.flag() ? Key16(try reader.raw(16)) : nil
      accountLabel = try reader.optionalText()
      permissions = try reader.list()
      audience = try reader.optionalText()
      until = try reader.optionalInt64().map { Timestamp(seconds: $0) }
      reason = try reader.optionalText()
      evidence = try reader.flag() ? try Evidence(from: &reader) : nil
      details = try reader.details()
      try reader.end()
    } catch let error as LedgerError {
      throw error
    } catch {
      throw .malformed("entry body: \(error)")
    }
  }
}

extension Evidence {
  fileprivate func write(to writer: inout Writer) {
    writer.optional(status.map { Int64($0) })
    writer.optional(code)
    writer.optional(subcode)
    writer.optional(`class`)
    writer.optional(bodyHash)
  }

  fileprivate init(from reader: inout Reader) throws(EncodingError) {
    self.init(
      status: try reader.optionalInt64().map { Int($0) },
      code: try reader.optionalText(), subcode: try reader.optionalText(),
      class: try reader.optionalText(), bodyHash: try reader.optionalText())
  }
}

extension Reader {
  /// A byte that is 0 or 1.
  fileprivate mutating func flag() throws(EncodingError) -> Bool {
    switch try u8() {
    case 0: false
    case 1: true
    default: throw .notCanonical("flag")
    }
  }

  /// Name and value pairs. A detail takes 8 bytes at least, so a count that the rest cannot hold is
  /// refused before anything is reserved for it: a forged count buys no memory.
  fileprivate mutating func details() throws(EncodingError) -> [Entry.Detail] {
    let count = Int(try u32())
    guard count <= remaining / 8 else { throw .notCanonical("count") }
    var details: [Entry.Detail] = []
    details.reserveCapacity(count)
    for _ in 0..<count {
      details.append(Entry.Detail(try text(), try text()))
    }
    return details
  }
}
