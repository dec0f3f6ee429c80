internal import CCrypto

/// ECDSA on P-256 with SHA-256: `ES256` of JWS (RFC 7518 section 3.4), for DPoP proofs and client
/// assertions.
///
/// A signature here is the 64 bytes R‖S of JWS, each number with its leading zeros. libcrypto's own
/// form is DER, where they are left out.
package enum P256 {
  /// Bytes of a signature, and of a point without its first byte.
  package static let signatureCount = 64

  /// Bytes of a private scalar and of a coordinate.
  package static let scalarCount = 32

  /// R‖S of a DER signature; nil for what is none.
  static func raw(_ der: [UInt8]) -> [UInt8]? {
    let pair = unsafe der.withUnsafeBufferPointer { der -> OpaquePointer? in
      var start = der.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &start, der.count)
    }
    guard let pair = unsafe pair else { return nil }
    defer { unsafe ECDSA_SIG_free(pair) }
    // Both belong to the pair.
    let r = unsafe ECDSA_SIG_get0_r(pair)
    let s = unsafe ECDSA_SIG_get0_s(pair)
    var written: Int32 = 0
    let raw = unsafe [UInt8](unsafeUninitializedCapacity: signatureCount) { output, filled in
      // Exactly 32 bytes each, zeros in front; -1 where a number is longer.
      written = unsafe BN_bn2binpad(r, output.baseAddress, Int32(scalarCount))
      if written == scalarCount {
        written += unsafe BN_bn2binpad(s, output.baseAddress! + scalarCount, Int32(scalarCount))
      }
      filled = written == signatureCount ? signatureCount : 0
    }
    return written == signatureCount ? raw : nil
  }

  /// DER of R‖S; nil unless there are 64 bytes.
  static func der(_ raw: [UInt8]) -> [UInt8]? {
    guard raw.count == signatureCount else { return nil }
    return unsafe raw.withUnsafeBufferPointer { raw -> [UInt8]? in
      let r = unsafe BN_bin2bn(raw.baseAddress, Int32(scalarCount), nil)
      let s = unsafe BN_bin2bn(raw.baseAddress! + scalarCount, Int32(scalarCount), nil)
      guard let pair = unsafe ECDSA_SIG_new(), unsafe ECDSA_SIG_set0(pair, r, s) == 1 else {
        unsafe BN_free(r)
        unsafe BN_free(s)
        return nil
      }
      // Both numbers now belong to the pair.
      defer { unsafe ECDSA_SIG_free(pair) }
      let room = unsafe i2d_ECDSA_SIG(pair, nil)
      guard room > 0 else { return nil }
      return unsafe [UInt8](unsafeUninitializedCapacity: Int(room)) { output, filled in
        var start = output.baseAddress
        filled = max(0, Int(unsafe i2d_ECDSA_SIG(pair, &start)))
      }
    }
  }
}
