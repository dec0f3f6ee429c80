package import Sodium

/// A client that a server hands out to whoever asks, in Mastodon's form (`POST /api/v1/apps`).
package struct AppRegistration: ~Copyable, Sendable {
  package let clientID: String
  package let clientSecret: SecretBytes?

  /// Reads the answer.
  ///
  /// - Throws: ``OAuthError/badAnswer(_:)``.
  package init(_ body: RawSpan) throws(OAuthError) {
    let answer = try EndpointAnswer(body)
    guard let id = try answer.text("client_id"), id.utf8.count <= 512 else {
      throw .badAnswer("no client_id")
    }
    let secret = try answer.secret("client_secret")
    clientID = id
    clientSecret = secret
  }

  /// The request for one.
  ///
  /// - Parameters:
  ///   - name: What people see on the consent page.
  ///   - redirects: Where its sign-ins may come back to; one a line, as the form wants it.
  ///   - scopes: What its sign-ins may ask for at most.
  /// - Throws: As ``OAuth2/clientCredentials(at:scopes:by:further:)``.
  package static func request(
    at url: RequestURL, name: String, redirects: [String], scopes: [String]
  ) throws(OAuthError) -> CredentialRequest {
    var form = FormBody()
    form.append("client_name", name)
    form.append("redirect_uris", redirects.joined(separator: "\n"))
    form.append("scopes", try OAuth2.scope(scopes))
    return try CredentialRequest(.post, url, form: form.finish())
  }
}
