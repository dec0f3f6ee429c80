internal import CSodium
package import Encoding

/// BLAKE2b with a secret key (RFC 7693): a MAC, and a name for a row that says nothing without the
/// key. Secure against extension, unlike a plain hash with the key in front.
///
/// The state holds the key until the first full block, so it lies in secret memory and is wiped
/// when the value ends, finished or not.
package struct KeyedHash: ~Copyable {
  /// libsodium's `crypto_generichash_state`, which Swift sees as an address alone.
  private let memory: SecretBytes
  private var state: OpaquePointer { unsafe OpaquePointer(memory.start) }
  private let outputCount: Int

  /// - Precondition: `key` has 16 to 64 bytes, and `outputCount` is 16 or 32. A hash of 16 bytes is
  ///   not the start of one of 32.
  package init(key: borrowing SecretBytes, outputCount: Int = 32) {
    precondition(outputCount == 16 || outputCount == 32, "a hash has 16 or 32 bytes")
    Self.check(key)
    self.outputCount = outputCount
    memory = SecretBytes(count: crypto_generichash_statebytes())
    // A multiple of 64 bytes at the end of a page or in a cell of 1024: aligned to 64 as C asks.
    unsafe precondition(Int(bitPattern: memory.start) % 64 == 0)
    let status = unsafe crypto_generichash_init(
      state, key.start.assumingMemoryBound(to: UInt8.self), key.count, outputCount)
    precondition(status == 0, "hashing cannot fail")
  }

  /// Hashes `data` after what came before. Parts are not told apart: where their borders matter,
  /// write lengths.
  package mutating func update(_ data: RawSpan) {
    let status = unsafe data.lend {
      unsafe crypto_generichash_update(state, $0, UInt64($1))
    }
    precondition(status == 0, "hashing cannot fail")
  }

  package mutating func update(_ data: [UInt8]) {
    unsafe update(data.span.bytes)
  }

  /// - Precondition: Made with an `outputCount` of 16.
  package consuming func finish16() -> Key16 {
    precondition(outputCount == 16, "made for a hash of 32 bytes")
    return unsafe Output.key16 { output in
      let status = unsafe crypto_generichash_final(state, output, 16)
      precondition(status == 0, "hashing cannot fail")
    }
  }

  /// - Precondition: Made with an `outputCount` of 32.
  package consuming func finish32() -> Digest32 {
    precondition(outputCount == 32, "made for a hash of 16 bytes")
    return unsafe Output.digest32 { output in
      let status = unsafe crypto_generichash_final(state, output, 32)
      precondition(status == 0, "hashing cannot fail")
    }
  }

  /// The hash of `data` at once, without allocating.
  ///
  /// - Precondition: `key` has 16 to 64 bytes.
  package static func digest16(_ data: RawSpan, key: borrowing SecretBytes) -> Key16 {
    check(key)
    return unsafe Output.key16 { unsafe hash(data, key, to: $0, 16) }
  }

  package static func digest16(_ data: [UInt8], key: borrowing SecretBytes) -> Key16 {
    unsafe digest16(data.span.bytes, key: key)
  }

  /// The hash of `data` at once, without allocating.
  ///
  /// - Precondition: `key` has 16 to 64 bytes.
  package static func digest32(_ data: RawSpan, key: borrowing SecretBytes) -> Digest32 {
    check(key)
    return unsafe Output.digest32 { unsafe hash(data, key, to: $0, 32) }
  }

  package static func digest32(_ data: [UInt8], key: borrowing SecretBytes) -> Digest32 {
    unsafe digest32(data.span.bytes, key: key)
  }

  /// The hash of three parts in a row, without allocating. Where their borders matter, the first says
  /// where they are.
  ///
  /// - Precondition: `key` has 16 to 64 bytes.
  package static func digest16(
    _ first: RawSpan, _ second: RawSpan, _ third: RawSpan, key: borrowing SecretBytes
  ) -> Key16 {
    check(key)
    let size = crypto_generichash_statebytes()
    return unsafe Output.key16 { output in
      // On the stack, ours until the closure ends, aligned as C asks; it holds the key for a while,
      // so it is wiped.
      unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 64) { memory in
        let start = memory.baseAddress!
        let state = OpaquePointer(start)
        var status = unsafe crypto_generichash_init(
          state, key.start.assumingMemoryBound(to: UInt8.self), key.count, 16)
        status |= unsafe first.lend { unsafe crypto_generichash_update(state, $0, UInt64($1)) }
        status |= unsafe second.lend { unsafe crypto_generichash_update(state, $0, UInt64($1)) }
        status |= unsafe third.lend { unsafe crypto_generichash_update(state, $0, UInt64($1)) }
        status |= unsafe crypto_generichash_final(state, output, 16)
        precondition(status == 0, "hashing cannot fail")
        unsafe sodium_memzero(start, size)
      }
    }
  }

  /// An empty key would make the hash one that anybody can compute, so it is refused.
  private static func check(_ key: borrowing SecretBytes) {
    precondition((16...64).contains(key.count), "a key has 16 to 64 bytes")
  }

  private static func hash(
    _ data: RawSpan, _ key: borrowing SecretBytes, to output: UnsafeMutablePointer<UInt8>,
    _ outputCount: Int
  ) {
    let status = unsafe data.lend {
      unsafe crypto_generichash(
        output, outputCount, $0, UInt64($1), key.start.assumingMemoryBound(to: UInt8.self),
        key.count)
    }
    precondition(status == 0, "hashing cannot fail")
  }
}
