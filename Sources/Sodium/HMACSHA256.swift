internal import CSodium
package import Encoding

/// HMAC with SHA-256 (RFC 2104, RFC 4231), where a provider asks for it.
package enum HMACSHA256 {
  /// The tag of `message` under a key of any length. The inner state is wiped.
  package static func authenticate(_ message: RawSpan, key: RawSpan) -> Digest32 {
    var state = crypto_auth_hmacsha256_state()
    defer {
      // The state is a variable of this call.
      unsafe sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
    }
    return unsafe Output.digest32 { output in
      var status = unsafe key.lend { unsafe crypto_auth_hmacsha256_init(&state, $0, $1) }
      status |= unsafe message.lend {
        unsafe crypto_auth_hmacsha256_update(&state, $0, UInt64($1))
      }
      status |= unsafe crypto_auth_hmacsha256_final(&state, output)
      precondition(status == 0, "hashing cannot fail")
    }
  }

  package static func authenticate(_ message: [UInt8], key: borrowing SecretBytes) -> Digest32 {
    key.withBytes { unsafe authenticate(message.span.bytes, key: $0) }
  }
}
