package import Sodium

/// The requests of OAuth 2.0, each a value that a transport sends.
package enum OAuth2 {
  /// More fields than the protocol's own, as a provider's definition has them.
  package typealias Fields = [(name: String, value: String)]

  private static func request(
    _ url: RequestURL, _ client: borrowing OAuth2Client, _ further: Fields,
    _ write: (inout FormBody) throws(OAuthError) -> Void
  ) throws(OAuthError) -> CredentialRequest {
    guard !url.hasFragment else { throw .badURL("a fragment") }
    var form = FormBody()
    try write(&form)
    client.write(to: &form)
    try form.append(further: further)
    return try CredentialRequest(
      .post, url, authorization: client.authorization(), form: form.finish())
  }

  /// Exchanges a code (RFC 6749 section 4.1.3).
  ///
  /// - Parameter redirectURI: The same bytes as in the authorization request.
  package static func codeExchange(
    at url: RequestURL, code: borrowing SecretBytes, redirectURI: String,
    verifier: borrowing PKCE, by client: borrowing OAuth2Client, further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("grant_type", "authorization_code")
      form.append("code", code)
      form.append("redirect_uri", redirectURI)
      form.append("code_verifier", verifier.verifier)
    }
  }

  /// The same for a provider that is known not to know PKCE.
  package static func codeExchange(
    at url: RequestURL, code: borrowing SecretBytes, redirectURI: String,
    by client: borrowing OAuth2Client, further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("grant_type", "authorization_code")
      form.append("code", code)
      form.append("redirect_uri", redirectURI)
    }
  }

  /// Renews (section 6).
  ///
  /// - Parameter scopes: Fewer than were granted; none asks for the same.
  package static func refresh(
    at url: RequestURL, token: borrowing SecretBytes, scopes: [String] = [],
    by client: borrowing OAuth2Client, further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("grant_type", "refresh_token")
      form.append("refresh_token", token)
      if !scopes.isEmpty { form.append("scope", try scope(scopes)) }
    }
  }

  /// Exchanges a token that is still good for one that ends later (Facebook's `fb_exchange_token`).
  ///
  /// By POST, which the endpoint takes as well as GET: the client's secret and the token stay out of
  /// addresses and so out of logs.
  package static func tokenExchange(
    at url: RequestURL, token: borrowing SecretBytes, by client: borrowing OAuth2Client,
    further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("grant_type", "fb_exchange_token")
      form.append("fb_exchange_token", token)
    }
  }

  /// A token of the client's own (section 4.4).
  package static func clientCredentials(
    at url: RequestURL, scopes: [String] = [], by client: borrowing OAuth2Client,
    further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("grant_type", "client_credentials")
      if !scopes.isEmpty { form.append("scope", try scope(scopes)) }
    }
  }

  /// Starts a device grant (RFC 8628 section 3.1). The client's id is in the form even where Basic
  /// shows it.
  package static func device(
    at url: RequestURL, scopes: [String], separator: String = " ",
    by client: borrowing OAuth2Client, further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      appendID(client, to: &form)
      if !scopes.isEmpty { form.append("scope", try scope(scopes, separator)) }
    }
  }

  /// Asks whether the person has answered (section 3.4).
  package static func devicePoll(
    at url: RequestURL, deviceCode: borrowing SecretBytes, by client: borrowing OAuth2Client,
    further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
      form.append("device_code", deviceCode)
      appendID(client, to: &form)
    }
  }

  /// Leaves an authorization request at the server (RFC 9126 section 2.1).
  package static func push(
    _ authorization: AuthorizationRequest, at url: RequestURL, by client: borrowing OAuth2Client
  ) throws(OAuthError) -> CredentialRequest {
    guard authorization.clientID == client.id else { throw .badParameter("client_id") }
    let fields = try authorization.fields()
    guard !fields.contains(where: { $0.name == "request_uri" }) else {
      throw .badParameter("request_uri")
    }
    return try request(url, client, []) { form throws(OAuthError) in
      // `client_id` comes with the client where it is in the form.
      let hasOwn = client.authentication != .basic && client.authentication != .basicRaw
      try form.append(further: fields.filter { !hasOwn || $0.name != "client_id" })
    }
  }

  /// What a token is, for the hint of a revocation or an introspection.
  package enum TokenKind: String, Sendable {
    case accessToken = "access_token"
    case refreshToken = "refresh_token"
  }

  /// Ends a token (RFC 7009 section 2.1). The answer 200 says nothing of whether it ever lived.
  package static func revocation(
    at url: RequestURL, of token: borrowing SecretBytes, _ kind: TokenKind?,
    by client: borrowing OAuth2Client, further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try request(url, client, further) { form throws(OAuthError) in
      form.append("token", token)
      if let kind { form.append("token_type_hint", kind.rawValue) }
    }
  }

  /// Asks what a token still is (RFC 7662 section 2.1).
  package static func introspection(
    at url: RequestURL, of token: borrowing SecretBytes, _ kind: TokenKind?,
    by client: borrowing OAuth2Client, further: Fields = []
  ) throws(OAuthError) -> CredentialRequest {
    try revocation(at: url, of: token, kind, by: client, further: further)
  }

  private static func appendID(_ client: borrowing OAuth2Client, to form: inout FormBody) {
    if client.authentication == .basic || client.authentication == .basicRaw {
      form.append("client_id", client.id)
    }
  }

  /// Scopes as the protocol joins them (RFC 6749 section 3.3).
  ///
  /// - Throws: ``OAuthError/badParameter(_:)`` for one that is empty or has other characters than the
  ///   section allows, or the separator.
  static func scope(
    _ scopes: [String], _ separator: String = " "
  ) throws(OAuthError) -> String {
    for scope in scopes {
      guard !scope.isEmpty, !scope.contains(separator),
        scope.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
      else { throw .badParameter("scope") }
    }
    return scopes.joined(separator: separator)
  }
}
