/// Base32 of RFC 4648 section 6 in lower case and without padding, as a person sees it.
package enum Base32 {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 8 + 4) / 5)
    var pending: UInt32 = 0
    var bits = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int(pending >> UInt32(bits) & 31)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(pending << UInt32(5 - bits) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of `text`, which must be as ``encode(_:)`` writes it.
  ///
  /// - Throws: ``EncodingError/notCanonical(_:)`` for upper case, padding, white space, any other
  ///   character, a length that no bytes give, or a last character with bits that are lost.
  package static func decode(_ text: String) throws(EncodingError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 5 / 8)
    var pending: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      let value: UInt8
      switch character {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a")
      case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
      default: throw .notCanonical("not a lower-case base32 character")
      }
      pending = pending << 5 | UInt32(value)
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    guard bits < 5 else { throw .notCanonical("not a length of base32") }
    guard pending & (1 << UInt32(bits) - 1) == 0 else {
      throw .notCanonical("bits are left over in base32")
    }
    return bytes
  }
}
