internal import Encoding
package import Sodium

/// A body or query of form fields that came from outside; values may be secrets.
package struct FormReply: ~Copyable {
  /// The longest that is read, in bytes.
  package static let limit = 65_536

  private let body: SecretBytes
  private let fields: [(name: String, value: Range<Int>)]

  /// - Throws: ``OAuthError/badAnswer(_:)`` for one that is too long, has more than 256 fields or
  ///   names that are not UTF-8, ``OAuthError/badEscape``.
  package init(_ body: RawSpan) throws(OAuthError) {
    guard body.byteCount <= Self.limit else { throw .badAnswer("too long") }
    var end = body.byteCount
    while end > 0, [0x0A, 0x0D, 0x20].contains(body.byte(end - 1)) { end -= 1 }
    var fields: [(name: String, value: Range<Int>)] = []
    var start = 0
    while start < end {
      var middle: Int?
      var stop = start
      while stop < end, body.byte(stop) != UInt8(ascii: "&") {
        if middle == nil, body.byte(stop) == UInt8(ascii: "=") { middle = stop }
        stop += 1
      }
      if stop > start {
        guard fields.count < 256 else { throw .badAnswer("too many fields") }
        let name = try Self.decode(body, start..<(middle ?? stop))
        guard let name = name.withBytes({ $0.text }) else {
          throw .badAnswer("a name that is not UTF-8")
        }
        fields.append((name, (middle.map { $0 + 1 } ?? stop)..<stop))
      }
      start = stop + 1
    }
    self.fields = fields
    self.body = SecretBytes(copying: body)
  }

  /// - Throws: As ``init(_:)-(RawSpan)``.
  package init(_ text: String) throws(OAuthError) {
    var text = text
    text.makeContiguousUTF8()
    // The text outlives the call.
    try unsafe self.init(text.utf8Span.span.bytes)
  }

  package var names: [String] { fields.map(\.name) }

  /// The decoded value; nil where there is none.
  ///
  /// - Throws: ``OAuthError/repeatedParameter(_:)`` where there are two, ``OAuthError/badEscape``.
  package func secret(_ name: String) throws(OAuthError) -> SecretBytes? {
    var found: Range<Int>?
    for field in fields where field.name == name {
      guard found == nil else { throw .repeatedParameter(name) }
      found = field.value
    }
    guard let found else { return nil }
    return try body.withBytes { body throws(OAuthError) in try Self.decode(body, found) }
  }

  /// The decoded value as text; nil where there is none.
  ///
  /// - Throws: As ``secret(_:)``; ``OAuthError/badAnswer(_:)`` for what is not UTF-8.
  package func text(_ name: String) throws(OAuthError) -> String? {
    guard let secret = try secret(name) else { return nil }
    guard let text = secret.withBytes({ $0.text }) else { throw .badAnswer(name) }
    return text
  }

  private static func decode(
    _ source: RawSpan, _ range: Range<Int>
  ) throws(OAuthError) -> SecretBytes {
    var value = SecretBytes(count: range.count)
    let count = value.withMutableBytes { target -> Int? in
      var position = range.lowerBound
      var count = 0
      while position < range.upperBound {
        var byte = source.byte(position)
        position += 1
        if byte == 0x2B {
          byte = 0x20
        } else if byte == 0x25 {
          guard position + 2 <= range.upperBound,
            let high = PercentEncoding.value(source.byte(position)),
            let low = PercentEncoding.value(source.byte(position + 1))
          else { return nil }
          byte = high << 4 | low
          position += 2
        }
        target.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
      }
      return count
    }
    guard let count else { throw .badEscape }
    value.truncate(to: count)
    return value
  }
}
