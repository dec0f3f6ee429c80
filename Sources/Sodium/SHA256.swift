internal import CSodium
package import Encoding

/// SHA-256 (FIPS 180-4), where a standard asks for it: the ledger's tree, PKCE. Open to extension,
/// so never a MAC: ``HMACSHA256`` and ``KeyedHash`` are.
package enum SHA256 {
  package static func digest(_ data: RawSpan) -> Digest32 {
    unsafe Output.digest32 { output in
      let status = unsafe data.lend { unsafe crypto_hash_sha256(output, $0, UInt64($1)) }
      precondition(status == 0, "hashing cannot fail")
    }
  }

  package static func digest(_ data: [UInt8]) -> Digest32 {
    unsafe digest(data.span.bytes)
  }

  /// The digest of the three parts in a row. Where their borders matter, write lengths.
  package static func digest(_ first: RawSpan, _ second: RawSpan, _ third: RawSpan) -> Digest32 {
    var state = crypto_hash_sha256_state()
    return unsafe Output.digest32 { output in
      var status = unsafe crypto_hash_sha256_init(&state)
      status |= unsafe first.lend { unsafe crypto_hash_sha256_update(&state, $0, UInt64($1)) }
      status |= unsafe second.lend { unsafe crypto_hash_sha256_update(&state, $0, UInt64($1)) }
      status |= unsafe third.lend { unsafe crypto_hash_sha256_update(&state, $0, UInt64($1)) }
      status |= unsafe crypto_hash_sha256_final(&state, output)
      precondition(status == 0, "hashing cannot fail")
    }
  }

  /// The digest of one byte and data, as for a leaf of the ledger's tree (RFC 6962 section 2.1).
  package static func digest(_ prefix: UInt8, _ data: RawSpan) -> Digest32 {
    let prefix: InlineArray<1, UInt8> = [prefix]
    let nothing: InlineArray<0, UInt8> = []
    return unsafe digest(prefix.span.bytes, data, nothing.span.bytes)
  }

  /// The digest of one byte and two digests, as for a node of the ledger's tree (RFC 6962 section
  /// 2.1).
  package static func digest(_ prefix: UInt8, _ left: Digest32, _ right: Digest32) -> Digest32 {
    var input = InlineArray<65, UInt8>(repeating: prefix)
    // 65 bytes of our own on the stack: one, and two times 32.
    unsafe withUnsafeMutableBytes(of: &input) { input in
      let start = unsafe input.baseAddress! + 1
      left.withBytes { unsafe $0.lend { unsafe start.copyMemory(from: $0, byteCount: $1) } }
      right.withBytes {
        unsafe $0.lend { unsafe (start + 32).copyMemory(from: $0, byteCount: $1) }
      }
    }
    return unsafe digest(input.span.bytes)
  }
}
