import Accounts
public import Faults
import HTTPTypes
import Ledger
import OAuth
import Providers
import Sodium
import Store
import Time

/// What an app shows to get a token of its own by Reverse Auth.
public enum ReverseAuthorization: ~Copyable, Sendable {
  /// The app's own client is in the vault, which takes both steps.
  case ownClient
  /// The app took the first step itself, with a secret that the vault never sees: its client's id, and
  /// the answer, byte for byte.
  case prepared(clientID: String, Secret)
}

extension Session {
  /// Gets an app a token of its own client for an account of the vault, through the account's token:
  /// what Twitter called Reverse Auth (PROVIDERS section 4.1).
  ///
  /// The account's token never leaves, and the new one can do no more than the app was granted at the
  /// provider. The app needs a live grant of `permissions`, or of anything where none are named; the
  /// hand-out is in the ledger before anything is sent.
  ///
  /// - Throws: ``VaultError``: as ``token(app:account:permissions:strictly:renews:seenBy:)`` for
  ///   the grant; `config` for a provider without Reverse Auth or an app without a client of its
  ///   own; what the provider's refusal means.
  public func reverseAuthorization(
    app: String, account text: String, permissions: [String] = [],
    _ given: consuming ReverseAuthorization = .ownClient, over network: Network
  ) async throws(VaultError) -> AccessToken {
    let account = try account(text)
    let provider = try provider(account.type)
    guard let first = provider.endpoint(.requestToken), let second = provider.endpoint(.reverseAuth)
    else {
      throw VaultError(
        .config, "\(provider.name) has no Reverse Auth",
        hint: "vault show-provider \(provider.id)")
    }
    let app = try self.app(app)
    let holder = try vaultsOwnClient(of: account)
    let access = try access(to: account, clientID: holder, over: network).0
    var target: RegisteredClient?
    var targetID = ""
    var answer: SharedSecret?
    switch consume given {
    case .ownClient:
      guard let reference = app.client(for: account.type) else {
        throw VaultError(
          .config, "app \(app.id) has no client of its own of type \(account.type)",
          hint: "vault add-app \(app.id) --name NAME --client \(account.type):CLIENT_ID")
      }
      let client = try registeredClient(reference)
      target = client
      targetID = client.client.clientID
    case .prepared(let clientID, let secret):
      targetID = clientID
      answer = SharedSecret(secret.bytes.copy())
    }
    try recordHandOut(app.id, account, permissions, of: targetID)
    if let target {
      answer = try await reverseAnswer(at: first, by: target, provider, network)
    }
    guard let answer else { throw .signInInterrupted }
    let reply = try await reverseToken(
      at: second, for: targetID, answer, by: access, provider, network)
    return try Self.reversedToken(reply, account, targetID, provider)
  }

  /// The client that the account itself is signed in with: the type's default where it has a
  /// credential, else the only one.
  private func vaultsOwnClient(of account: Account) throws(VaultError) -> String {
    let clients = try store.read { () throws(VaultError) in
      try Records(store).clients(of: account.type)
    }
    if let standard = clients.first(where: \.isDefault)?.clientID,
      account.clients.contains(where: { same($0, standard) })
    {
      return standard
    }
    guard let only = account.clients.first else {
      throw VaultError(
        .signIn, "account \(ProviderText.name(account.label)) has no credential",
        hint: signInHint(account))
    }
    return only
  }

  /// Refuses an app that was not granted this, and writes down that a token is got for it.
  private func recordHandOut(
    _ app: String, _ account: Account, _ permissions: [String], of clientID: String
  ) throws(VaultError) {
    let lines = try access(app: app, account: account.id.text, permissions: permissions)
    let isLive =
      permissions.isEmpty
      ? lines.contains { $0.state == .granted } : lines.allSatisfy { $0.state == .granted }
    guard isLive else {
      let refused = lines.filter { $0.state != .granted }
      let gravest = [PermissionState.denied, .revoked, .lapsed].first { state in
        refused.contains { $0.state == state }
      }
      try store.write { () throws(VaultError) in
        _ = try record(
          .useRefused, app: app, account: account, permissions: permissions,
          reason: "reverse authorization")
      }
      throw .standing(
        gravest ?? .never, app: app, permissions: refused.map(\.permission), account: account)
    }
    try store.write { () throws(VaultError) in
      _ = try record(
        .tokenUsed, app: app, account: account, permissions: permissions,
        reason: "reverse authorization", details: [Entry.Detail("client", clientID)])
    }
    try store.publishHead()
  }

  /// The first step: the provider's permission for the app's client. Its body is opaque, and goes into
  /// the second step byte for byte.
  private func reverseAnswer(
    at address: String, by target: RegisteredClient, _ provider: Provider, _ network: Network
  ) async throws(VaultError) -> SharedSecret {
    let reply: EndpointReply
    do throws(OAuthError) {
      guard let secret = target.secret else { throw .insecure("no client secret") }
      let url = try RequestURL(address)
      let signer = try network.signer(of: provider, clientSecret: secret)
      reply = try await network.exchange(with: url, at: .token, of: provider) {
        (time) throws(OAuthError) in
        try OAuth1.reverseAuthorization(at: url, by: target.signing(), signer, .at(time))
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    return try Self.body(of: reply, at: "the first step of Reverse Auth", provider)
  }

  private func reverseToken(
    at address: String, for targetID: String, _ answer: SharedSecret, by access: Access,
    _ provider: Provider, _ network: Network
  ) async throws(VaultError) -> SharedSecret {
    let reply: EndpointReply
    do throws(OAuthError) {
      guard let secret = access.clientSecret, let tokenSecret = access.tokenSecret else {
        throw .insecure("no client secret")
      }
      let url = try RequestURL(address)
      let signer = try network.signer(of: provider, clientSecret: secret)
      reply = try await network.exchange(with: url, at: .token, of: provider) {
        (time) throws(OAuthError) in
        try OAuth1.reverseToken(
          at: url, for: targetID, answer.bytes,
          by: SigningCredentials(
            clientID: access.clientID, clientSecret: secret.bytes.copy(),
            token: access.accessToken.bytes.copy(), tokenSecret: tokenSecret.bytes.copy()),
          signer, .at(time))
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    return try Self.body(of: reply, at: "the second step of Reverse Auth", provider)
  }

  private static func body(
    of reply: EndpointReply, at what: String, _ provider: Provider
  ) throws(VaultError) -> SharedSecret {
    guard let response = reply.response, reply.refusal == nil else {
      throw VaultError(
        signIn: reply.refusal ?? .noReply, at: what, provider, response: reply.response,
        failure: reply.failure)
    }
    return response.body
  }

  private static func reversedToken(
    _ body: SharedSecret, _ account: Account, _ clientID: String, _ provider: Provider
  ) throws(VaultError) -> AccessToken {
    let response: TokenResponse
    do throws(ResponseError) {
      response = try body.withBytes { (body) throws(ResponseError) in
        try TokenResponse.parse(body, for: provider, at: Timestamp(seconds: 0))
      }
    } catch {
      throw VaultError(refusing: error, by: provider)
    }
    // Somebody else's token is nobody's business here.
    if let own = account.userID, let found = response.userID, !same(own, found) {
      throw VaultError(
        .wrongUser,
        "\(provider.name) gave a token of user \(ProviderText.name(found)), not of"
          + " \(ProviderText.name(account.label))")
    }
    var tokenSecret: Secret?
    switch response.tokenSecret {
    case .some(let secret): tokenSecret = Secret(secret.copy())
    case .none: break
    }
    return AccessToken(
      secret: Secret(response.accessToken.copy()), tokenSecret: tokenSecret.take(),
      tokenType: "oauth1", expiry: Expiry(response.expiry), account: account.id,
      clientID: clientID)
  }
}
