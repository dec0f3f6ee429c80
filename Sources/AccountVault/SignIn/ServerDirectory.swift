import Faults
import HTTPTypes
package import OAuth
package import Providers
import Sodium
import Synchronization
import Time

/// What authorization servers told of themselves, by issuer. Kept in memory only: an address that was
/// changed on a server is found by the next run.
package final class ServerDirectory: Sendable {
  private let known = Mutex<[String: ServerMetadata]>([:])

  package init() {}

  func metadata(of issuer: String) -> ServerMetadata? { known.withLock { $0[issuer] } }

  func note(_ metadata: ServerMetadata, of issuer: String) {
    known.withLock { known in
      if known.count >= 256, known[issuer] == nil { known.removeAll() }
      known[issuer] = metadata
    }
  }
}

/// Where a provider does its part of a sign-in or a renewal: the definition's addresses, and what the
/// server's own document adds.
package struct SignInServer: Sendable {
  package var endpoints: [EndpointName: RequestURL] = [:]
  /// What `iss` of a redirect must be.
  package var issuer: String?
  /// Whether a redirect without `iss` is refused.
  package var sendsIssuer: Bool
  /// Whether the server takes authorization requests in no other way than pushed.
  package var requiresPush = false
}

extension Network {
  /// A provider's addresses, those of the server's own document (RFC 8414, else OpenID Connect
  /// Discovery) among them where the definition has an `issuer` and lacks one of `needed`.
  ///
  /// The definition wins, since its owner wrote it. An address of the document counts where it has the
  /// issuer's own origin, or one that the definition names anyway: a document that was changed must not
  /// lead a client's secret to a host that nobody wrote down.
  ///
  /// - Throws: ``VaultError``: `config` where one of `needed` is nowhere, or the document is wrong;
  ///   `tryAgain` where the server gives none for now.
  package func server(
    of provider: Provider, needing needed: [EndpointName]
  ) async throws(VaultError) -> SignInServer {
    var server = SignInServer(sendsIssuer: provider.sendsIssuer)
    server.issuer = provider.issuer
    for (name, text) in provider.endpoints {
      do throws(OAuthError) { server.endpoints[name] = try RequestURL(text) } catch {
        throw VaultError(unmade: error, provider: provider)
      }
    }
    if let issuer = provider.issuer, needed.contains(where: { server.endpoints[$0] == nil }) {
      let metadata = try await metadata(of: issuer, provider)
      server.issuer = metadata.issuer
      server.sendsIssuer = server.sendsIssuer || metadata.sendsIssuer
      server.requiresPush = metadata.requiresPush
      for (name, url) in metadata.addresses where server.endpoints[name] == nil {
        try check(url, of: issuer, provider)
        server.endpoints[name] = url
      }
    }
    for name in needed where server.endpoints[name] == nil {
      throw VaultError(
        .config, "\(provider.name) has no \(name.rawValue) address",
        hint: "vault show-provider \(provider.id)")
    }
    return server
  }

  private func check(
    _ url: RequestURL, of issuer: String, _ provider: Provider
  ) throws(VaultError) {
    let own = [issuer] + Array(provider.endpoints.values)
    let isNamed = own.contains { (try? RequestURL($0))?.origin == url.origin }
    guard isNamed || provider.mayReceiveToken(url.text) else {
      throw VaultError(
        .config,
        "the document of \(ProviderText.safe(issuer)) names the host \(ProviderText.safe(url.host)),"
          + " which the definition of \(provider.id) does not",
        hint: "vault show-provider \(provider.id)")
    }
  }

  private func metadata(
    of issuer: String, _ provider: Provider
  ) async throws(VaultError) -> ServerMetadata {
    if let known = directory.metadata(of: issuer) { return known }
    var failure: VaultError?
    do throws(OAuthError) {
      for url in [try ServerMetadata.url(of: issuer), try ServerMetadata.openIDURL(of: issuer)] {
        let reply = try await send(
          to: url.origin, at: .authorize, of: provider, canRenew: false, hasProof: false
        ) { (_) throws(OAuthError) in
          var request = HTTPRequest(
            "GET", url.text, headers: provider.headers.filter { $0.name.lowercased() != "accept" })
          request.headers.append(("Accept", "application/json"))
          request.limits.body = ServerMetadata.limit
          request.limits.total = 30_000
          return request
        }
        guard let response = reply.response, response.status == 200 else {
          let refused = VaultError(
            signIn: reply.refusal ?? .noReply, at: "the question for its addresses", provider,
            response: reply.response, failure: reply.failure)
          // A server that speaks only one of the two says 404 to the other.
          if failure == nil || refused.code == .tryAgain { failure = refused }
          continue
        }
        let found = try response.body.withBytes { (body) throws(OAuthError) in
          try ServerMetadata(body, issuer: issuer)
        }
        directory.note(found, of: issuer)
        return found
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    throw failure ?? .signInInterrupted
  }
}

extension ServerMetadata {
  fileprivate var addresses: [(EndpointName, RequestURL)] {
    let all: [(EndpointName, RequestURL?)] = [
      (.authorize, authorizationEndpoint), (.token, tokenEndpoint), (.device, deviceEndpoint),
      (.par, pushEndpoint), (.revoke, revocationEndpoint), (.introspect, introspectionEndpoint),
      (.userinfo, userInfoEndpoint),
    ]
    var found: [(EndpointName, RequestURL)] = []
    for (name, url) in all { if let url { found.append((name, url)) } }
    return found
  }
}
