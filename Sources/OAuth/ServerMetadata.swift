internal import JSON

/// What an authorization server tells about itself (RFC 8414, OpenID Connect Discovery 1.0).
package struct ServerMetadata: Sendable, Equatable {
  /// Nil where the document stands for many: Microsoft's for `common` names `{tenantid}`, and which
  /// tenant it will be is known only once the person has signed in.
  package let issuer: String?
  package let authorizationEndpoint: RequestURL?
  package let tokenEndpoint: RequestURL?
  package let revocationEndpoint: RequestURL?
  package let introspectionEndpoint: RequestURL?
  package let deviceEndpoint: RequestURL?
  package let pushEndpoint: RequestURL?
  package let userInfoEndpoint: RequestURL?
  package let scopes: [String]
  /// Where none are named, `client_secret_basic`.
  package let tokenAuthentication: [String]
  /// Where none are named, `authorization_code` and `implicit`.
  package let grantTypes: [String]
  /// None where PKCE is not announced.
  package let challengeMethods: [String]
  package let proofAlgorithms: [String]
  /// `iss` comes with every redirect (RFC 9207).
  package let sendsIssuer: Bool
  package let requiresPush: Bool

  /// The largest document that is read, in bytes.
  package static let limit = 262_144

  /// Where an issuer's document is: the well-known segment comes before the issuer's own path (RFC
  /// 8414 section 3.1), whose last `/` is dropped.
  ///
  /// - Throws: ``OAuthError/badURL(_:)`` for an issuer with query or fragment,
  ///   ``OAuthError/insecure(_:)`` for one without TLS.
  package static func url(of issuer: String) throws(OAuthError) -> RequestURL {
    let url = try checked(issuer)
    return try RequestURL(url.origin + "/.well-known/oauth-authorization-server" + path(url))
  }

  /// Where OpenID has it: behind the issuer's path.
  ///
  /// - Throws: As ``url(of:)``.
  package static func openIDURL(of issuer: String) throws(OAuthError) -> RequestURL {
    let url = try checked(issuer)
    return try RequestURL(url.origin + path(url) + "/.well-known/openid-configuration")
  }

  private static func checked(_ issuer: String) throws(OAuthError) -> RequestURL {
    let url = try RequestURL(issuer)
    guard url.query == nil, !issuer.contains("#") else { throw .badURL("an issuer with more") }
    guard url.isPrivate else { throw .insecure("an issuer without TLS") }
    return url
  }

  private static func path(_ url: RequestURL) -> String {
    url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
  }

  /// Reads a document.
  ///
  /// - Parameter issuer: The one that the document's address was made from. The document must name the
  ///   same, byte for byte (RFC 8414 section 3.3), or it is somebody else's.
  /// - Throws: ``OAuthError/badAnswer(_:)``; ``OAuthError/insecure(_:)`` for an endpoint without TLS.
  package init(_ document: RawSpan, issuer: String) throws(OAuthError) {
    let json: JSONValue
    do throws(JSONError) {
      let text = try JSONText(document, maximumBytes: Self.limit)
      json = try JSONValue(text.root, of: text)
    } catch {
      throw .badAnswer("no JSON document")
    }
    guard case .string(let named) = json["issuer"] else { throw .badAnswer("another issuer") }
    if named.utf8.elementsEqual(issuer.utf8) {
      self.issuer = issuer
    } else if Self.isTenantTemplate(named, of: issuer) {
      self.issuer = nil
    } else {
      throw .badAnswer("another issuer")
    }
    _ = try Self.checked(issuer)
    authorizationEndpoint = try Self.endpoint(json, "authorization_endpoint")
    tokenEndpoint = try Self.endpoint(json, "token_endpoint")
    revocationEndpoint = try Self.endpoint(json, "revocation_endpoint")
    introspectionEndpoint = try Self.endpoint(json, "introspection_endpoint")
    deviceEndpoint = try Self.endpoint(json, "device_authorization_endpoint")
    pushEndpoint = try Self.endpoint(json, "pushed_authorization_request_endpoint")
    userInfoEndpoint = try Self.endpoint(json, "userinfo_endpoint")
    scopes = try Self.list(json, "scopes_supported") ?? []
    tokenAuthentication =
      try Self.list(json, "token_endpoint_auth_methods_supported") ?? ["client_secret_basic"]
    grantTypes =
      try Self.list(json, "grant_types_supported") ?? ["authorization_code", "implicit"]
    challengeMethods = try Self.list(json, "code_challenge_methods_supported") ?? []
    proofAlgorithms = try Self.list(json, "dpop_signing_alg_values_supported") ?? []
    sendsIssuer = try Self.bool(json, "authorization_response_iss_parameter_supported")
    requiresPush = try Self.bool(json, "require_pushed_authorization_requests")
  }

  /// Whether an issuer is the one asked for but for one part of the path, which says `{tenantid}`. Host
  /// and all other parts must be the same, byte for byte.
  private static func isTenantTemplate(_ named: String, of issuer: String) -> Bool {
    let named = named.split(separator: "/", omittingEmptySubsequences: false)
    let asked = issuer.split(separator: "/", omittingEmptySubsequences: false)
    guard named.count == asked.count, named.count > 3 else { return false }
    var differing = 0
    for (one, other) in zip(named, asked) where !one.utf8.elementsEqual(other.utf8) {
      guard one == "{tenantid}" else { return false }
      differing += 1
    }
    return differing == 1 && named[..<3].elementsEqual(asked[..<3])
  }

  private static func endpoint(
    _ json: JSONValue, _ name: String
  ) throws(OAuthError) -> RequestURL? {
    switch json[name] {
    case nil, .null: return nil
    case .string(let text):
      guard let url = try? RequestURL(text), !url.hasFragment else { throw .badAnswer(name) }
      guard url.isPrivate else { throw .insecure(name + " without TLS") }
      return url
    default: throw .badAnswer(name)
    }
  }

  private static func list(_ json: JSONValue, _ name: String) throws(OAuthError) -> [String]? {
    switch json[name] {
    case nil, .null: return nil
    case .array(let elements):
      var texts: [String] = []
      for element in elements {
        guard case .string(let text) = element else { throw .badAnswer(name) }
        texts.append(text)
      }
      return texts
    default: throw .badAnswer(name)
    }
  }

  private static func bool(_ json: JSONValue, _ name: String) throws(OAuthError) -> Bool {
    switch json[name] {
    case nil, .null: return false
    case .bool(let value): return value
    default: throw .badAnswer(name)
    }
  }
}
