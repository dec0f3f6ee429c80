internal import CCrypto

/// A public key in libcrypto's hands.
@safe struct PublicKey: ~Copyable, @unchecked Sendable {
  /// Owned. Never null, never altered after it was made, so threads may share it.
  let pointer: OpaquePointer

  /// Takes over a key that is the caller's own.
  init(owning pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  /// Reads a SubjectPublicKeyInfo in PEM.
  init(pem: RawSpan) throws(CryptoError) {
    let key = unsafe pem.lend { start, count -> OpaquePointer? in
      // The BIO reads our memory where it lies, within this call.
      guard let source = unsafe BIO_new_mem_buf(start, Int32(clamping: count)) else { return nil }
      defer { unsafe BIO_free(source) }
      return unsafe PEM_read_bio_PUBKEY(source, nil, { _, _, _, _ in -1 }, nil)
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

  /// Whether the signature holds, in the encoding that libcrypto has for this kind of key.
  func verify(_ signature: [UInt8], _ message: RawSpan, _ digest: String) -> Bool {
    guard let context = unsafe EVP_MD_CTX_new() else { return false }
    defer {
      unsafe EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard unsafe EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, pointer, nil) == 1 else {
      return false
    }
    return unsafe message.lend { start, count in
      // Anything but 1 is a refusal; errors are negative.
      unsafe EVP_DigestVerify(context, signature, signature.count, start, count) == 1
    }
  }
}
