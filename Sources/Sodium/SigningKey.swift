internal import CSodium

/// An Ed25519 key that signs (RFC 8032). ``Ed25519`` verifies.
package struct SigningKey: ~Copyable, Sendable {
  /// Seed and public key, as libsodium keeps them.
  private let secretKey: SecretBytes

  /// Thirty-two bytes, for everybody to know.
  package let publicKey: [UInt8]

  /// The key that `seed` stands for; always the same one.
  ///
  /// - Precondition: `seed` has 32 bytes.
  package init(seed: borrowing SecretBytes) {
    precondition(seed.count == 32, "a seed has 32 bytes")
    let secretKey = SecretBytes(guardedCount: 64)
    publicKey = unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, filled in
      let status = unsafe crypto_sign_seed_keypair(
        buffer.baseAddress!, secretKey.start.assumingMemoryBound(to: UInt8.self),
        seed.start.assumingMemoryBound(to: UInt8.self))
      precondition(status == 0, "making a key pair cannot fail")
      filled = 32
    }
    self.secretKey = secretKey
  }

  /// A new random key.
  package static func generate() -> SigningKey {
    SigningKey(seed: SecretBytes.random(count: 32))
  }

  /// What to keep: the key can be made from it again.
  package var seed: SecretBytes {
    secretKey.withBytes { SecretBytes(copying: $0.extracting(0..<32)) }
  }

  /// The signature of `message`: 64 bytes, always the same for the same message.
  package borrowing func sign(_ message: RawSpan) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, filled in
      let status = unsafe message.lend { start, count in
        unsafe crypto_sign_detached(
          buffer.baseAddress!, nil, start, UInt64(count),
          secretKey.start.assumingMemoryBound(to: UInt8.self))
      }
      precondition(status == 0, "signing cannot fail")
      filled = 64
    }
  }

  package borrowing func sign(_ message: [UInt8]) -> [UInt8] {
    unsafe sign(message.span.bytes)
  }
}
