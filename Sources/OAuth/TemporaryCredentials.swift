package import Sodium

/// What a sign-in of OAuth 1.0a holds between its first step and its last (RFC 5849 section 2.1).
package struct TemporaryCredentials: ~Copyable, Sendable {
  /// Shown in the address that the person opens.
  package let token: String
  package let secret: SecretBytes

  /// Reads the answer to the first step.
  ///
  /// - Throws: ``OAuthError/badAnswer(_:)`` for anything but both credentials and
  ///   `oauth_callback_confirmed` with the text `true`: a server that does not confirm is one of
  ///   OAuth 1.0, where an attacker's callback gets the victim's token.
  package init(_ body: RawSpan) throws(OAuthError) {
    let reply = try FormReply(body)
    guard try reply.text("oauth_callback_confirmed") == "true" else {
      throw .badAnswer("oauth_callback_confirmed is not true")
    }
    guard let token = try reply.text("oauth_token"), !token.isEmpty else {
      throw .badAnswer("no oauth_token")
    }
    guard let secret = try reply.secret("oauth_token_secret") else {
      throw .badAnswer("no oauth_token_secret")
    }
    self.token = token
    self.secret = secret
  }

  /// For whoever kept both over a restart.
  package init(token: String, secret: consuming SecretBytes) {
    self.token = token
    self.secret = secret
  }

  /// The address that the person opens (section 2.2). The callback is not in it: it was sent in the
  /// first step.
  ///
  /// - Throws: ``OAuthError/badURL(_:)``, ``OAuthError/repeatedParameter(_:)``.
  package func authorizeURL(
    at endpoint: RequestURL, further: [(name: String, value: String)] = []
  ) throws(OAuthError) -> String {
    try endpoint.adding([("oauth_token", token)] + further)
  }

  /// The same for a query that is text.
  package func verifier(fromQuery query: String) throws(OAuthError) -> SecretBytes? {
    var query = query
    query.makeContiguousUTF8()
    // The text outlives the call.
    return try unsafe verifier(fromQuery: query.utf8Span.span.bytes)
  }

  /// Reads where the person's browser was sent back to, or a PIN that the person typed.
  ///
  /// - Parameter query: Of the callback, which keeps fields of its own.
  /// - Throws: ``OAuthError/badAnswer(_:)`` for another sign-in's token, which is compared in constant
  ///   time, and for one without verifier; ``OAuthError/repeatedParameter(_:)``.
  /// - Returns: The verifier; nil where the person said no.
  package func verifier(fromQuery query: RawSpan) throws(OAuthError) -> SecretBytes? {
    let reply = try FormReply(query)
    if let denied = try reply.secret("denied") {
      guard denied.isEqual(to: token) else { throw .badAnswer("another sign-in's token") }
      return nil
    }
    guard let answered = try reply.secret("oauth_token"), answered.isEqual(to: token) else {
      throw .badAnswer("another sign-in's token")
    }
    guard let verifier = try reply.secret("oauth_verifier"), verifier.count > 0 else {
      throw .badAnswer("no oauth_verifier")
    }
    return verifier
  }
}

extension SecretBytes {
  /// Whether these are the bytes of `text`, in a time that depends on the count alone.
  borrowing func isEqual(to text: String) -> Bool {
    var other = WipedBytes(capacity: text.utf8.count)
    other.append(text)
    return isEqual(to: other.finish())
  }
}
