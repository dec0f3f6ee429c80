internal import CSodium

/// Base64 (RFC 4648), in times that do not depend on what is encoded.
///
/// Decoding takes exactly what encoding writes: padding as required or none at all, no white space,
/// no bits left over in the last character. A second spelling of a signature or of a key would be
/// a second value to whoever compares texts.
package enum Base64 {
  /// The standard alphabet (section 4), padded.
  package static func encode(_ bytes: [UInt8]) -> String {
    encode(bytes, sodium_base64_VARIANT_ORIGINAL)
  }

  /// The alphabet for URLs (section 5), without padding, as JOSE and PKCE take it.
  package static func encodeURL(_ bytes: [UInt8]) -> String {
    encode(bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
  }

  /// Nil unless `text` is what ``encode(_:)`` writes.
  package static func decode(_ text: String) -> [UInt8]? {
    decode(text, sodium_base64_VARIANT_ORIGINAL)
  }

  /// Nil unless `text` is what ``encodeURL(_:)`` writes.
  package static func decodeURL(_ text: String) -> [UInt8]? {
    decode(text, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
  }

  private static func encode(_ bytes: [UInt8], _ variant: Int32) -> String {
    // With the zero byte that ends a C string.
    let count = sodium_base64_encoded_len(bytes.count, variant)
    return unsafe String(unsafeUninitializedCapacity: count) { buffer in
      unsafe bytes.span.bytes.lend { start, count in
        unsafe buffer.withMemoryRebound(to: CChar.self) { text in
          _ = unsafe sodium_bin2base64(text.baseAddress!, text.count, start, count, variant)
        }
      }
      return count - 1
    }
  }

  private static func decode(_ text: String, _ variant: Int32) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard !characters.isEmpty else { return [] }
    var filled = 0
    var status: Int32 = -1
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: characters.count) { buffer, count in
      unsafe characters.withUnsafeBytes { characters in
        unsafe characters.withMemoryRebound(to: CChar.self) { text in
          // Without an address for the end, anything left over is an error.
          unsafe status = sodium_base642bin(
            buffer.baseAddress!, buffer.count, text.baseAddress, text.count, nil, &filled, nil,
            variant)
        }
      }
      count = status == 0 ? filled : 0
    }
    return status == 0 ? bytes : nil
  }
}
