import Accounts
package import OAuth
import Providers
package import Sodium
import Time

extension Network {
  /// How a client shows itself to a provider's OAuth 2.0 addresses, for one request.
  ///
  /// With `client_auth` `private_key_jwt` the secret is a private key (PEM), which signs a statement
  /// for this request alone; it names the server by its issuer, else by its token endpoint, so that no
  /// other server can use it.
  ///
  /// - Parameter time: The server's, as far as it is known.
  /// - Throws: ``OAuthError``: a missing secret, a key that cannot be read.
  package func oauth2(
    id: String, secret: SharedSecret?, _ provider: Provider, audience: String? = nil,
    time: Timestamp
  ) throws(OAuthError) -> OAuth2Client {
    guard provider.clientAuthentication == .privateKeyJWT, let secret else {
      return try RegisteredClient.oauth2(id: id, secret: secret, provider)
    }
    guard let audience = audience ?? provider.issuer ?? provider.endpoint(.token) else {
      throw .badParameter("no issuer and no token endpoint")
    }
    return try OAuth2Client(
      id: id, audience: audience, time: time, key: try signatures.assertionKey(secret.bytes))
  }

  /// The same for a client of the vault.
  package func oauth2(
    _ client: RegisteredClient, _ provider: Provider, audience: String? = nil, time: Timestamp
  ) throws(OAuthError) -> OAuth2Client {
    try oauth2(
      id: client.client.clientID, secret: client.secret, provider, audience: audience, time: time)
  }
}
