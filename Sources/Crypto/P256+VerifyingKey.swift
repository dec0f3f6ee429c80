internal import CCrypto
internal import Sodium

extension P256 {
  /// A public key, as a value: a point of the curve.
  package struct VerifyingKey: Sendable, Equatable {
    /// 32 bytes.
    package let x: [UInt8]
    /// 32 bytes.
    package let y: [UInt8]

    /// Checks that the point lies on the curve: one that does not would give a key's bits away to
    /// whoever chose it.
    ///
    /// - Throws: ``CryptoError/wrongKey(expected:)``.
    package init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
      guard x.count == P256.scalarCount, y.count == P256.scalarCount else {
        throw .wrongKey(expected: "P-256")
      }
      try self.init(point: [4] + x + y)
    }

    /// - Parameter point: Uncompressed, 65 bytes.
    init(point: [UInt8]) throws(CryptoError) {
      guard point.count == P256.pointCount,
        let key = unsafe P256.key(CCRYPTO_PUBLIC_KEY, point, nil)
      else {
        ERR_clear_error()
        throw .wrongKey(expected: "P-256")
      }
      unsafe EVP_PKEY_free(key)
      x = Array(point[1..<33])
      y = Array(point[33..<65])
    }

    /// The key as a JSON Web Key (RFC 7517), of the members that RFC 7638 requires and in its order:
    /// its SHA-256 is the key's thumbprint.
    package var jwk: String {
      "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(Base64.encodeURL(x))\",\"y\":\"\(Base64.encodeURL(y))\"}"
    }

    /// Whether `signature` is the 64 bytes R‖S that the key's owner made of `message`.
    package func verify(_ signature: [UInt8], _ message: RawSpan) -> Bool {
      defer { ERR_clear_error() }
      guard let der = P256.der(signature),
        let key = unsafe P256.key(CCRYPTO_PUBLIC_KEY, [4] + x + y, nil)
      else { return false }
      return unsafe PublicKey(owning: key).verify(der, message, "SHA256")
    }
  }
}
