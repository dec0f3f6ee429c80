import Accounts
import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium
import Time

extension SignInFlow {
  /// The redirect of servers that show the code for typing, as Mastodon's do.
  static let codeForTyping = "urn:ietf:wg:oauth:2.0:oob"

  /// The authorization code grant (RFC 6749 section 4.1) with a loopback redirect (RFC 8252), or with a
  /// code that the person types.
  func authorizationCode() async throws(SignInFailure) -> SignInReply {
    guard plan.way == .browser else { return try await authorizationCode(nil) }
    let redirects = try listen()
    do throws(SignInFailure) {
      let reply = try await authorizationCode(redirects)
      await redirects.close()
      return reply
    } catch {
      await redirects.close()
      throw error
    }
  }

  func listen() throws(SignInFailure) -> RedirectWait {
    guard let listen = place.listen else {
      throw .vault(
        VaultError(.usage, "nothing can listen for the browser here", hint: "vault help sign-in"))
    }
    do throws(VaultError) {
      return try listen(plan.client.client.redirect)
    } catch {
      throw .vault(error)
    }
  }

  private func authorizationCode(_ redirects: RedirectWait?) async throws(SignInFailure)
    -> SignInReply
  {
    guard let authorize = plan.server.endpoints[.authorize],
      let token = plan.server.endpoints[.token]
    else { throw .unmade(.badURL("the sign-in page")) }
    let redirect = redirects?.address ?? Self.codeForTyping
    let pkce = PKCE()
    let state = AuthorizationRequest.newState()
    let proof = try oauth { () throws(OAuthError) in try newProof() }
    var further = provider.authorizeParameters
    if let proof { further.append(("dpop_jkt", proof.key.publicKey.thumbprint)) }
    let challenge: String?
    switch provider.pkce {
    case .s256: challenge = pkce.challenge
    case .plain: challenge = pkce.plainChallenge
    case .none: challenge = nil
    }
    let request = try oauth { () throws(OAuthError) in
      try AuthorizationRequest(
        clientID: plan.client.client.clientID, redirectURI: redirect, scopes: plan.scopes,
        scopeSeparator: provider.scopeSeparator, scopeParameter: provider.scopeParameter,
        state: state, challenge: challenge,
        challengeMethod: provider.pkce == .plain ? "plain" : "S256", further: further)
    }
    let address = try await address(of: request, at: authorize, proof)
    place.show(prompt(address, port: redirects?.port))
    let code: SharedSecret
    if let redirects {
      await place.open(address)
      code = try await redirectedCode(redirects, state: state)
    } else {
      code = try await typed()
    }
    let reply: EndpointReply
    do throws(OAuthError) {
      reply = try await network.exchange(
        with: token, at: .token, of: provider, proof: proof?.key
      ) { (time) throws(OAuthError) in
        if provider.pkce == .none {
          return try OAuth2.codeExchange(
            at: token, code: code.bytes, redirectURI: redirect, by: client(time))
        }
        return try OAuth2.codeExchange(
          at: token, code: code.bytes, redirectURI: redirect, verifier: pkce, by: client(time))
      }
    } catch {
      throw .unmade(error)
    }
    return try body(of: reply, at: "the exchange of the code", proof: proof)
  }

  /// The address to open: with all fields, or pushed before (RFC 9126) wherever the server has a place
  /// for it, so that nobody on the way can read or change what is asked for.
  private func address(
    of request: AuthorizationRequest, at authorize: RequestURL, _ proof: SignInProof?
  ) async throws(SignInFailure) -> String {
    guard let push = plan.server.endpoints[.par] else {
      guard !plan.server.requiresPush else {
        throw .unmade(.badAnswer("pushed requests are required and there is no address for them"))
      }
      return try oauth { () throws(OAuthError) in try request.url(at: authorize) }
    }
    let reply: EndpointReply
    do throws(OAuthError) {
      reply = try await network.exchange(
        with: push, at: .token, of: provider, proof: proof?.key
      ) { (time) throws(OAuthError) in
        try OAuth2.push(request, at: push, by: client(time))
      }
    } catch {
      throw .unmade(error)
    }
    let answer = try body(of: reply, at: "the pushed request")
    return try oauth { () throws(OAuthError) in
      let pushed = try answer.body.withBytes { (body) throws(OAuthError) in
        try PushedRequest(body)
      }
      return try request.url(at: authorize, pushedAs: pushed.requestURI)
    }
  }

  private func redirectedCode(
    _ redirects: RedirectWait, state: String
  ) async throws(SignInFailure) -> SharedSecret {
    let (issuer, sendsIssuer) = (plan.server.issuer, plan.server.sendsIssuer)
    @Sendable func read(_ query: SharedSecret) throws(OAuthError) -> RedirectAnswer {
      try query.withBytes { (query) throws(OAuthError) in
        try RedirectAnswer.read(
          query: query, state: state, issuer: issuer, requiresIssuer: sendsIssuer)
      }
    }
    let query = try await person {
      await redirects.answer { query in
        do throws(OAuthError) {
          switch try read(query) {
          case .code: return .accepted
          case .refused: return .refused
          }
        } catch {
          return .foreign
        }
      }
    }
    switch try oauth({ () throws(OAuthError) in try read(query) }) {
    case .code(let code): return SharedSecret(code)
    case .refused(let error, _):
      // The query says it as a form's body would: the catalogue reads it.
      let refusal = query.withBytes { query in
        ErrorCatalogue(provider).classify(
          status: 400, body: query, from: .authorize, now: network.clock.now(), canRenew: false)
      }
      throw .vault(
        VaultError(
          signIn: refusal ?? Classification(.config, status: nil, rule: .standard),
          at: "the sign-in", provider, named: error))
    }
  }

  /// What the person typed of the provider's page.
  func typed() async throws(SignInFailure) -> SharedSecret {
    guard let ask = place.askPIN else {
      throw .vault(
        VaultError(
          .locked, "there is no terminal to type the provider's number at",
          hint: "vault help sign-in"))
    }
    let deadline = plan.deadline
    return try await person { await ask(deadline) }
  }
}
