import Accounts
import Encoding
import Faults
import OAuth
import Providers
import Sodium
import Time

/// A renewal that is written down and may be sent: all that is needed for it, free of the session.
struct RenewalFlight: Sendable {
  let key: Key16
  let account: Account
  let clientID: String
  let generation: Int64
  let intent: RenewalRecord.Intent
  let provider: Provider
  let client: RegisteredClient
  let way: RenewalSchedule.Way
  /// The refresh token, or the token that is exchanged.
  let token: SharedSecret
  /// The scalar of the key that the tokens are bound to.
  let proofKey: SharedSecret?
  /// Before this on `CLOCK_BOOTTIME` the request of a process that died may still be under way.
  let notBefore: Int64?
  /// Who acts, in the ledger's words.
  let actor: String
}

/// What came back.
struct RenewalAnswer: Sendable {
  let reply: EndpointReply?
  /// Why no request could be made; nothing was sent then.
  let unmade: OAuthError?
  /// Why it is not known where to send it; the token was not sent then.
  var unplaced: VaultError?
}

extension Network {
  /// Sends a renewal and waits for its answer, even where the task is cancelled meanwhile: what the
  /// provider has given by then is nowhere else.
  func send(_ flight: RenewalFlight) async -> RenewalAnswer {
    await Task { await exchange(flight) }.value
  }

  /// Redirects are not followed, and nothing is sent twice but for a nonce or a clock that the server
  /// asked for.
  ///
  /// Where the token endpoint is only in the server's own document, that is asked for first, once a
  /// process. It is asked without the token, so that a document that cannot be had spends nothing.
  private func exchange(_ flight: RenewalFlight) async -> RenewalAnswer {
    if let notBefore = flight.notBefore, notBefore > clock.sinceBoot() {
      _ = await wait(notBefore)
    }
    let server: SignInServer
    do throws(VaultError) {
      server = try await self.server(of: flight.provider, needing: [.token])
    } catch {
      return RenewalAnswer(reply: nil, unmade: nil, unplaced: error)
    }
    do throws(OAuthError) {
      guard let url = server.endpoints[.token] else {
        throw .badURL("the definition has no token endpoint")
      }
      let proof = try key(of: flight)
      var further: OAuth2.Fields = []
      if flight.provider.renewal.sendsRedirect, let redirect = flight.client.client.redirect {
        further.append(("redirect_uri", redirect))
      }
      let reply = try await exchange(
        with: url, at: .renewal, of: flight.provider, proof: proof
      ) { (time) throws(OAuthError) in
        let client = try oauth2(
          flight.client, flight.provider, audience: server.issuer ?? url.text, time: time)
        switch flight.way {
        case .exchange:
          return try OAuth2.tokenExchange(
            at: url, token: flight.token.bytes, by: client, further: further)
        default:
          return try OAuth2.refresh(
            at: url, token: flight.token.bytes, by: client, further: further)
        }
      }
      return RenewalAnswer(reply: reply, unmade: nil)
    } catch {
      return RenewalAnswer(reply: nil, unmade: error)
    }
  }

  private func key(of flight: RenewalFlight) throws(OAuthError) -> DPoP.Key? {
    guard let scalar = flight.proofKey else { return nil }
    return try signatures.proofKey(scalar.bytes)
  }
}
