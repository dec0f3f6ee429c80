internal import CSodium
package import Encoding

/// BLAKE2b (RFC 7693) over the whole input at once. With a secret key: ``KeyedHash``.
package enum BLAKE2b {
  package static func digest32(_ data: RawSpan) -> Digest32 {
    Library.start()
    return unsafe Output.digest32 { output in
      let status = unsafe data.lend {
        unsafe crypto_generichash(output, 32, $0, UInt64($1), nil, 0)
      }
      precondition(status == 0, "hashing cannot fail")
    }
  }

  package static func digest32(_ data: [UInt8]) -> Digest32 {
    unsafe digest32(data.span.bytes)
  }

  /// - Precondition: `key` has 16 to 64 bytes.
  package static func digest32(_ data: RawSpan, key: RawSpan) -> Digest32 {
    precondition((16...64).contains(key.byteCount), "a key has 16 to 64 bytes")
    Library.start()
    return unsafe Output.digest32 { output in
      let status = unsafe data.lend { start, count in
        unsafe key.lend {
          unsafe crypto_generichash(output, 32, start, UInt64(count), $0, $1)
        }
      }
      precondition(status == 0, "hashing cannot fail")
    }
  }
}
