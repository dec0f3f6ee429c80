internal import Encoding
internal import Sodium

/// base64url without padding (RFC 4648 section 5) of bytes that are or become secrets, so that they
/// are never a `String`.
enum Base64URL {
  /// The character of six bits, by arithmetic: a table's place in the cache would tell the bits.
  @inline(__always)
  private static func character(_ bits: UInt8) -> UInt8 {
    let value = Int16(bits)
    // Each term is added from its first value on: A–Z, a–z, 0–9, `-`, `_`.
    var character = value + 65
    character += ((25 - value) >> 8) & 6
    character -= ((51 - value) >> 8) & 75
    character -= ((61 - value) >> 8) & 13
    character += ((62 - value) >> 8) & 49
    return UInt8(truncatingIfNeeded: character)
  }

  static func encode(_ bytes: RawSpan) -> SecretBytes {
    var text = WipedBytes(capacity: (bytes.byteCount * 4 + 2) / 3)
    var pending: UInt32 = 0
    var bits: UInt32 = 0
    for offset in 0..<bytes.byteCount {
      pending = pending << 8 | UInt32(bytes.byte(offset))
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(character(UInt8(pending >> bits & 63)))
      }
    }
    if bits > 0 { text.append(character(UInt8(pending << (6 - bits) & 63))) }
    return text.finish()
  }
}

extension Base64URL {
  /// The standard alphabet with padding (section 4), as Basic authentication takes it.
  static func encodeStandard(_ bytes: RawSpan, to text: inout WipedBytes) {
    let encoded = encode(bytes)
    encoded.withBytes { encoded in
      for offset in 0..<encoded.byteCount {
        switch encoded.byte(offset) {
        case UInt8(ascii: "-"): text.append(UInt8(ascii: "+"))
        case UInt8(ascii: "_"): text.append(UInt8(ascii: "/"))
        case let byte: text.append(byte)
        }
      }
      for _ in 0..<(4 - encoded.byteCount % 4) % 4 { text.append(UInt8(ascii: "=")) }
    }
  }
}
