internal import CCrypto
package import Sodium

/// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2), for `RSA-SHA1` of OAuth 1.0a (RFC 5849 section 3.4.3),
/// its successors, and `RS256` of JWS.
package enum RSA {
  /// Shorter keys are refused. The published examples have 1024 bits.
  package static let minimumBits = 1024

  package enum Hash: String, Sendable, CaseIterable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"
  }

  /// A key that signs.
  package struct SigningKey: ~Copyable, Sendable {
    private let key: PrivateKey

    /// - Parameter pem: PKCS#8 or PKCS#1, without a passphrase.
    /// - Throws: ``CryptoError/unreadableKey``, ``CryptoError/wrongKey(expected:)``,
    ///   ``CryptoError/weakKey(bits:)``.
    package init(pem: borrowing SecretBytes) throws(CryptoError) {
      let key = try PrivateKey(pem: pem)
      guard key.isA("RSA") else { throw .wrongKey(expected: "RSA") }
      let bits = Int(unsafe EVP_PKEY_get_bits(key.pointer))
      guard bits >= RSA.minimumBits else { throw .weakKey(bits: bits) }
      self.key = key
    }

    /// The same signature every time, as long as the key's modulus.
    ///
    /// - Throws: ``CryptoError/cannotSign``, also where the system's policy forbids the hash.
    package borrowing func sign(_ message: RawSpan, _ hash: Hash) throws(CryptoError) -> [UInt8] {
      try key.sign(message, hash.rawValue)
    }

    /// The key that verifies.
    package borrowing func verifier() throws(CryptoError) -> VerifyingKey {
      // The reference that is added here is the verifier's to give up. It uses the public half.
      unsafe EVP_PKEY_up_ref(key.pointer)
      return unsafe VerifyingKey(PublicKey(owning: key.pointer))
    }
  }

  /// A key that verifies.
  package struct VerifyingKey: ~Copyable, Sendable {
    private let key: PublicKey

    fileprivate init(_ key: consuming PublicKey) { self.key = key }

    /// - Parameter pem: A SubjectPublicKeyInfo (`BEGIN PUBLIC KEY`).
    /// - Throws: As ``SigningKey`` does.
    package init(pem: RawSpan) throws(CryptoError) {
      let key = try PublicKey(pem: pem)
      guard key.isA("RSA") else { throw .wrongKey(expected: "RSA") }
      let bits = Int(unsafe EVP_PKEY_get_bits(key.pointer))
      guard bits >= RSA.minimumBits else { throw .weakKey(bits: bits) }
      self.key = key
    }

    package borrowing func verify(
      _ signature: [UInt8], _ message: RawSpan, _ hash: Hash
    ) -> Bool {
      key.verify(signature, message, hash.rawValue)
    }
  }
}
