import Accounts
import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium
import Store

extension Session {
  /// The client that the token will be of: the named one, else the app's own, else the type's default;
  /// where the server gives clients to whoever asks and the vault has none, a new one.
  func client(
    for request: SignInRequest, _ subject: SignInSubject, _ network: Network, _ place: SignInPlace
  ) async throws(VaultError) -> RegisteredClient {
    let type = subject.type
    if let reference = try reference(for: request, type) {
      return try registeredClient(reference)
    }
    let missing = VaultError(
      .notFound, "there is no client of type \(type): a sign-in needs a registration there",
      hint: "vault add-client --type \(type) --client-id ID --client-secret-stdin")
    guard let address = subject.provider.endpoint(.register) else { throw missing }
    var isWanted = request.registers
    if !isWanted, let mayRegister = place.mayRegister {
      isWanted = try mayRegister(subject.provider.name + " at " + type)
    }
    guard isWanted else {
      throw VaultError(.notFound, missing.message, hint: "vault sign-in ACCOUNT --register")
    }
    return try await register(at: address, subject, over: network)
  }

  private func reference(
    for request: SignInRequest, _ type: String
  ) throws(VaultError) -> ClientReference? {
    if let named = request.client ?? nil {
      // As `vault clients` shows it, or the id alone.
      if let reference = ClientReference(named), same(reference.type, type) { return reference }
      return ClientReference(type: type, clientID: named)
    }
    if let app = request.app, let own = try self.app(app).client(for: type) { return own }
    let clients = try store.read { () throws(VaultError) in try Records(store).clients(of: type) }
    return clients.first(where: \.isDefault)?.reference
  }

  /// Asks the server for a client of its own and keeps it.
  private func register(
    at address: String, _ subject: SignInSubject, over network: Network
  ) async throws(VaultError) -> RegisteredClient {
    let provider = subject.provider
    let redirect = "http://127.0.0.1/"
    let reply: EndpointReply
    do throws(OAuthError) {
      let url = try RequestURL(address)
      reply = try await network.exchange(with: url, at: .token, of: provider) {
        (_) throws(OAuthError) in
        try AppRegistration.request(
          at: url, name: "AccountVault", redirects: [redirect, SignInFlow.codeForTyping],
          scopes: provider.registeredScopes)
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    guard let response = reply.response, reply.refusal == nil else {
      throw VaultError(
        signIn: reply.refusal ?? .noReply, at: "the registration", provider,
        response: reply.response, failure: reply.failure)
    }
    let registration: AppRegistration
    do throws(OAuthError) {
      registration = try response.body.withBytes { (body) throws(OAuthError) in
        try AppRegistration(body)
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    var secret: Secret?
    switch registration.clientSecret {
    case .some(let given): secret = Secret(given.copy())
    case .none: break
    }
    let client = try addClient(
      type: subject.type, clientID: registration.clientID, secret: secret.take(),
      name: "AccountVault", redirect: redirect)
    return try registeredClient(client.reference)
  }
}

extension Provider {
  /// What a registration may ask for later: all that apps may read and write. Names beneath another in
  /// the tree come with that one; basic ones newer than the server would fail the whole.
  fileprivate var registeredScopes: [String] {
    permissions.filter { permission in
      guard permission.group != .extended, !permission.name.hasSuffix(".*") else { return false }
      guard let mark = scopeTree else { return true }
      return !permission.name.contains(mark) && !permission.isBasic
    }.map(\.name)
  }
}
