import Accounts
package import Faults
package import OAuth
import Providers
package import Sodium
import Store

/// A client of the vault with its secret opened, for the time of one job.
package struct RegisteredClient: Sendable {
  package let client: Client
  /// Nil for a public client.
  package let secret: SharedSecret?

  /// How a client shows itself to the provider's OAuth 2.0 addresses, but for the one that shows a
  /// signed statement: ``Network/oauth2(id:secret:_:audience:time:)`` knows all ways.
  static func oauth2(
    id: String, secret: SharedSecret?, _ provider: Provider
  ) throws(OAuthError) -> OAuth2Client {
    let way = secret == nil ? nil : provider.clientAuthentication
    switch way {
    case .post: return try OAuth2Client(id: id, secret: secret?.bytes.copy(), .post)
    case .basic: return try OAuth2Client(id: id, secret: secret?.bytes.copy(), .basic)
    case .basicRaw: return try OAuth2Client(id: id, secret: secret?.bytes.copy(), .basicRaw)
    case .privateKeyJWT: throw .cannotSign("a client assertion needs the network's signatures")
    case .some(.none): return try OAuth2Client(id: id, .none)
    case nil:
      if provider.publicClientAuthentication == .basic, provider.clientAuthentication != .none {
        return try OAuth2Client(publicByBasic: id)
      }
      return try OAuth2Client(id: id, .none)
    }
  }

  /// How it signs (OAuth 1.0a), with a token where there is one already.
  ///
  /// - Throws: ``OAuthError/insecure(_:)`` for a client without a secret.
  package func signing(
    token: SharedSecret? = nil, tokenSecret: SharedSecret? = nil
  ) throws(OAuthError) -> SigningCredentials {
    guard let secret else { throw .insecure("no client secret") }
    return SigningCredentials(
      clientID: client.clientID, clientSecret: secret.bytes.copy(), token: token?.bytes.copy(),
      tokenSecret: tokenSecret?.bytes.copy())
  }
}

extension Session {
  /// A client with its secret opened.
  ///
  /// - Throws: ``VaultError``: `notFound`.
  package func registeredClient(_ reference: ClientReference) throws(VaultError)
    -> RegisteredClient
  {
    try store.read { () throws(VaultError) in
      guard let (client, row) = try Records(store).client(reference) else {
        throw VaultError(
          .notFound, "no client \(ProviderText.name(reference.description))",
          hint: "vault add-client --type \(reference.type)"
            + " --client-id \(ShellText.quoted(reference.clientID)) --client-secret-stdin")
      }
      guard client.hasSecret else { return RegisteredClient(client: client, secret: nil) }
      var secret = try store.secret(of: row, in: .client)
      try Session.unpad(&secret, of: client)
      return RegisteredClient(client: client, secret: SharedSecret(secret))
    }
  }

  private static func unpad(_ secret: inout SecretBytes, of client: Client) throws(VaultError) {
    do throws(SodiumError) {
      try secret.unpad(block: 256)
    } catch {
      throw VaultError(
        .damaged, "the secret of client \(ProviderText.name(client.reference.description))",
        hint: "vault verify", reason: .damagedRow)
    }
  }
}

extension VaultError {
  /// A request that could not be made: the client, the definition or what was asked is wrong.
  package init(unmade error: OAuthError, provider: Provider) {
    let text =
      switch error {
      case .badURL(let what): "the address of a request: \(what)"
      case .badEscape: "a % in an address or a form that no two hexadecimal digits follow"
      case .badParameter(let name): "\(ProviderText.safe(name)) cannot be sent like this"
      case .repeatedParameter(let name): "\(ProviderText.safe(name)) is there twice"
      case .cannotSign(let why): "the request could not be signed: \(ProviderText.safe(why))"
      case .insecure(let why): "\(ProviderText.safe(why))"
      case .badAnswer(let what): "\(provider.name) answered wrongly: \(ProviderText.safe(what))"
      }
    self.init(.config, text, hint: "vault show-provider \(provider.id)")
  }
}
