internal import CCrypto
internal import Synchronization

/// HMAC contexts of one hash, kept from one call to the next: fetching the algorithm anew costs as
/// much as the tag itself.
///
/// A context serves one thread at a time, so there are as many as were ever needed at once. Each is
/// given another, public key before it is put back, at which libcrypto wipes its copy of the key and
/// overwrites what it derived from it.
@safe final class MACContexts: Sendable {
  private let digest: String
  private let count: Int
  private let free = Mutex(Free())

  /// Sendable since a context is used by whoever took it, alone.
  @safe private struct Free: @unchecked Sendable {
    /// Owned; kept as long as the process lives.
    var contexts: [OpaquePointer] = unsafe []
  }

  /// - Parameters:
  ///   - digest: libcrypto's name of the hash.
  ///   - count: Its length in bytes.
  init(digest: String, count: Int) {
    self.digest = digest
    self.count = count
  }

  func authenticate(_ message: RawSpan, key: RawSpan) throws(CryptoError) -> [UInt8] {
    // Owned here until it is put back.
    guard let context = unsafe take() else {
      ERR_clear_error()
      throw .unavailable("HMAC with " + digest)
    }
    var status = unsafe key.lend { unsafe EVP_MAC_init(context, $0, $1, nil) }
    status &= unsafe message.lend { unsafe EVP_MAC_update(context, $0, $1) }
    let tag = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, filled in
      // libcrypto writes no more than `output.count` bytes.
      status &= unsafe EVP_MAC_final(context, output.baseAddress, &filled, output.count)
      if status != 1 { filled = 0 }
    }
    var nobody: UInt8 = 0
    let isWiped = unsafe EVP_MAC_init(context, &nobody, 1, nil) == 1
    if isWiped {
      free.withLock { unsafe $0.contexts.append(context) }
    } else {
      unsafe EVP_MAC_CTX_free(context)
    }
    guard status == 1, tag.count == count else {
      ERR_clear_error()
      throw .unavailable("HMAC with " + digest)
    }
    return tag
  }

  private func take() -> OpaquePointer? {
    if let kept = unsafe free.withLock({ unsafe $0.contexts.popLast() }) { return unsafe kept }
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
    // A context holds a reference of its own to the algorithm.
    defer { unsafe EVP_MAC_free(algorithm) }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
    var name = digest.utf8CString
    let isSet = unsafe name.withUnsafeMutableBufferPointer { name in
      // libcrypto copies the name during the call.
      let parameters = unsafe [
        ccrypto_mac_digest(name.baseAddress),
        OSSL_PARAM_construct_end(),
      ]
      return unsafe EVP_MAC_CTX_set_params(context, parameters) == 1
    }
    guard isSet else {
      unsafe EVP_MAC_CTX_free(context)
      return nil
    }
    return unsafe context
  }
}
