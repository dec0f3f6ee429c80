internal import CSodium

/// How a passphrase becomes a key: Argon2id version 1.3 (RFC 9106) with one lane. The algorithm is
/// named, never libsodium's default, which may change.
///
/// The parameters lie in the open next to what they protect, where anybody can write them: they are
/// checked before memory is taken, so a changed file cannot make the vault eat all of it, nor lower
/// the cost of guessing below the floor.
package struct PasswordHash: Equatable, Sendable {
  /// Passes over the memory, 1 to 10.
  package var operations: UInt32
  /// 8 MiB to 1 GiB, a whole number of KiB.
  package var memoryBytes: UInt64
  /// Sixteen bytes, random for each passphrase: so no guess is tried against two vaults at once.
  package var salt: [UInt8]

  package init(operations: UInt32, memoryBytes: UInt64, salt: [UInt8]) {
    self.operations = operations
    self.memoryBytes = memoryBytes
    self.salt = salt
  }

  /// With a new salt.
  package init(operations: UInt32, memoryBytes: UInt64) {
    self.init(operations: operations, memoryBytes: memoryBytes, salt: Random.bytes(16))
  }

  /// Accepts or refuses the parameters without using them.
  ///
  /// - Parameter allowExpensive: Accepts more than 10 passes and more than 1 GiB, up to what
  ///   Argon2id itself can do. Only for an owner who asked for it.
  /// - Throws: ``SodiumError/tooExpensive(memoryBytes:)`` above the bounds,
  ///   ``SodiumError/badParameters`` below them and for a salt of another length.
  package func check(allowExpensive: Bool) throws(SodiumError) {
    guard salt.count == 16, operations >= 1, memoryBytes >= 8 << 20 else {
      throw .badParameters
    }
    guard allowExpensive || (operations <= 10 && memoryBytes <= 1 << 30) else {
      throw .tooExpensive(memoryBytes: memoryBytes)
    }
    // Argon2 counts in KiB: a remainder would be dropped, and would be a second form of the same.
    guard memoryBytes % 1024 == 0, memoryBytes <= UInt64(crypto_pwhash_memlimit_max()) else {
      throw .badParameters
    }
  }

  /// The key of `passphrase`: 32 bytes in pages of their own. Any passphrase gives one.
  ///
  /// - Throws: What ``check(allowExpensive:)`` throws, and
  ///   ``SodiumError/outOfMemory(memoryBytes:)`` where the system does not give the memory.
  package func derive(
    _ passphrase: borrowing SecretBytes, allowExpensive: Bool = false
  ) throws(SodiumError) -> SecretBytes {
    try check(allowExpensive: allowExpensive)
    let key = SecretBytes(guardedCount: 32)
    let status = unsafe salt.withUnsafeBufferPointer { salt in
      unsafe crypto_pwhash(
        key.start.assumingMemoryBound(to: UInt8.self), UInt64(key.count),
        passphrase.start.assumingMemoryBound(to: CChar.self), UInt64(passphrase.count),
        salt.baseAddress!, UInt64(operations), Int(memoryBytes), crypto_pwhash_ALG_ARGON2ID13)
    }
    // The parameters were found good, so only memory can have been missing.
    guard status == 0 else { throw .outOfMemory(memoryBytes: memoryBytes) }
    return key
  }
}
