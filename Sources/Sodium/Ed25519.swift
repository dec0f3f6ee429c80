internal import CSodium

/// Verifies Ed25519 signatures (RFC 8032), as strictly as libsodium does: no second form of a
/// signature, no public key of small order, under which one signature would fit many messages.
package enum Ed25519 {
  /// Whether the owner of `publicKey` signed `message`. False for a signature that has not 64 bytes
  /// or a key that has not 32: C would read past their end.
  package static func verify(
    _ signature: [UInt8], _ message: RawSpan, publicKey: [UInt8]
  ) -> Bool {
    guard signature.count == 64, publicKey.count == 32 else { return false }
    return unsafe signature.withUnsafeBufferPointer { signature in
      unsafe publicKey.withUnsafeBufferPointer { publicKey in
        unsafe message.lend { start, count in
          unsafe crypto_sign_verify_detached(
            signature.baseAddress!, start, UInt64(count), publicKey.baseAddress!)
        } == 0
      }
    }
  }

  package static func verify(
    _ signature: [UInt8], _ message: [UInt8], publicKey: [UInt8]
  ) -> Bool {
    unsafe verify(signature, message.span.bytes, publicKey: publicKey)
  }
}
