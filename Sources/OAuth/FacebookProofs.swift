internal import Encoding
package import JSON
package import Sodium

/// Facebook's two uses of HMAC-SHA256 under the app's secret.
package enum FacebookProofs {
  /// `appsecret_proof` of a request: that whoever sends the token has the app's secret too.
  /// Hexadecimal in lower case.
  package static func appSecretProof(
    of accessToken: borrowing SecretBytes, _ appSecret: borrowing SecretBytes
  ) -> String {
    let tag = appSecret.withBytes { key in
      accessToken.withBytes { HMACSHA256.authenticate($0, key: key) }
    }
    return Hex.encode(tag.bytes)
  }

  /// The payload of a `signed_request`: base64url of a tag, a dot, base64url of JSON.
  ///
  /// The tag is compared in constant time, and the payload is read only once it holds.
  ///
  /// - Throws: ``OAuthError/badAnswer(_:)``.
  package static func payload(
    ofSignedRequest text: String, _ appSecret: borrowing SecretBytes
  ) throws(OAuthError) -> JSONValue {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let tag = Base64.decodeURL(parts[0]),
      let payload = Base64.decodeURL(parts[1])
    else { throw .badAnswer("no signed request") }
    let expected = HMACSHA256.authenticate(Array(parts[1].utf8), key: appSecret)
    let isRight = tag.withBytes { tag in
      expected.withBytes { expected in
        SecretBytes(copying: tag).isEqual(to: SecretBytes(copying: expected))
      }
    }
    guard isRight else { throw .badAnswer("a wrong signature") }
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue.parse(payload) } catch {
      throw .badAnswer("no JSON in a signed request")
    }
    guard case .string(let algorithm) = value["algorithm"],
      algorithm.uppercased() == "HMAC-SHA256"
    else { throw .badAnswer("another algorithm than HMAC-SHA256") }
    return value
  }
}
