internal import CCrypto
package import Sodium

/// HMAC with SHA-1 (RFC 2202), as most OAuth 1.0a servers want it. What breaks SHA-1 as a hash does
/// not break it here.
package enum HMACSHA1 {
  private static let contexts = MACContexts(digest: "SHA1", count: 20)

  /// The tag of `message`, 20 bytes, under a key of any length.
  package static func authenticate(
    _ message: RawSpan, key: RawSpan
  ) throws(CryptoError) -> [UInt8] {
    try contexts.authenticate(message, key: key)
  }

  package static func authenticate(
    _ message: RawSpan, key: borrowing SecretBytes
  ) throws(CryptoError) -> [UInt8] {
    try key.withBytes { key throws(CryptoError) in
      try contexts.authenticate(message, key: key)
    }
  }
}

/// HMAC with SHA-256 (RFC 4231) by libcrypto, three times as fast as libsodium's
/// ``Sodium/HMACSHA256``, which parts without libcrypto use.
package enum FastHMACSHA256 {
  private static let contexts = MACContexts(digest: "SHA256", count: 32)

  /// The tag of `message`, 32 bytes, under a key of any length.
  package static func authenticate(
    _ message: RawSpan, key: RawSpan
  ) throws(CryptoError) -> [UInt8] {
    try contexts.authenticate(message, key: key)
  }

  package static func authenticate(
    _ message: RawSpan, key: borrowing SecretBytes
  ) throws(CryptoError) -> [UInt8] {
    try key.withBytes { key throws(CryptoError) in
      try contexts.authenticate(message, key: key)
    }
  }
}

/// HMAC with SHA-512 (RFC 4231), for the OAuth 1.0a servers that have gone on from SHA-256.
package enum HMACSHA512 {
  private static let contexts = MACContexts(digest: "SHA512", count: 64)

  /// The tag of `message`, 64 bytes, under a key of any length.
  package static func authenticate(
    _ message: RawSpan, key: RawSpan
  ) throws(CryptoError) -> [UInt8] {
    try contexts.authenticate(message, key: key)
  }
}
