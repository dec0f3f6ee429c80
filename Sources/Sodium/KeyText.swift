import Encoding

/// Thirty-two random bytes as text that a person can copy: a prefix, then 56 characters of lower-case
/// base32 over the bytes and 3 check bytes.
///
/// The prefix lets a scanner find a key that was committed by mistake; the check tells a typing error
/// from a key that is not known, and gives away nothing: it is a hash of 256 random bits. The text is
/// handled as secret bytes, never as a `String`, which nothing can wipe.
package struct KeyText: Sendable {
  /// Why a text is not a key of this kind.
  package enum Fault: Error, Equatable, Sendable {
    /// It does not look like one: other prefix, length or characters.
    case notAKey
    /// It looks like one, and the check says that a character is wrong.
    case mistyped
  }

  package static let keyCount = 32
  private static let checkCount = 3
  private static let characterCount = 56

  private let prefix: [UInt8]
  private let label: [UInt8]

  /// - Parameter prefix: Five characters such as `vapp_`.
  /// - Parameter checkLabel: Keeps the checks of two kinds apart, so that one is not taken for the
  ///   other even where its prefix was changed.
  package init(prefix: StaticString, checkLabel: StaticString) {
    self.prefix = Array(prefix.description.utf8)
    label = Array(checkLabel.description.utf8)
  }

  /// The length of the text.
  package var textCount: Int { prefix.count + Self.characterCount }

  /// The text of a key.
  ///
  /// - Precondition: `key` has 32 bytes.
  package func text(of key: borrowing SecretBytes) -> SecretBytes {
    precondition(key.count == Self.keyCount, "a key has 32 bytes")
    var checked = SecretBytes(count: Self.keyCount + Self.checkCount)
    key.withBytes { key in
      let check = check(of: key)
      checked.withMutableBytes { checked in
        for place in 0..<Self.keyCount { checked.put(key.byte(place), at: place) }
        for place in 0..<Self.checkCount { checked.put(check[place], at: Self.keyCount + place) }
      }
    }
    var text = SecretBytes(count: textCount)
    checked.withBytes { checked in
      text.withMutableBytes { text in
        for (place, character) in prefix.enumerated() { text.put(character, at: place) }
        for group in 0..<7 {
          var bits = (0..<5).reduce(UInt64(0)) { $0 << 8 | UInt64(checked.byte(5 * group + $1)) }
          for place in (0..<8).reversed() {
            text.put(Self.character(UInt8(bits & 31)), at: prefix.count + 8 * group + place)
            bits >>= 5
          }
        }
      }
    }
    return text
  }

  /// Reads the text form, exactly as ``text(of:)`` writes it.
  ///
  /// - Throws: A ``Fault``; it never holds a part of the text.
  package func key(of text: borrowing SecretBytes) throws(Fault) -> SecretBytes {
    guard text.count == textCount else { throw .notAKey }
    var checked = SecretBytes(count: Self.keyCount + Self.checkCount)
    let isReadable = text.withBytes { text in
      checked.withMutableBytes { decode(text, into: &$0) }
    }
    guard isReadable else { throw .notAKey }
    let fits = checked.withBytes { checked in
      let check = check(of: checked.extracting(0..<Self.keyCount))
      return (0..<Self.checkCount).allSatisfy {
        checked.byte(Self.keyCount + $0) == check[$0]
      }
    }
    guard fits else { throw .mistyped }
    checked.truncate(to: Self.keyCount)
    return checked
  }

  private func check(of key: RawSpan) -> [UInt8] {
    // The array lives through the call.
    Array(unsafe BLAKE2b.digest32(key, key: label.span.bytes).bytes[..<Self.checkCount])
  }

  /// Reads prefix and base32 into 35 bytes; false where a character is out of place.
  private func decode(_ text: RawSpan, into bytes: inout MutableRawSpan) -> Bool {
    for (place, character) in prefix.enumerated() where text.byte(place) != character {
      return false
    }
    for group in 0..<7 {
      var bits: UInt64 = 0
      for place in 0..<8 {
        guard let value = Self.value(text.byte(prefix.count + 8 * group + place)) else {
          return false
        }
        bits = bits << 5 | UInt64(value)
      }
      for place in (0..<5).reversed() {
        bytes.put(UInt8(truncatingIfNeeded: bits), at: 5 * group + place)
        bits >>= 8
      }
    }
    return true
  }

  /// The letter or digit of five bits, computed: a table would be read at a place that depends on
  /// the key, which the cache remembers for other processes.
  private static func character(_ value: UInt8) -> UInt8 {
    let isDigit = UInt8(truncatingIfNeeded: (25 - Int(value)) >> 8)
    return UInt8(ascii: "a") + value - (73 & isDigit)
  }

  private static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
    case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
    default: nil
    }
  }
}

extension MutableRawSpan {
  fileprivate mutating func put(_ byte: UInt8, at place: Int) {
    storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
  }
}
