internal import CSodium
package import Encoding

/// The system's source of randomness, through libsodium. For secrets there is
/// ``SecretBytes/random(count:)``.
package enum Random {
  package static func bytes(_ count: Int) -> [UInt8] {
    Library.start()
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      if let start = buffer.baseAddress { unsafe randombytes_buf(start, count) }
      filled = count
    }
  }

  /// A name for a row that says nothing about it and that nobody foresees.
  package static func key16() -> Key16 {
    Library.start()
    return unsafe Output.key16 { unsafe randombytes_buf($0, 16) }
  }
}
