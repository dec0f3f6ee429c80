internal import CCrypto
internal import Sodium

/// A private key in libcrypto's hands, which wipes its numbers when it is freed.
@safe struct PrivateKey: ~Copyable, @unchecked Sendable {
  /// Owned. Never null, never altered after it was made, so threads may share it.
  let pointer: OpaquePointer

  /// Takes over a key that is the caller's own.
  init(owning pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  /// Reads PKCS#8 or the older form of one algorithm, in PEM. A PEM under a passphrase is
  /// unreadable: libcrypto would otherwise ask for it at the terminal.
  init(pem: borrowing SecretBytes) throws(CryptoError) {
    let key = unsafe pem.withBytes { pem in
      unsafe pem.lend { start, count -> OpaquePointer? in
        // The BIO reads our memory where it lies, within this call.
        guard let source = unsafe BIO_new_mem_buf(start, Int32(clamping: count)) else { return nil }
        defer { unsafe BIO_free(source) }
        return unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
      }
    }
    guard let key = unsafe key else {
      ERR_clear_error()
      throw .unreadableKey
    }
    unsafe pointer = key
  }

  deinit {
    unsafe EVP_PKEY_free(pointer)
  }

  func isA(_ algorithm: String) -> Bool {
    unsafe EVP_PKEY_is_a(pointer, algorithm) == 1
  }

  /// The signature of `message` under `digest`, as libcrypto encodes it for this kind of key.
  func sign(_ message: RawSpan, _ digest: String) throws(CryptoError) -> [UInt8] {
    let signature = unsafe Self.sign(message, digest, pointer)
    guard let signature else {
      ERR_clear_error()
      throw .cannotSign
    }
    return signature
  }

  private static func sign(
    _ message: RawSpan, _ digest: String, _ key: OpaquePointer
  ) -> [UInt8]? {
    guard let context = unsafe EVP_MD_CTX_new() else { return nil }
    // Wipes what it holds.
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestSignInit_ex(context, nil, digest, nil, nil, key, nil) == 1 else {
      return nil
    }
    let room = Int(unsafe EVP_PKEY_get_size(key))
    var status: Int32 = 0
    let signature = unsafe [UInt8](unsafeUninitializedCapacity: room) { output, filled in
      var count = output.count
      status = unsafe message.lend { start, length in
        unsafe EVP_DigestSign(context, output.baseAddress, &count, start, length)
      }
      filled = status == 1 ? count : 0
    }
    return status == 1 ? signature : nil
  }
}
