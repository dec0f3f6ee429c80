internal import Encoding

/// The two ways in which OAuth writes bytes as text.
package enum PercentEncoding: Sendable {
  /// RFC 5849 section 3.6: letters, digits, `-._~` stand for themselves; upper-case hexadecimal.
  case strict
  /// RFC 6749 appendix B: letters, digits, `*-._` stand for themselves, a space is `+`.
  case form

  /// The digit of a number below 16, in upper case.
  @inline(__always)
  static func hex(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

  @inline(__always)
  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    // Bits for 0–9 below 64, for A–Z and a–z below 128.
    byte < 128
      && ((byte < 64 ? 0x03FF_0000_0000_0000 : 0x07FF_FFFE_07FF_FFFE) >> UInt64(byte & 63)) & 1 == 1
  }

  @inline(__always)
  static func isUnreserved(_ byte: UInt8) -> Bool {
    // The same and `-` and `.`, `_` and `~`.
    byte < 128
      && ((byte < 64 ? 0x03FF_6000_0000_0000 : 0x47FF_FFFE_87FF_FFFE) >> UInt64(byte & 63)) & 1 == 1
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Whether all eight bytes of a word are letters, digits or `-._`, which both encodings keep.
  @inline(__always)
  static func areKept(_ word: UInt64) -> Bool {
    let highBits = 0x80 &* ones
    guard word & highBits == 0 else { return false }
    let isKept =
      isWithin(word | 0x20 &* ones, 0x61, 0x7A) | isWithin(word, 0x30, 0x39)
      | isWithin(word, 0x2D, 0x2E) | isWithin(word, 0x5F, 0x5F)
    return isKept & highBits == highBits
  }

  /// The highest bit of each byte that lies between two bounds. No byte of `word` has it set, so no sum
  /// carries into the next byte.
  @inline(__always)
  private static func isWithin(_ word: UInt64, _ first: UInt64, _ last: UInt64) -> UInt64 {
    (word &+ (0x80 &- first) &* ones) & ~(word &+ (0x7F &- last) &* ones)
  }

  @inline(__always)
  func keeps(_ byte: UInt8) -> Bool {
    switch self {
    case .strict: Self.isUnreserved(byte)
    case .form: Self.isLetterOrDigit(byte) || [0x2A, 0x2D, 0x2E, 0x5F].contains(byte)
    }
  }

  /// The bytes that ``encode(_:)-(String)`` needs.
  func count(_ bytes: RawSpan) -> Int {
    var count = bytes.byteCount
    for offset in 0..<bytes.byteCount {
      let byte = bytes.byte(offset)
      if !keeps(byte), self == .strict || byte != 0x20 { count += 2 }
    }
    return count
  }

  /// Not for secrets: a `String` is never wiped.
  package func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if keeps(byte) {
        encoded.append(byte)
      } else if self == .form, byte == 0x20 {
        encoded.append(0x2B)
      } else {
        encoded.append(0x25)
        encoded.append(Self.hex(byte >> 4))
        encoded.append(Self.hex(byte & 15))
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The value of a hexadecimal digit in either case.
  @inline(__always)
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
