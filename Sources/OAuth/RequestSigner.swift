internal import Encoding
package import Sodium

/// A signature method of OAuth 1.0a (RFC 5849 section 3.4), by value.
///
/// HMAC-SHA1 and RSA come from libcrypto, which this part does not know: whoever links it gives the
/// functions. HMAC-SHA256 and PLAINTEXT need none.
package struct RequestSigner: Sendable {
  /// The tag of a message under a key of any length.
  package typealias Authenticate =
    @Sendable (_ message: RawSpan, _ key: RawSpan) throws(OAuthError) -> [UInt8]

  /// A function of a message alone: a signature by a key that the closure holds, or a hash.
  package typealias Sign = @Sendable (_ message: RawSpan) throws(OAuthError) -> [UInt8]

  /// What `oauth_signature_method` says.
  package let name: String

  private let method: Method

  /// The hash for `oauth_body_hash`, the signature method's own; nil where there is none.
  let bodyHash: Sign?

  private enum Method: Sendable {
    case mac(Authenticate)
    case privateKey(Sign)
    case plaintext
  }

  /// A method whose key is the two secrets (section 3.4.2).
  package static func mac(
    _ name: String, bodyHash: Sign? = nil, _ authenticate: @escaping Authenticate
  ) -> RequestSigner {
    RequestSigner(name: name, method: .mac(authenticate), bodyHash: bodyHash)
  }

  /// A method whose key is the client's own, and in which the secrets play no part (section 3.4.3).
  package static func privateKey(
    _ name: String, bodyHash: Sign? = nil, _ sign: @escaping Sign
  ) -> RequestSigner {
    RequestSigner(name: name, method: .privateKey(sign), bodyHash: bodyHash)
  }

  /// The secrets themselves (section 3.4.4), over TLS or to this machine only.
  package static let plaintext = RequestSigner(name: "PLAINTEXT", method: .plaintext, bodyHash: nil)

  /// The construction of HMAC-SHA1 with another hash, by libsodium.
  package static let hmacSHA256 = mac(
    "HMAC-SHA256",
    bodyHash: { (message) throws(OAuthError) in SHA256.digest(message).bytes },
    { (message, key) throws(OAuthError) in HMACSHA256.authenticate(message, key: key).bytes })

  /// Whether a request can do without nonce and time (section 3.1).
  package var isPlaintext: Bool {
    if case .plaintext = method { true } else { false }
  }

  /// The value of `oauth_signature`, not yet encoded.
  ///
  /// - Throws: What the function given throws.
  package func signature(
    of baseString: RawSpan, clientSecret: borrowing SecretBytes, tokenSecret: RawSpan
  ) throws(OAuthError) -> SecretBytes {
    switch method {
    case .mac(let authenticate):
      let key = Self.key(clientSecret, tokenSecret)
      let tag = try key.withBytes { key throws(OAuthError) in try authenticate(baseString, key) }
      return Self.text(Base64.encode(tag))
    case .privateKey(let sign):
      return Self.text(Base64.encode(try sign(baseString)))
    case .plaintext:
      return Self.key(clientSecret, tokenSecret)
    }
  }

  /// Both secrets encoded, with the `&` that stands there even where both are empty.
  static func key(_ clientSecret: borrowing SecretBytes, _ tokenSecret: RawSpan) -> SecretBytes {
    var key = WipedBytes(capacity: 3 * (clientSecret.count + tokenSecret.byteCount) + 1)
    clientSecret.withBytes { key.append($0, .strict) }
    key.append(UInt8(ascii: "&"))
    key.append(tokenSecret, .strict)
    return key.finish()
  }

  private static func text(_ text: String) -> SecretBytes {
    var bytes = WipedBytes(capacity: text.utf8.count)
    bytes.append(text)
    return bytes.finish()
  }
}
