package import Sodium

/// Facebook's device flow, which came before RFC 8628 and differs from it in every name.
package enum FacebookDevice {
  /// Begins.
  ///
  /// - Parameter secret: The app's secret, or its client token: with the app's id they are what
  ///   Facebook calls an app token.
  package static func begin(
    at url: RequestURL, clientID: String, secret: borrowing SecretBytes, scopes: [String]
  ) throws(OAuthError) -> CredentialRequest {
    var form = FormBody()
    form.append("access_token", appToken(clientID, secret))
    if !scopes.isEmpty { form.append("scope", try OAuth2.scope(scopes, ",")) }
    return try CredentialRequest(.post, url, form: form.finish())
  }

  /// Asks whether the person has answered.
  package static func poll(
    at url: RequestURL, clientID: String, secret: borrowing SecretBytes,
    code: borrowing SecretBytes
  ) throws(OAuthError) -> CredentialRequest {
    var form = FormBody()
    form.append("access_token", appToken(clientID, secret))
    form.append("code", code)
    return try CredentialRequest(.post, url, form: form.finish())
  }

  private static func appToken(
    _ clientID: String, _ secret: borrowing SecretBytes
  ) -> SecretBytes {
    var token = WipedBytes(capacity: clientID.utf8.count + 1 + secret.count)
    token.append(clientID)
    token.append(UInt8(ascii: "|"))
    secret.withBytes { token.append($0) }
    return token.finish()
  }
}
