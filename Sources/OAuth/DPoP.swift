internal import Encoding
internal import JSON
package import Sodium
package import Time

/// Proofs that whoever uses a token has the key that it was issued to (RFC 9449).
package enum DPoP {
  /// The key of one account's tokens, by value: its private half stays with whoever made the closure.
  package struct Key: Sendable {
    package let algorithm: String
    package let publicKey: JSONWebKey
    private let signature: RequestSigner.Sign

    /// - Parameters:
    ///   - algorithm: Of JWS, asymmetric; `ES256` is what servers want.
    ///   - signature: Gives the raw signature of JWS; for ES256, 64 bytes R‖S.
    package init(
      algorithm: String = "ES256", publicKey: JSONWebKey,
      signature: @escaping RequestSigner.Sign
    ) {
      self.algorithm = algorithm
      self.publicKey = publicKey
      self.signature = signature
    }

    func sign(
      _ header: JSONValue, _ claims: JSONValue
    ) throws(OAuthError) -> String {
      try JSONWebSignature.make(header, claims, signature)
    }
  }

  /// 96 random bits: a proof's name, of use once.
  package static func newIdentifier() -> String { Base64.encodeURL(Random.bytes(12)) }

  /// base64url of the SHA-256 of an access token (section 7.1): the proof is of no use with another.
  package static func hash(of accessToken: borrowing SecretBytes) -> String {
    Base64.encodeURL(accessToken.withBytes { SHA256.digest($0) }.bytes)
  }

  /// The value of the `DPoP` header for one request. A retry takes a new one.
  ///
  /// - Parameters:
  ///   - accessToken: The hash of the token that is sent with it; nil at the token endpoint.
  ///   - nonce: The last one that this very server gave (sections 8 and 9).
  ///   - identifier: ``newIdentifier()``.
  ///   - time: The server's, as far as it is known.
  package static func proof(
    _ method: String, _ url: RequestURL, by key: Key, accessTokenHash: String? = nil,
    nonce: String? = nil, identifier: String = newIdentifier(), time: Timestamp
  ) throws(OAuthError) -> String {
    var claims: [JSONValue.Member] = [
      .init("jti", .string(identifier)), .init("htm", .string(method)),
      // Without query and fragment, in the form that the server compares (section 4.3).
      .init("htu", .string(url.base)), .init("iat", .int(time.seconds)),
    ]
    if let accessTokenHash { claims.append(.init("ath", .string(accessTokenHash))) }
    if let nonce { claims.append(.init("nonce", .string(nonce))) }
    let header: JSONValue = .object([
      .init("typ", "dpop+jwt"), .init("alg", .string(key.algorithm)),
      .init("jwk", key.publicKey.value),
    ])
    return try key.sign(header, .object(claims))
  }

  /// Takes a proof apart and checks its form (section 4.3, points 2 to 7) and its signature.
  ///
  /// - Parameter verify: Whether the key made the signature; it knows the algorithm by the key.
  /// - Throws: ``OAuthError/badAnswer(_:)``.
  package static func verify(
    _ proof: String,
    _ verify: (_ key: JSONWebKey, _ signature: [UInt8], _ message: [UInt8]) -> Bool
  ) throws(OAuthError) -> (proof: JSONWebSignature, key: JSONWebKey) {
    let jws = try JSONWebSignature(proof)
    guard jws.header("typ") == "dpop+jwt" else { throw .badAnswer("no DPoP proof") }
    guard jws.header("alg") == "ES256" else { throw .badAnswer("not ES256") }
    guard let value = jws.header["jwk"], let key = try? JSONWebKey(value),
      key.member("kty") == "EC", key.member("crv") == "P-256"
    else { throw .badAnswer("no public key of P-256") }
    for name in ["jti", "htm", "htu"] where jws.claim(name)?.isEmpty ?? true {
      throw .badAnswer("no " + name)
    }
    guard jws.number("iat") != nil else { throw .badAnswer("no iat") }
    guard verify(key, jws.signature, jws.signed) else { throw .badAnswer("a wrong signature") }
    return (jws, key)
  }
}
