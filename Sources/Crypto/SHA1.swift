internal import CCrypto

/// SHA-1 (FIPS 180-4), where OAuth 1.0a asks for it. Collisions can be made, so it is never used for
/// anything of the vault's own.
package enum SHA1 {
  /// Twenty bytes.
  package static func digest(_ data: RawSpan) throws(CryptoError) -> [UInt8] {
    var status: Int32 = 0
    let digest = unsafe [UInt8](unsafeUninitializedCapacity: 20) { output, filled in
      // The array owns the 20 bytes that are written.
      status = unsafe data.lend { start, count in
        unsafe EVP_Digest(start, count, output.baseAddress, nil, EVP_sha1(), nil)
      }
      filled = status == 1 ? 20 : 0
    }
    guard status == 1 else {
      ERR_clear_error()
      throw .unavailable("SHA-1")
    }
    return digest
  }
}
