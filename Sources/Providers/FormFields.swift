import Encoding
import Sodium

/// A form-encoded reply (`application/x-www-form-urlencoded`), whose values may be secrets.
struct FormFields: ~Copyable {
  /// The whole body, wiped with the value.
  private let body: SecretBytes
  private let fields: [(name: String, value: Range<Int>)]

  /// Nil where `body` has not the shape of a form: `name=value` pairs joined by `&`.
  ///
  /// Values may hold any byte here: whether a token's are usable is decided where it is read, so that
  /// a newline in one is refused as such and not passed over.
  init?(_ body: RawSpan) {
    var end = body.byteCount
    while end > 0, [0x0A, 0x0D, 0x20].contains(body.byte(end - 1)) { end -= 1 }
    var fields: [(name: String, value: Range<Int>)] = []
    var position = 0
    while position < end, fields.count < 256 {
      var name: [UInt8] = []
      while position < end, Self.isNameByte(body.byte(position)) {
        name.append(body.byte(position))
        position += 1
      }
      guard !name.isEmpty, name.count <= 128, position < end,
        body.byte(position) == UInt8(ascii: "=")
      else { return nil }
      position += 1
      let start = position
      while position < end, body.byte(position) != UInt8(ascii: "&") { position += 1 }
      fields.append((String(decoding: name, as: UTF8.self), start..<position))
      position += 1
    }
    guard !fields.isEmpty, position >= end else { return nil }
    self.fields = fields
    self.body = SecretBytes(copying: body)
  }

  var names: [String] { fields.map(\.name) }

  func count(of name: String) -> Int { fields.count { $0.name == name } }

  /// The decoded value of the first field of that name; nil where there is none or its escapes are
  /// wrong: `+` is a space, `%` is followed by two hexadecimal digits.
  func secret(_ name: String) -> SecretBytes? {
    guard let range = fields.first(where: { $0.name == name })?.value else { return nil }
    var value = SecretBytes(count: range.count)
    let count = body.withBytes { source in
      value.withMutableBytes { target in Self.decode(source, range, into: &target) }
    }
    guard let count else { return nil }
    value.truncate(to: count)
    return value
  }

  func text(_ name: String) -> String? {
    guard let secret = secret(name) else { return nil }
    return secret.withBytes { bytes in bytes.text }
  }

  private static func decode(
    _ source: RawSpan, _ range: Range<Int>, into target: inout MutableRawSpan
  ) -> Int? {
    var position = range.lowerBound
    var count = 0
    while position < range.upperBound {
      var byte = source.byte(position)
      position += 1
      if byte == UInt8(ascii: "+") {
        byte = 0x20
      } else if byte == UInt8(ascii: "%") {
        guard position + 2 <= range.upperBound, let high = hex(source.byte(position)),
          let low = hex(source.byte(position + 1))
        else { return nil }
        byte = high << 4 | low
        position += 2
      }
      target.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
      count += 1
    }
    return count
  }

  private static func hex(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: Array("_-.[]".utf8).contains(byte)
    }
  }
}

extension RawSpan {
  /// The bytes as text; nil where they are not UTF-8.
  var text: String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    for offset in 0..<byteCount { bytes.append(byte(offset)) }
    return String(validating: bytes, as: UTF8.self)
  }
}
