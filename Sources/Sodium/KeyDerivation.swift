internal import CSodium

/// What a subkey is for, in the eight bytes that `crypto_kdf` takes.
package struct KeyContext: Hashable, Sendable {
  fileprivate let bytes: UInt64

  /// - Precondition: Exactly eight ASCII characters. C would read past the end of a shorter text,
  ///   and the key would then depend on whatever lies there.
  package init(_ eightBytes: StaticString) {
    precondition(
      eightBytes.hasPointerRepresentation && eightBytes.isASCII
        && eightBytes.utf8CodeUnitCount == 8, "a context has eight ASCII characters")
    // The literal lives as long as the process; its length was just checked.
    bytes = unsafe UnsafeRawPointer(eightBytes.utf8Start).loadUnaligned(as: UInt64.self)
  }
}

/// Subkeys of one key (libsodium's `crypto_kdf`: BLAKE2b with the number as salt and the context as
/// person). A subkey tells nothing about its key or about another subkey.
package enum KeyDerivation {
  /// Subkey number `id` for `context`: 32 bytes in pages of their own.
  ///
  /// - Precondition: `key` has 32 bytes.
  package static func subkey(
    _ id: UInt64, _ context: KeyContext, from key: borrowing SecretBytes
  ) -> SecretBytes {
    precondition(key.count == 32, "a key has 32 bytes")
    let subkey = SecretBytes(guardedCount: 32)
    var context = context.bytes
    let status = unsafe withUnsafeBytes(of: &context) { context in
      unsafe context.withMemoryRebound(to: CChar.self) { context in
        unsafe crypto_kdf_derive_from_key(
          subkey.start.assumingMemoryBound(to: UInt8.self), subkey.count, id,
          context.baseAddress!, key.start.assumingMemoryBound(to: UInt8.self))
      }
    }
    precondition(status == 0, "deriving a subkey cannot fail")
    return subkey
  }
}
