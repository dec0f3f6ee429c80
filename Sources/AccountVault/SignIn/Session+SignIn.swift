import Accounts
public import Faults
import OAuth
import Providers
import Sodium
import Store
import Time

extension Session {
  /// Signs a person in at a provider and puts the token into the vault.
  ///
  /// Nothing is written before the provider's whole answer is there, read and checked: who it belongs
  /// to, and what was granted. What ends before leaves the account as it was. One thing is kept all the
  /// same: a client that was registered on the way, since the server has it.
  ///
  /// - Throws: ``VaultError``: `denied`, the person's no; `wrongUser`, the sign-in came back as somebody
  ///   else; `tryAgain`, interrupted, too late or trouble on the way; `config`; `signIn`, the provider
  ///   refused; `notFound`, `ambiguous`, `usage`, `locked` for what was asked of this method.
  public func signIn(
    _ request: SignInRequest, over network: Network, at place: SignInPlace
  ) async throws(VaultError) -> SignInOutcome {
    guard !options.isLooking else {
      throw VaultError(
        .usage, "this session was opened to look only, and signs nobody in",
        hint: "unlock the vault without looking")
    }
    guard (1...SignInRequest.longest).contains(request.seconds) else {
      throw VaultError(
        .usage, "a sign-in waits from 1 to \(SignInRequest.longest) seconds",
        hint: "vault help sign-in")
    }
    let subject = try signInSubject(request.subject)
    let way = try way(of: request, subject.provider, at: place)
    let client = try await client(for: request, subject, network, place)
    let scopes = try scopes(for: request, subject, client.client)
    try check(way, client, subject.provider, at: place)
    let server = try await network.server(
      of: subject.provider, needing: subject.provider.addresses(for: way))
    let plan = SignInPlan(
      provider: subject.provider, server: server, client: client, scopes: scopes,
      accessType: try accessType(for: request, subject.provider), way: way,
      accountLabel: subject.known?.label, seconds: request.seconds,
      deadline: network.clock.sinceBoot() + request.seconds * 1_000_000_000)
    let reply = try await SignInFlow(network: network, place: place, plan: plan).run()
    return try await take(reply, of: plan, for: subject, over: network)
  }

  /// Whose sign-in it is, as the vault knows them now.
  struct SignInSubject {
    let provider: Provider
    let known: Account?
    let new: NewAccount?

    var type: String { known?.type ?? new?.type ?? "" }
  }

  private func signInSubject(_ subject: SignInRequest.Subject) throws(VaultError) -> SignInSubject {
    switch subject {
    case .account(let text):
      let account = try account(text)
      return SignInSubject(provider: try provider(account.type), known: account, new: nil)
    case .new(let new):
      let located = try located(new)
      let provider = try completeProvider(
        located.type, command: "vault add-account --type TYPE --sign-in")
      return SignInSubject(provider: provider, known: nil, new: located)
    }
  }

  // MARK: How

  private func way(
    of request: SignInRequest, _ provider: Provider, at place: SignInPlace
  ) throws(VaultError) -> SignInWay {
    if let way = request.way { return way }
    let hasDevice = provider.protocol == .oauth2 && provider.endpoint(.device) != nil
    if place.listen == nil, hasDevice { return .device }
    return place.listen == nil && place.askPIN != nil ? .pin : .browser
  }

  private func check(
    _ way: SignInWay, _ client: RegisteredClient, _ provider: Provider, at place: SignInPlace
  ) throws(VaultError) {
    switch way {
    case .browser:
      guard client.client.redirect != SignInFlow.codeForTyping else {
        throw VaultError(
          .usage,
          "client \(ProviderText.name(client.client.clientID)) is registered for a code to"
            + " type, not for a browser that comes back", hint: "vault sign-in ACCOUNT --pin")
      }
    case .device:
      guard provider.protocol == .oauth2,
        provider.endpoint(.device) != nil || provider.issuer != nil
      else {
        throw VaultError(
          .usage, "\(provider.name) has no device sign-in", hint: "vault sign-in ACCOUNT --browser")
      }
    case .pin:
      let hasPage =
        provider.protocol == .oauth1 || provider.endpoint(.register) != nil
        || client.client.redirect == SignInFlow.codeForTyping
      guard hasPage else {
        throw VaultError(
          .usage, "\(provider.name) shows no number to type",
          hint: "vault sign-in ACCOUNT "
            + (provider.endpoint(.device) == nil ? "--browser" : "--device"))
      }
      guard place.askPIN != nil else {
        throw VaultError(
          .locked, "there is no terminal to type the provider's number at",
          hint: "vault sign-in ACCOUNT --browser")
      }
    }
    if provider.protocol == .oauth1, client.secret == nil {
      throw VaultError(
        .config, "client \(ProviderText.name(client.client.clientID)) has no secret to sign with",
        hint: "vault remove-client \(ShellText.quoted(client.client.reference.description))")
    }
  }

  // MARK: What is asked for

  /// The scopes to ask for, in the provider's own names.
  ///
  /// What the owner names is taken as it is; else what the credential had, with what the app was
  /// granted; else the one basic permission. To these comes what the provider wants for telling whose
  /// token it is, and what every sign-in there asks for.
  private func scopes(
    for request: SignInRequest, _ subject: SignInSubject, _ client: Client
  ) throws(VaultError) -> [String] {
    let provider = subject.provider
    var names: [String] = []
    for name in request.permissions where !names.contains(name) {
      _ = try permission(name, of: provider)
      names.append(name)
    }
    // Levels and installations are decided at the provider, and no request names them.
    guard provider.asksByScope else { return [] }
    if names.isEmpty { names = try heldScopes(request, subject, client) }
    if names.isEmpty, provider.identity.scopes.isEmpty, let basic = provider.basicPermission {
      names = [basic]
    }
    // Whose token it is must be known.
    for name in provider.identity.scopes where !provider.covers(name, by: names) {
      names.append(name)
    }
    for name in provider.alwaysScopes.reversed() where !names.contains(name) {
      names.insert(name, at: 0)
    }
    return names
  }

  /// What OAuth 1.0a, which knows no scopes, can ask for: only to read, or to read and write, by the
  /// groups of what the owner names. Nil where the owner names nothing or what neither of the two
  /// gives: the client gets what it is registered for.
  private func accessType(
    for request: SignInRequest, _ provider: Provider
  ) throws(VaultError) -> String? {
    guard provider.protocol == .oauth1, !provider.scopeParameter.isEmpty,
      !request.permissions.isEmpty
    else { return nil }
    var type = "read"
    for name in request.permissions {
      switch try permission(name, of: provider).group {
      case .read: continue
      case .write: type = "write"
      case .extended: return nil
      }
    }
    return type
  }

  private func heldScopes(
    _ request: SignInRequest, _ subject: SignInSubject, _ client: Client
  ) throws(VaultError) -> [String] {
    guard let known = subject.known else { return [] }
    return try store.read { () throws(VaultError) in
      let records = Records(store)
      var names = try records.credential(known.id, client: client.clientID)?.0.scopes ?? []
      if let app = request.app,
        let granted = try records.grants(app: app, account: known.id)?.granted(now: now)
      {
        for name in granted.map(\.name)
        where !names.contains(name) && !subject.provider.covers(name, by: names) {
          names.append(name)
        }
      }
      return names
    }
  }
}

extension Provider {
  /// Whether a sign-in names what it wants.
  fileprivate var asksByScope: Bool {
    `protocol` == .oauth2 && granted.source != .installations
  }

  /// What a first sign-in asks for where nobody named anything.
  fileprivate var basicPermission: String? {
    asks.addBasic ?? permissions.first { $0.isBasic && !$0.name.hasSuffix(".*") }?.name
  }

  /// The addresses that a sign-in needs.
  fileprivate func addresses(for way: SignInWay) -> [EndpointName] {
    if `protocol` == .oauth1 { return [.requestToken, .authorize, .token] }
    switch way {
    case .browser, .pin: return [.authorize, .token]
    case .device: return deviceStyle == .facebook ? [.device, .deviceStatus] : [.device, .token]
    }
  }
}
