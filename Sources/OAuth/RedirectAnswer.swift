package import Sodium

/// What the browser brought back from the provider's page (RFC 6749 section 4.1.2).
package enum RedirectAnswer: ~Copyable, Sendable {
  /// To be exchanged once, within minutes.
  case code(SecretBytes)
  /// The provider's own words: a code of section 4.1.2.1, and text that is shown to nobody unseen.
  case refused(error: String, description: String?)

  /// The same for a query that is text.
  package static func read(
    query: String, state: String, issuer: String? = nil, requiresIssuer: Bool = false
  ) throws(OAuthError) -> RedirectAnswer {
    var query = query
    query.makeContiguousUTF8()
    // The text outlives the call.
    return try unsafe read(
      query: query.utf8Span.span.bytes, state: state, issuer: issuer,
      requiresIssuer: requiresIssuer)
  }

  /// Reads the query of a request to the redirect address.
  ///
  /// A query that does not belong to this sign-in is an error, at which the listener answers 400 and
  /// goes on: anybody on the machine can send one.
  ///
  /// - Parameters:
  ///   - state: What the authorization request sent. It is compared in constant time, so that nobody
  ///     finds it byte by byte.
  ///   - issuer: The server's name for itself. An answer with another `iss` comes from an attacker's
  ///     server (mix-up, RFC 9207).
  ///   - requiresIssuer: Whether the server announced `iss`, so that one without is refused as well.
  /// - Throws: ``OAuthError/badAnswer(_:)``, ``OAuthError/repeatedParameter(_:)``,
  ///   ``OAuthError/badEscape``.
  package static func read(
    query: RawSpan, state: String, issuer: String? = nil, requiresIssuer: Bool = false
  ) throws(OAuthError) -> RedirectAnswer {
    let reply = try FormReply(query)
    guard let answered = try reply.secret("state"), answered.isEqual(to: state) else {
      throw .badAnswer("another sign-in's state")
    }
    if let named = try reply.text("iss") {
      // Byte for byte: Swift's own comparison takes different spellings of a letter for the same.
      if let issuer, !named.utf8.elementsEqual(issuer.utf8) {
        throw .badAnswer("another server's iss")
      }
    } else if requiresIssuer {
      throw .badAnswer("no iss")
    }
    let error = try reply.text("error")
    let code = try reply.secret("code")
    if let error, !error.isEmpty {
      switch code {
      case .some: throw .badAnswer("both code and error")
      case .none: break
      }
      return .refused(error: error, description: try reply.text("error_description"))
    }
    guard let code, code.count > 0 else { throw .badAnswer("neither code nor error") }
    return .code(code)
  }
}
