import Encoding
package import Sodium

/// The code that is shown once at `init`: 256 random bits as text that can be written down.
///
/// `vrec_` and 56 characters in groups of seven. It needs no Argon2id: nobody guesses 256 bits.
package enum RecoveryCode {
  private static let form = KeyText(prefix: "vrec_", checkLabel: "vault/recovery/check/1")
  private static let prefixCount = 5
  private static let group = 7
  private static let hyphen = UInt8(ascii: "-")

  /// The text of 32 random bytes.
  package static func text(of secret: borrowing SecretBytes) -> SecretBytes {
    let plain = form.text(of: secret)
    let letters = plain.count - prefixCount
    var grouped = SecretBytes(count: plain.count + letters / group - 1)
    plain.withBytes { plain in
      grouped.withMutableBytes { grouped in
        var place = 0
        for index in 0..<plain.byteCount {
          if index > prefixCount, (index - prefixCount) % group == 0 {
            grouped.storeBytes(of: hyphen, toByteOffset: place, as: UInt8.self)
            place += 1
          }
          grouped.storeBytes(of: plain.byte(index), toByteOffset: place, as: UInt8.self)
          place += 1
        }
      }
    }
    return grouped
  }

  /// The 32 bytes of a typed code, or nil where it is not one; case, spaces and hyphens do not count.
  package static func parse(_ typed: borrowing SecretBytes) -> SecretBytes? {
    guard typed.count >= form.textCount, typed.count <= 2 * form.textCount else { return nil }
    var plain = SecretBytes(count: typed.count)
    let count = typed.withBytes { typed in
      plain.withMutableBytes { plain in
        var count = 0
        for index in 0..<typed.byteCount {
          var byte = typed.byte(index)
          if byte == hyphen || byte == UInt8(ascii: " ") { continue }
          if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) { byte |= 0x20 }
          plain.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
          count += 1
        }
        return count
      }
    }
    plain.truncate(to: count)
    do throws(KeyText.Fault) {
      return try form.key(of: plain)
    } catch {
      return nil
    }
  }
}
