import Faults
package import HTTPTypes
import OAuth
package import Providers
import Sodium

/// What came of looking a token up.
package enum TokenLookup: Sendable {
  /// It lives.
  case alive(TokenReport, HTTPResponse)
  /// It is dead, or the person must act: the class says which.
  case refused(Classification, HTTPResponse)
  /// The provider did not say: our client was refused, it is busy, or no reply came.
  case unanswered(Classification, HTTPResponse?)
  /// The provider has no way, or the way needs something that the vault does not have.
  case impossible(String)
}

extension Network {
  /// Looks an access token up in the style of the definition (RFC 7662, and the providers' own).
  ///
  /// - Throws: ``VaultError`` with code `config` where the request cannot be made; nothing was sent.
  package func introspect(
    _ access: Access, _ provider: Provider, canRenew: Bool = true
  ) async throws(VaultError) -> TokenLookup {
    guard provider.introspection != .none,
      let address = provider.address(.introspect, of: access.clientID)
    else { return .impossible("\(provider.name) looks no tokens up") }
    let reply: EndpointReply
    do throws(OAuthError) {
      let url = try RequestURL(address)
      switch provider.introspection {
      case .none: return .impossible("\(provider.name) looks no tokens up")
      case .rfc7662:
        guard !access.clientID.isEmpty else { return .impossible(Self.noClient) }
        reply = try await exchange(with: url, at: .introspect, of: provider, canRenew: canRenew) {
          (time) throws(OAuthError) in
          try OAuth2.introspection(
            at: url, of: access.accessToken.bytes, .accessToken,
            by: oauth2(id: access.clientID, secret: access.clientSecret, provider, time: time))
        }
      case .debugToken:
        guard let secret = access.clientSecret else { return .impossible(Self.noSecret) }
        // The client's own token, which is its id and its secret.
        let own = secret.following(access.clientID + "|")
        var query = FormBody(.strict)
        query.append("input_token", access.accessToken.bytes)
        query.append("access_token", own.bytes)
        let fields = SharedSecret(query.finish())
        reply = try await sendLookup("GET", url, of: provider, canRenew) { request in
          request.secretQuery = fields
        }
      case .getTokenInfo:
        var form = FormBody(.strict)
        form.append("access_token", access.accessToken.bytes)
        let body = SharedSecret(form.finish())
        reply = try await sendLookup("POST", url, of: provider, canRenew) { request in
          request.body = .bytes(body, contentType: "application/x-www-form-urlencoded")
        }
      case .tokenInfo:
        var query = FormBody(.strict)
        query.append("access_token", access.accessToken.bytes)
        let fields = SharedSecret(query.finish())
        reply = try await sendLookup("GET", url, of: provider, canRenew) { request in
          request.secretQuery = fields
        }
      case .checkToken:
        guard let authorization = try access.basic() else { return .impossible(Self.noSecret) }
        reply = try await sendLookup("POST", url, of: provider, canRenew) { request in
          request.secretHeaders.append(("Authorization", authorization))
          request.body = .bytes(
            access.accessToken.asTokenObject, contentType: "application/json")
        }
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    return read(reply, access, provider)
  }

  static var noClient: String { "it is not known which client the token was issued to" }
  static var noSecret: String { "the vault has no secret of the token's client" }

  private func read(
    _ reply: EndpointReply, _ access: Access, _ provider: Provider
  ) -> TokenLookup {
    guard let response = reply.response else { return .unanswered(.noReply, nil) }
    if let refusal = reply.refusal {
      switch refusal.errorClass {
      case .expired, .revoked, .invalid, .userAction: return .refused(refusal, response)
      default: return .unanswered(refusal, response)
      }
    }
    let report = response.body.withBytes { provider.tokenReport($0, at: reply.sentAt) }
    guard let report else {
      return .unanswered(
        Classification(.transient, status: response.status, rule: .status), response)
    }
    if let owner = report.clientID, !access.clientID.isEmpty, owner != access.clientID {
      return .impossible("the token was issued to client \(ProviderText.name(owner))")
    }
    return .alive(report, response)
  }

  private func sendLookup(
    _ method: String, _ url: RequestURL, of provider: Provider, _ canRenew: Bool,
    _ complete: (inout HTTPRequest) -> Void
  ) async throws(OAuthError) -> EndpointReply {
    try await send(
      to: url.origin, at: .introspect, of: provider, canRenew: canRenew, hasProof: false
    ) { (_) throws(OAuthError) in
      try Self.credentialRequest(method, url, of: provider, complete)
    }
  }

  /// A request that carries a token to an address that is none of the API's.
  ///
  /// - Throws: ``OAuthError/insecure(_:)`` for plain HTTP to another machine.
  static func credentialRequest(
    _ method: String, _ url: RequestURL, of provider: Provider,
    _ complete: (inout HTTPRequest) -> Void
  ) throws(OAuthError) -> HTTPRequest {
    guard url.isPrivate else { throw .insecure("credentials over plain HTTP") }
    var request = HTTPRequest(method, url.text, headers: provider.headers)
    if !provider.headers.contains(where: { $0.name.lowercased() == "accept" }) {
      request.headers.append(("Accept", "application/json"))
    }
    request.limits.body = 262_144
    request.limits.total = 30_000
    complete(&request)
    return request
  }
}

extension Access {
  /// Basic authentication as the client, whatever `client_auth` says; nil without a secret.
  func basic() throws(OAuthError) -> SharedSecret? {
    guard let clientSecret, !clientID.isEmpty else { return nil }
    let client = try OAuth2Client(id: clientID, secret: clientSecret.bytes.copy(), .basic)
    switch client.authorization() {
    case .some(let value): return SharedSecret(value)
    case .none: return nil
    }
  }
}
