import Faults
package import HTTPTypes
import OAuth
package import Providers
package import Sodium

/// What came of telling a provider that a token is over.
package enum RevocationReply: Sendable {
  /// The provider knows. A token that was dead already, or that it never knew, counts too: RFC 7009
  /// section 2.2 answers both alike.
  case done(HTTPResponse)
  /// It lives on for now; a later try may work.
  case later(Classification, HTTPResponse?)
  /// The provider takes such a token back in no way.
  case never(String, Classification?, HTTPResponse?)
}

extension Network {
  /// Tells a provider that a credential's tokens are over, in the style of its definition.
  ///
  /// The refresh token goes first: a server should end the access tokens with it (RFC 7009 section
  /// 2.1). An access token that still lives is revoked as well, since not every server does so.
  ///
  /// - Parameter isAccessAlive: Whether the access token has not ended by itself.
  package func revoke(
    _ access: Access, refreshToken: SharedSecret?, isAccessAlive: Bool, _ provider: Provider
  ) async -> RevocationReply {
    guard provider.revocation != .none, let address = provider.address(.revoke, of: access.clientID)
    else { return .never("\(provider.name) takes no token back", nil, nil) }
    do throws(VaultError) {
      switch provider.revocation {
      case .none: return .never("\(provider.name) takes no token back", nil, nil)
      case .rfc7009:
        return try await revoke7009(access, refreshToken, isAccessAlive, at: address, provider)
      case .deletePermissions:
        return read(
          try await ask("DELETE", address, by: access, of: provider, at: .revoke), provider)
      case .signedPost:
        return read(
          try await ask("POST", address, by: access, of: provider, at: .revoke), provider)
      case .tokenParameter:
        return read(try await sendToken(access, to: address, provider), provider)
      case .deleteToken:
        guard let reply = try await deleteToken(access, at: address, provider) else {
          return .never(Self.noSecret, nil, nil)
        }
        if !isAccessAlive, refreshToken != nil {
          // It has ended, and a refresh token cannot be named here.
          return .never(
            "its access token has ended, and \(provider.name) takes no refresh token back",
            reply.refusal, reply.response)
        }
        return read(reply, provider)
      }
    } catch {
      // The client or the definition is wrong, which the owner may mend.
      return .later(Classification(.config, status: nil, rule: .noReply), nil)
    }
  }

  private func revoke7009(
    _ access: Access, _ refreshToken: SharedSecret?, _ isAccessAlive: Bool, at address: String,
    _ provider: Provider
  ) async throws(VaultError) -> RevocationReply {
    guard !access.clientID.isEmpty else { return .never(Self.noClient, nil, nil) }
    var tokens: [(SharedSecret, OAuth2.TokenKind)] = []
    if let refreshToken { tokens.append((refreshToken, .refreshToken)) }
    // Where the whole grant ends with one token there is nothing left for the second.
    if tokens.isEmpty || isAccessAlive && provider.revocationReach == .token {
      tokens.append((access.accessToken, .accessToken))
    }
    var result: RevocationReply?
    for (token, kind) in tokens {
      let reply: EndpointReply
      do throws(OAuthError) {
        let url = try RequestURL(address)
        reply = try await exchange(with: url, at: .revoke, of: provider, proof: access.proof) {
          (time) throws(OAuthError) in
          try OAuth2.revocation(
            at: url, of: token.bytes, kind,
            by: oauth2(id: access.clientID, secret: access.clientSecret, provider, time: time))
        }
      } catch {
        throw VaultError(unmade: error, provider: provider)
      }
      switch read(reply, provider) {
      case .later(let refusal, let response): return .later(refusal, response)
      case .done(let response): result = .done(response)
      case .never(let why, let refusal, let response):
        // One kind of token is not taken back; the other may be.
        if result == nil { result = .never(why, refusal, response) }
      }
    }
    return result ?? .never(Self.noClient, nil, nil)
  }

  private func sendToken(
    _ access: Access, to address: String, _ provider: Provider
  ) async throws(VaultError) -> EndpointReply {
    if provider.tokenPlace == .query {
      return try await ask("POST", address, by: access, of: provider, at: .revoke)
    }
    var form = FormBody(.strict)
    form.append(provider.tokenParameter, access.accessToken.bytes)
    let body = SharedSecret(form.finish())
    return try await sendRevocation("POST", address, provider) { request in
      request.body = .bytes(body, contentType: "application/x-www-form-urlencoded")
    }
  }

  /// Nil without a client secret.
  private func deleteToken(
    _ access: Access, at address: String, _ provider: Provider
  ) async throws(VaultError) -> EndpointReply? {
    let authorization: SharedSecret?
    do throws(OAuthError) { authorization = try access.basic() } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    guard let authorization else { return nil }
    return try await sendRevocation("DELETE", address, provider) { request in
      request.secretHeaders.append(("Authorization", authorization))
      request.body = .bytes(access.accessToken.asTokenObject, contentType: "application/json")
    }
  }

  private func sendRevocation(
    _ method: String, _ address: String, _ provider: Provider,
    _ complete: (inout HTTPRequest) -> Void
  ) async throws(VaultError) -> EndpointReply {
    do throws(OAuthError) {
      let url = try RequestURL(address)
      return try await send(
        to: url.origin, at: .revoke, of: provider, canRenew: true, hasProof: false
      ) { (_) throws(OAuthError) in
        try Self.credentialRequest(method, url, of: provider, complete)
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
  }

  private func read(_ reply: EndpointReply, _ provider: Provider) -> RevocationReply {
    guard let response = reply.response else { return .later(.noReply, nil) }
    guard let refusal = reply.refusal else {
      if response.body.withBytes({ provider.isRevoked($0) }) { return .done(response) }
      return .later(
        Classification(.transient, status: response.status, rule: .status), response)
    }
    switch refusal.errorClass {
    // It is dead already.
    case .expired, .revoked, .invalid: return .done(response)
    case .config where refusal.code == "unsupported_token_type":
      return .never("\(provider.name) takes no token of this kind back", refusal, response)
    default: return .later(refusal, response)
    }
  }
}
