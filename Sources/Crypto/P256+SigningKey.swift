internal import CCrypto
package import Sodium

extension P256 {
  /// A key that signs. It stays where it was made or goes into the vault as its scalar: a lost key
  /// of DPoP is a lost grant (RFC 9449 section 5).
  package struct SigningKey: ~Copyable, Sendable {
    private let key: PrivateKey

    package let publicKey: VerifyingKey

    /// A new random key.
    ///
    /// - Throws: ``CryptoError/unavailable(_:)``.
    package static func generate() throws(CryptoError) -> SigningKey {
      guard let key = unsafe generated() else {
        ERR_clear_error()
        throw .unavailable("P-256")
      }
      return try unsafe SigningKey(PrivateKey(owning: key))
    }

    /// - Parameter pem: PKCS#8 or SEC 1, without a passphrase.
    /// - Throws: ``CryptoError/unreadableKey``, ``CryptoError/wrongKey(expected:)``.
    package init(pem: borrowing SecretBytes) throws(CryptoError) {
      self = try SigningKey(PrivateKey(pem: pem))
    }

    /// The key that ``scalar`` stands for.
    ///
    /// - Throws: ``CryptoError/unreadableKey`` unless there are 32 bytes that make a number from 1 to
    ///   the order of the curve less one.
    package init(scalar: borrowing SecretBytes) throws(CryptoError) {
      guard scalar.count == P256.scalarCount, let key = unsafe Self.key(of: scalar) else {
        ERR_clear_error()
        throw .unreadableKey
      }
      self = try unsafe SigningKey(PrivateKey(owning: key))
    }

    private init(_ key: consuming PrivateKey) throws(CryptoError) {
      guard key.isA("EC"), let point = unsafe P256.point(of: key.pointer) else {
        ERR_clear_error()
        throw .wrongKey(expected: "P-256")
      }
      publicKey = try VerifyingKey(point: point)
      self.key = key
    }

    /// What to keep: 32 bytes, big-endian.
    ///
    /// - Throws: ``CryptoError/unavailable(_:)``.
    package borrowing func scalar() throws(CryptoError) -> SecretBytes {
      // Ours, wiped when it is freed.
      var number = unsafe BN_secure_new()
      defer { unsafe BN_clear_free(number) }
      var scalar = SecretBytes(count: P256.scalarCount)
      var written: Int32 = 0
      if unsafe EVP_PKEY_get_bn_param(key.pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 {
        written = scalar.withMutableBytes { bytes in
          unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe BN_bn2binpad(
              number, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
          }
        }
      }
      guard written == P256.scalarCount else {
        ERR_clear_error()
        throw .unavailable("P-256")
      }
      return scalar
    }

    /// A signature of 64 bytes, another one every time.
    ///
    /// - Throws: ``CryptoError/cannotSign``.
    package borrowing func sign(_ message: RawSpan) throws(CryptoError) -> [UInt8] {
      guard let raw = P256.raw(try key.sign(message, "SHA256")) else {
        ERR_clear_error()
        throw .cannotSign
      }
      return raw
    }

    private static func generated() -> OpaquePointer? {
      guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
      defer { unsafe EVP_PKEY_CTX_free(context) }
      var key: OpaquePointer?
      guard unsafe EVP_PKEY_keygen_init(context) == 1,
        unsafe EVP_PKEY_CTX_set_group_name(context, P256.group) == 1,
        unsafe EVP_PKEY_generate(context, &key) == 1
      else { return nil }
      return unsafe key
    }

    /// A key pair with the public point that libcrypto computes from the scalar.
    private static func key(of scalar: borrowing SecretBytes) -> OpaquePointer? {
      // libcrypto takes the number with its last byte first.
      var reversed = SecretBytes(count: P256.scalarCount)
      scalar.withBytes { scalar in
        reversed.withMutableBytes { reversed in
          for offset in 0..<P256.scalarCount {
            let byte = unsafe scalar.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            reversed.storeBytes(
              of: byte, toByteOffset: P256.scalarCount - 1 - offset, as: UInt8.self)
          }
        }
      }
      guard let point = point(of: scalar) else { return nil }
      return unsafe reversed.withMutableBytes { number in
        unsafe number.withUnsafeMutableBytes { number in
          unsafe P256.key(
            CCRYPTO_KEY_PAIR, point,
            ccrypto_private_number(number.baseAddress, number.count))
        }
      }
    }

    /// The public point of a scalar, uncompressed; nil for nought and from the curve's order on.
    private static func point(of scalar: borrowing SecretBytes) -> [UInt8]? {
      // All of these are ours; the secret ones are wiped when they are freed.
      guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
      defer { unsafe EC_GROUP_free(group) }
      let context = unsafe BN_CTX_secure_new()
      defer { unsafe BN_CTX_free(context) }
      let number = unsafe BN_secure_new()
      defer { unsafe BN_clear_free(number) }
      let product = unsafe EC_POINT_new(group)
      defer { unsafe EC_POINT_clear_free(product) }
      let isRead = scalar.withBytes { scalar in
        unsafe scalar.lend { unsafe BN_bin2bn($0, Int32($1), number) != nil }
      }
      guard isRead, unsafe BN_is_zero(number) == 0,
        unsafe BN_cmp(number, EC_GROUP_get0_order(group)) < 0
      else { return nil }
      // Lets nobody learn the scalar from the time that the product takes.
      unsafe BN_set_flags(number, BN_FLG_CONSTTIME)
      guard unsafe EC_POINT_mul(group, product, number, nil, nil, context) == 1 else { return nil }
      return unsafe [UInt8](unsafeUninitializedCapacity: P256.pointCount) { output, filled in
        filled = unsafe EC_POINT_point2oct(
          group, product, POINT_CONVERSION_UNCOMPRESSED, output.baseAddress, output.count, context)
      }
    }
  }
}
