package import Sodium

/// The requests by which OAuth 1.0a hands out credentials (RFC 5849 section 2), and Twitter's two
/// ways around the browser.
package enum OAuth1 {
  /// Where the person goes after the yes.
  package enum Callback: Sendable, Equatable {
    case url(String)
    /// To a page that shows a number to type.
    case pin

    var parameter: String {
      switch self {
      case .url(let url): url
      case .pin: "oob"
      }
    }
  }

  /// First step: temporary credentials (section 2.1).
  ///
  /// - Parameters:
  ///   - credentials: The client's, without a token.
  ///   - further: Form fields, as Twitter's `x_auth_access_type`.
  package static func temporaryCredentials(
    at url: RequestURL, _ callback: Callback, by credentials: borrowing SigningCredentials,
    _ signer: RequestSigner, _ moment: OAuth1Request.Moment?,
    further: [(name: String, value: String)] = []
  ) throws(OAuthError) -> CredentialRequest {
    try require(credentials.hasToken, false)
    if case .url(let text) = callback { _ = try RequestURL.callback(text) }
    var form = FormBody(.strict)
    try form.append(further: further)
    var options = OAuth1Request.Options()
    options.extra = [("oauth_callback", callback.parameter)]
    return try signed(url, form, by: credentials, signer, moment, options)
  }

  /// Last step: the token (section 2.3). The temporary credentials are used up by it.
  ///
  /// - Parameters:
  ///   - credentials: The client's, with the temporary credentials as token.
  ///   - verifier: Of the callback, or the number that the person typed, in which white space at
  ///     both ends is dropped.
  package static func token(
    at url: RequestURL, verifier: String, by credentials: borrowing SigningCredentials,
    _ signer: RequestSigner, _ moment: OAuth1Request.Moment?
  ) throws(OAuthError) -> CredentialRequest {
    try require(credentials.hasToken, true)
    let verifier = verifier.trimmed
    guard !verifier.isEmpty else { throw .badParameter("oauth_verifier") }
    var options = OAuth1Request.Options()
    options.extra = [("oauth_verifier", verifier)]
    return try signed(url, FormBody(.strict), by: credentials, signer, moment, options)
  }

  /// xAuth: name and password for a token, where a provider still takes them. Both are signed.
  package static func xAuth(
    at url: RequestURL, username: String, password: borrowing SecretBytes,
    by credentials: borrowing SigningCredentials, _ signer: RequestSigner,
    _ moment: OAuth1Request.Moment?
  ) throws(OAuthError) -> CredentialRequest {
    try require(credentials.hasToken, false)
    var form = FormBody(.strict)
    form.append("x_auth_mode", "client_auth")
    form.append("x_auth_password", password)
    form.append("x_auth_username", username)
    return try signed(url, form, by: credentials, signer, moment, OAuth1Request.Options())
  }

  /// Reverse Auth, first step: an app asks for permission to have a token of its own.
  ///
  /// - Parameter app: The app's own client, without a token.
  package static func reverseAuthorization(
    at url: RequestURL, by app: borrowing SigningCredentials, _ signer: RequestSigner,
    _ moment: OAuth1Request.Moment?
  ) throws(OAuthError) -> CredentialRequest {
    try require(app.hasToken, false)
    var form = FormBody(.strict)
    form.append("x_auth_mode", "reverse_auth")
    return try signed(url, form, by: app, signer, moment, OAuth1Request.Options())
  }

  /// Reverse Auth, second step: the vault gets that token with the account's own.
  ///
  /// - Parameters:
  ///   - appID: The client identifier of the first step.
  ///   - answer: The body of the first step's answer. It is opaque and short-lived: a byte changed, as
  ///     by decoding and encoding it, makes it worthless, so it is signed as it is and encoded once.
  ///   - account: The vault's client with the account's token.
  /// - Throws: ``OAuthError/badAnswer(_:)`` for an answer that is empty or has over 8192 bytes.
  package static func reverseToken(
    at url: RequestURL, for appID: String, _ answer: borrowing SecretBytes,
    by account: borrowing SigningCredentials, _ signer: RequestSigner,
    _ moment: OAuth1Request.Moment?
  ) throws(OAuthError) -> CredentialRequest {
    try require(account.hasToken, true)
    guard (1...8192).contains(answer.count) else { throw .badAnswer("no reverse authorization") }
    var form = FormBody(.strict)
    form.append("x_reverse_auth_target", appID)
    form.append("x_reverse_auth_parameters", answer)
    return try signed(url, form, by: account, signer, moment, OAuth1Request.Options())
  }

  private static func require(_ hasToken: Bool, _ wanted: Bool) throws(OAuthError) {
    guard hasToken == wanted else {
      throw .badParameter(wanted ? "oauth_token is missing" : "oauth_token")
    }
  }

  private static func signed(
    _ url: RequestURL, _ form: consuming FormBody, by credentials: borrowing SigningCredentials,
    _ signer: RequestSigner, _ moment: OAuth1Request.Moment?, _ options: OAuth1Request.Options
  ) throws(OAuthError) -> CredentialRequest {
    let body = form.finish()
    guard body.count > 0 else {
      let request = try OAuth1Request("POST", url)
      return try CredentialRequest(
        .post, url, authorization: request.authorization(by: credentials, signer, moment, options))
    }
    let request = try OAuth1Request("POST", url, form: body.copy())
    return try CredentialRequest(
      .post, url, authorization: request.authorization(by: credentials, signer, moment, options),
      form: body)
  }
}

extension RequestURL {
  /// Checks a callback: an absolute address, of any scheme, without fragment.
  static func callback(_ text: String) throws(OAuthError) -> String {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#"),
      let colon = text.firstIndex(of: ":"), colon != text.startIndex,
      text[..<colon].utf8.allSatisfy({
        PercentEncoding.isLetterOrDigit($0) || [0x2B, 0x2D, 0x2E].contains($0)
      })
    else { throw .badURL("no absolute address to come back to") }
    return text
  }
}

extension String {
  /// Without the white space at both ends.
  var trimmed: String {
    var text = self[...]
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
