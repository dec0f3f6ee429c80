import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium
import Time

extension SignInFlow {
  /// OAuth 1.0a (RFC 5849 section 2), with a callback to this machine or a number to type.
  func threeLegged() async throws(SignInFailure) -> SignInReply {
    guard plan.way == .browser else { return try await threeLegged(nil) }
    let redirects = try listen()
    do throws(SignInFailure) {
      let reply = try await threeLegged(redirects)
      await redirects.close()
      return reply
    } catch {
      await redirects.close()
      throw error
    }
  }

  private func threeLegged(_ redirects: RedirectWait?) async throws(SignInFailure) -> SignInReply {
    guard let initiate = plan.server.endpoints[.requestToken],
      let authorize = plan.server.endpoints[.authorize],
      let tokenURL = plan.server.endpoints[.token], let clientSecret = plan.client.secret
    else { throw .unmade(.insecure("no client secret")) }
    let callback = redirects.map { OAuth1.Callback.url($0.address) } ?? .pin
    let signer = try oauth { () throws(OAuthError) in
      try network.signer(of: provider, clientSecret: clientSecret)
    }
    let begun: EndpointReply
    do throws(OAuthError) {
      begun = try await network.exchange(with: initiate, at: .token, of: provider) {
        (time) throws(OAuthError) in
        try OAuth1.temporaryCredentials(
          at: initiate, callback, by: plan.client.signing(), signer, .at(time),
          further: plan.accessType.map { [(provider.scopeParameter, $0)] } ?? [])
      }
    } catch {
      throw .unmade(error)
    }
    let answer = try body(of: begun, at: "the beginning of the sign-in")
    let temporary = try oauth { () throws(OAuthError) in
      try answer.body.withBytes { (body) throws(OAuthError) in try TemporaryCredentials(body) }
    }
    let token = temporary.token
    let secret = SharedSecret(temporary.secret.copy())
    let address = try oauth { () throws(OAuthError) in
      try temporary.authorizeURL(at: authorize, further: provider.authorizeParameters)
    }
    place.show(prompt(address, port: redirects?.port))
    let verifier: SharedSecret
    if let redirects {
      await place.open(address)
      verifier = try await redirectedVerifier(redirects, token, secret)
    } else {
      verifier = try await typed()
    }
    let tokenBytes = SharedSecret(Self.bytes(token))
    let typed = verifier.withBytes { Self.text($0) }
    let reply: EndpointReply
    do throws(OAuthError) {
      reply = try await network.exchange(with: tokenURL, at: .token, of: provider) {
        (time) throws(OAuthError) in
        try OAuth1.token(
          at: tokenURL, verifier: typed,
          by: plan.client.signing(token: tokenBytes, tokenSecret: secret), signer, .at(time))
      }
    } catch {
      throw .unmade(error)
    }
    return try body(of: reply, at: "the exchange of the verifier")
  }

  private func redirectedVerifier(
    _ redirects: RedirectWait, _ token: String, _ secret: SharedSecret
  ) async throws(SignInFailure) -> SharedSecret {
    /// Nil where the person said no.
    @Sendable func read(_ query: SharedSecret) throws(OAuthError) -> SharedSecret? {
      let verifier = try query.withBytes { (query) throws(OAuthError) in
        try TemporaryCredentials(token: token, secret: secret.bytes.copy())
          .verifier(fromQuery: query)
      }
      switch consume verifier {
      case .some(let verifier): return SharedSecret(verifier)
      case .none: return nil
      }
    }
    let query = try await person {
      await redirects.answer { query in
        do throws(OAuthError) { return try read(query) == nil ? .refused : .accepted } catch {
          return .foreign
        }
      }
    }
    guard let verifier = try oauth({ () throws(OAuthError) in try read(query) }) else {
      throw .vault(
        VaultError(.denied, "the person said no at \(provider.name); nothing was changed"))
    }
    return verifier
  }

  private static func bytes(_ text: String) -> SecretBytes {
    var bytes = Array(text.utf8)
    return SecretBytes(wiping: &bytes)
  }

  private static func text(_ bytes: RawSpan) -> String {
    var units: [UInt8] = []
    for offset in 0..<bytes.byteCount {
      // A byte has no invalid form, and the offset is inside.
      units.append(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    return String(decoding: units, as: UTF8.self)
  }
}
