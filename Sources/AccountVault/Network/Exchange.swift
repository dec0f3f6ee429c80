package import HTTPTypes
package import OAuth
package import Providers
import Sodium
import Time

/// What came of a request to one of a provider's addresses.
package struct EndpointReply: Sendable {
  /// Our wall clock before the request that was answered was sent: lifetimes count from there.
  package let sentAt: Timestamp
  /// Nil where no reply came; ``failure`` says why.
  package let response: HTTPResponse?
  package let failure: HTTPFailure?
  /// Nil for a success.
  package let refusal: Classification?
}

extension Network {
  /// Sends a request for a credential, or about one, and reads what the answer means.
  ///
  /// It is sent once more where that is sure to do no harm and may help: with the nonce that the server
  /// asked for (RFC 9449 section 8), and with the server's time where it says that ours is off
  /// (FIELD-CASES B37). Never after a failure of the network: the first may have arrived.
  ///
  /// - Parameters:
  ///   - url: Where `make`'s requests go.
  ///   - make: Makes the request for a time, which is the server's as far as it is known. Called anew
  ///     for each try, so that nonce, time and signature are new.
  ///   - proof: The key that the token is, or will be, bound to.
  /// - Throws: ``OAuthError`` where the request cannot be made. Nothing was sent then.
  package func exchange(
    with url: RequestURL, at endpoint: Endpoint, of provider: Provider, proof: DPoP.Key? = nil,
    canRenew: Bool = true, _ make: (_ time: Timestamp) throws(OAuthError) -> CredentialRequest
  ) async throws(OAuthError) -> EndpointReply {
    try await send(
      to: url.origin, at: endpoint, of: provider, canRenew: canRenew, hasProof: proof != nil
    ) { (time) throws(OAuthError) in
      var request = try make(time)
      if let proof {
        request.proof = try DPoP.proof(
          request.method.rawValue, request.url, by: proof,
          nonce: origins.nonce(of: request.url.origin), time: time)
      }
      return HTTPRequest(request, headers: provider.headers)
    }
  }

  /// The same for any request to one origin, the pieces of whose reply `receiver` may want.
  package func send(
    to origin: String, at endpoint: Endpoint, of provider: Provider, canRenew: Bool,
    hasProof: Bool, receiver: (any HTTPReceiver)? = nil,
    _ make: (_ time: Timestamp) throws(OAuthError) -> HTTPRequest
  ) async throws(OAuthError) -> EndpointReply {
    var hadNonce = false
    var hadTime = false
    while true {
      let offset = origins.offset(of: origin)
      let sent = clock.now()
      let request = try make(sent + offset)
      let response: HTTPResponse
      do throws(HTTPFailure) {
        response = try await transport.send(request, to: receiver)
      } catch {
        return EndpointReply(sentAt: sent, response: nil, failure: error, refusal: .noReply)
      }
      let now = clock.now()
      origins.note(response, from: origin, sent: sent, received: now)
      let refusal = response.body.withBytes { body in
        ErrorCatalogue(provider).classify(
          status: response.status, headers: response.headers, body: body, from: endpoint,
          now: now, canRenew: canRenew)
      }
      if hasProof, !hadNonce, asksForNonce(response, refusal) {
        hadNonce = true
        continue
      }
      if refusal?.errorClass == .clock, !hadTime, origins.offset(of: origin) != offset {
        hadTime = true
        continue
      }
      return EndpointReply(sentAt: sent, response: response, failure: nil, refusal: refusal)
    }
  }

  private func asksForNonce(_ response: HTTPResponse, _ refusal: Classification?) -> Bool {
    guard response.header("DPoP-Nonce") != nil, [400, 401].contains(response.status) else {
      return false
    }
    if refusal?.code == "use_dpop_nonce" { return true }
    return response.headers.contains { header in
      header.name.lowercased() == "www-authenticate"
        && Challenge.parse(header.value).contains(where: \.asksForNonce)
    }
  }
}

extension HTTPRequest {
  /// A request for a credential, as it is sent. Its reply is small, and its redirects are not followed.
  ///
  /// - Parameter headers: Of the provider's definition.
  init(
    _ request: borrowing CredentialRequest, headers: [(name: String, value: String)]
  ) {
    var body = HTTPBody.none
    switch request.form {
    case .some(let form):
      body = .bytes(
        SharedSecret(form.copy()), contentType: "application/x-www-form-urlencoded")
    case .none: break
    }
    self.init(request.method.rawValue, request.url.text, headers: headers, body: body)
    if !headers.contains(where: { $0.name.lowercased() == "accept" }) {
      self.headers.append(("Accept", "application/json, application/x-www-form-urlencoded;q=0.5"))
    }
    switch request.authorization {
    case .some(let value): secretHeaders.append(("Authorization", SharedSecret(value.copy())))
    case .none: break
    }
    if let proof = request.proof { self.headers.append(("DPoP", proof)) }
    limits.body = 262_144
    limits.total = 30_000
  }
}
