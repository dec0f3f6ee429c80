import Encoding
package import Sodium

/// The code that is shown once at `init`: 256 random bits as text that can be written down.
///
/// `vrec_` and base32 in groups of five, with four check bytes, so that a slip of the pen is told
/// from a wrong code. It needs no Argon2id: nobody guesses 256 bits.
package enum RecoveryCode {
  private static let prefix = "vrec_"

  /// The text of 32 random bytes.
  package static func text(of secret: borrowing SecretBytes) -> String {
    let raw = secret.withBytes { bytes(of: $0) }
    let code = Base32.encode(raw + check(of: raw))
    var text = prefix
    for (offset, character) in code.enumerated() {
      if offset > 0, offset % 5 == 0 { text.append("-") }
      text.append(character)
    }
    return text
  }

  /// The 32 bytes of a typed code, or nil where it is not one; case, spaces and hyphens do not count.
  package static func parse(_ typed: borrowing SecretBytes) -> SecretBytes? {
    var text = typed.withBytes { bytes(of: $0) }
    defer {
      // Ours alone, and wiped as far as an array can be.
      for index in text.indices { text[index] = 0 }
    }
    let start = Array(prefix.utf8)
    guard text.count >= start.count, text.count < 200,
      Array(text[..<start.count]).map({ $0 | 0x20 }) == start.map({ $0 | 0x20 })
    else { return nil }
    let letters = text[start.count...].filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
    let lower = String(decoding: letters, as: UTF8.self).lowercased()
    guard var raw = try? Base32.decode(lower), raw.count == 36 else { return nil }
    let checkBytes = Array(raw[32...])
    raw.removeLast(4)
    guard check(of: raw) == checkBytes else { return nil }
    return SecretBytes(wiping: &raw)
  }

  private static func check(of raw: [UInt8]) -> [UInt8] {
    Array(BLAKE2b.digest32(raw).bytes.prefix(4))
  }
}
