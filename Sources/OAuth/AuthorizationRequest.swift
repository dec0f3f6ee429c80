internal import Sodium

/// What the person's browser is sent to the provider with (RFC 6749 section 4.1.1).
package struct AuthorizationRequest: Sendable {
  package let clientID: String

  /// Where the browser comes back to. The code exchange repeats the same bytes.
  package let redirectURI: String

  package let scopes: [String]

  /// Joins the scopes: a space, or what the provider's definition has.
  package let scopeSeparator: String

  /// Binds the answer to this sign-in; ``newState()``.
  package let state: String

  /// What the provider calls the field that holds the scopes.
  package let scopeParameter: String

  /// Of ``PKCE``; nil only for a provider that is known not to know it.
  package let challenge: String?

  /// `plain` shows the verifier itself, and is only for a provider that is known to know nothing else.
  package let challengeMethod: String

  /// Fields of the provider's own, as `access_type=offline`.
  package let further: OAuth2.Fields

  /// - Throws: ``OAuthError/badURL(_:)`` for a redirect address with a fragment,
  ///   ``OAuthError/badParameter(_:)`` for a state under 22 characters, which could be guessed.
  package init(
    clientID: String, redirectURI: String, scopes: [String], scopeSeparator: String = " ",
    scopeParameter: String = "scope", state: String, challenge: String?,
    challengeMethod: String = "S256", further: OAuth2.Fields = []
  ) throws(OAuthError) {
    guard !clientID.isEmpty else { throw .badParameter("client_id") }
    guard state.utf8.count >= 22, state.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .badParameter("state")
    }
    self.clientID = clientID
    self.redirectURI = try RequestURL.callback(redirectURI)
    self.scopes = scopes
    self.scopeSeparator = scopeSeparator
    self.scopeParameter = scopeParameter
    self.state = state
    self.challengeMethod = challengeMethod
    self.challenge = challenge
    self.further = further
  }

  /// A state of 256 random bits, for one sign-in.
  package static func newState() -> String { Base64.encodeURL(Random.bytes(32)) }

  /// All fields, each once.
  ///
  /// - Throws: ``OAuthError/repeatedParameter(_:)``, ``OAuthError/badParameter(_:)``.
  func fields() throws(OAuthError) -> OAuth2.Fields {
    var fields: OAuth2.Fields = [
      ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI),
    ]
    if !scopes.isEmpty { fields.append((scopeParameter, try OAuth2.scope(scopes, scopeSeparator))) }
    fields.append(("state", state))
    if let challenge {
      fields.append(("code_challenge", challenge))
      fields.append(("code_challenge_method", challengeMethod))
    }
    for field in further {
      guard !fields.contains(where: { $0.name == field.name }) else {
        throw .repeatedParameter(field.name)
      }
      fields.append(field)
    }
    return fields
  }

  /// The address to open. The endpoint's own query is kept.
  ///
  /// - Throws: As ``RequestURL/adding(_:)``; ``OAuthError/insecure(_:)`` for an endpoint without TLS.
  package func url(at endpoint: RequestURL) throws(OAuthError) -> String {
    guard endpoint.isPrivate else { throw .insecure("a sign-in page without TLS") }
    return try endpoint.adding(fields())
  }

  /// The address to open once the request was pushed (RFC 9126 section 4): nothing but the client and
  /// the name that the server gave.
  package func url(
    at endpoint: RequestURL, pushedAs requestURI: String
  ) throws(OAuthError) -> String {
    guard endpoint.isPrivate else { throw .insecure("a sign-in page without TLS") }
    guard !requestURI.isEmpty else { throw .badAnswer("no request_uri") }
    return try endpoint.adding([("client_id", clientID), ("request_uri", requestURI)])
  }
}
