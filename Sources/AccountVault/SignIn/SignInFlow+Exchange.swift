import Accounts
import HTTPTypes
import OAuth
import Providers
import Sodium
import Time

extension SignInFlow {
  /// The long-lived token for a short-lived one, where the provider gives that out only on request
  /// (Facebook's `fb_exchange_token`): an hour's token would be dead before any engine renews it.
  ///
  /// Whatever goes wrong here leaves the token that came: it is good, if not for long.
  func lengthened(_ reply: SignInReply) async -> SignInReply {
    guard provider.renewal.method == .exchange, plan.client.secret != nil,
      let url = plan.server.endpoints[.token], let token = shortLived(reply)
    else { return reply }
    let exchanged = try? await network.exchange(with: url, at: .renewal, of: provider) {
      (time) throws(OAuthError) in
      try OAuth2.tokenExchange(at: url, token: token.bytes, by: client(time))
    }
    guard let exchanged, exchanged.refusal == nil, let response = exchanged.response else {
      return reply
    }
    let longer = SignInReply(sentAt: exchanged.sentAt, body: response.body, proof: reply.proof)
    return isTokenResponse(longer) ? longer : reply
  }

  /// The token of a reply that ends before the provider's tokens are old enough to be renewed.
  private func shortLived(_ reply: SignInReply) -> SharedSecret? {
    reply.body.withBytes { body in
      guard let response = try? TokenResponse.parse(body, for: provider, at: reply.sentAt),
        case .at(let end) = response.expiry,
        end.seconds - reply.sentAt.seconds < provider.renewal.minimumAgeSeconds
      else { return nil }
      return SharedSecret(response.accessToken.copy())
    }
  }

  private func isTokenResponse(_ reply: SignInReply) -> Bool {
    reply.body.withBytes { body in
      (try? TokenResponse.parse(body, for: provider, at: reply.sentAt)) != nil
    }
  }
}
