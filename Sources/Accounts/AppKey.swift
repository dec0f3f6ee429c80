package import Encoding
package import Sodium

/// The key that an app shows to the agent: 32 random bytes.
///
/// As text: `vapp_`, then 56 characters of lower-case base32 over the 32 bytes and 3 check bytes.
/// The prefix lets a scanner find a key that was committed by mistake; the check tells a typing
/// error from a key that is not known. The text is handled as secret bytes, never as a `String`,
/// which nothing can wipe. The vault keeps a keyed hash alone.
package struct AppKey: ~Copyable, Sendable {
  /// Why a text is not an app's key.
  package enum Fault: Error, Equatable, Sendable {
    /// It does not look like one: other prefix, length or characters.
    case notAKey
    /// It looks like one, and the check says that a character is wrong.
    case mistyped
  }

  static let prefix = Array("vapp_".utf8)
  static let keyCount = 32
  static let checkCount = 3
  /// The prefix, and 280 bits, which are 56 characters without a rest.
  package static let textCount = 5 + 56

  /// The key, then its check.
  private let checked: SecretBytes

  /// A new key.
  package static func random() -> AppKey {
    AppKey(key: SecretBytes.random(count: keyCount))
  }

  init(key: borrowing SecretBytes) {
    var checked = SecretBytes(count: AppKey.keyCount + AppKey.checkCount)
    key.withBytes { key in
      let check = AppKey.check(of: key)
      checked.withMutableBytes { checked in
        for place in 0..<AppKey.keyCount { checked.put(key.byte(place), at: place) }
        for place in 0..<AppKey.checkCount {
          checked.put(check[place], at: AppKey.keyCount + place)
        }
      }
    }
    self.checked = checked
  }

  /// Reads the text form. Upper case, spaces and line ends are not part of it.
  ///
  /// - Throws: A ``Fault``; it never holds a part of the text.
  package init(parsing text: borrowing SecretBytes) throws(Fault) {
    guard text.count == AppKey.textCount else { throw .notAKey }
    var checked = SecretBytes(count: AppKey.keyCount + AppKey.checkCount)
    let readable = text.withBytes { text in
      checked.withMutableBytes { AppKey.decode(text, into: &$0) }
    }
    guard readable else { throw .notAKey }
    let fits = checked.withBytes { checked in
      let check = AppKey.check(of: checked.extracting(0..<AppKey.keyCount))
      return (0..<AppKey.checkCount).allSatisfy {
        checked.byte(AppKey.keyCount + $0) == check[$0]
      }
    }
    guard fits else { throw .mistyped }
    self.checked = checked
  }

  /// The text form, which is shown once.
  package borrowing func text() -> SecretBytes {
    var text = SecretBytes(count: AppKey.textCount)
    checked.withBytes { checked in
      text.withMutableBytes { text in
        for (place, character) in AppKey.prefix.enumerated() { text.put(character, at: place) }
        for group in 0..<7 {
          var bits = (0..<5).reduce(UInt64(0)) { $0 << 8 | UInt64(checked.byte(5 * group + $1)) }
          for place in (0..<8).reversed() {
            text.put(AppKey.character(UInt8(bits & 31)), at: 5 + 8 * group + place)
            bits >>= 5
          }
        }
      }
    }
    return text
  }

  /// What the vault keeps of the key. Under a key of the vault's own, so that a copy of the file
  /// does not even confirm a key that was found elsewhere.
  package borrowing func hash(under vaultKey: borrowing SecretBytes) -> Digest32 {
    checked.withBytes {
      KeyedHash.digest32($0.extracting(0..<AppKey.keyCount), key: vaultKey)
    }
  }

  /// Three bytes of BLAKE2b over the key. They give away nothing of it and are enough for typing
  /// errors: one in 16 million passes.
  private static func check(of key: RawSpan) -> [UInt8] {
    let check = Array("vault/app-key/check/1".utf8).withBytes { BLAKE2b.digest32(key, key: $0) }
    return Array(check.bytes[..<checkCount])
  }

  /// Reads prefix and base32 into 35 bytes; false where a character is out of place.
  private static func decode(_ text: RawSpan, into bytes: inout MutableRawSpan) -> Bool {
    for (place, character) in prefix.enumerated() where text.byte(place) != character {
      return false
    }
    for group in 0..<7 {
      var bits: UInt64 = 0
      for place in 0..<8 {
        guard let value = value(text.byte(5 + 8 * group + place)) else { return false }
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
