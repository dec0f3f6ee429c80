import Sodium
public import Faults
public import Accounts
import Time
import Encoding
import Ledger
import Providers
import Store

/// What an app is handed: the token, with what is needed to use it. Wiped when dropped.
public struct AccessToken: ~Copyable, Sendable {
  /// The token's bytes, as they go into a request.
  public let secret: Secret
  /// The second half of an OAuth 1.0a token, which signs and is never sent.
  public let tokenSecret: Secret?
  /// As the provider wrote it, such as `bearer`.
  public let tokenType: String
  /// When it ends, as far as the provider said.
  public let expiry: Expiry
  /// The account that it acts as.
  public let account: AccountID
  /// Nil where it is not known which client the token was issued to.
  public let clientID: String?

  /// Whether it is an OAuth 1.0a token, which has a secret beside it.
  public var hasTokenSecret: Bool { tokenSecret != nil }

  /// Lends the token secret to `body`, where there is one.
  public func withTokenSecret<E: Error>(_ body: (borrowing Secret) throws(E) -> Void) throws(E) {
    switch tokenSecret {
    case .some(let secret): try body(secret)
    case .none: break
    }
  }

  /// Lends the token's bytes to `body`.
  public func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try secret.withBytes(body)
  }
}

extension Session {
  /// Hands an app the token of an account, after writing the use into the ledger.
  ///
  /// The entry, and the head outside the file, are on the disk before the secret is opened; where
  /// they cannot be written nothing is released. A long-lived session records the first use of a
  /// kind in a minute and counts the rest, unless `strictly` asks for an entry each. Refusals are
  /// recorded too. A token that has expired is never handed out.
  ///
  /// - Parameters:
  ///   - account: The account that the app holds these permissions on; nil where it is the only one.
  ///   - permissions: What it is for; of none, any live grant will do.
  /// - Throws: ``VaultError``: `neverAsked`, `denied`, `revoked` (also lapsed, or narrowed at the
  ///   provider); `signIn`; `tryAgain` with reason `expired` where a renewal could help; `notFound`;
  ///   `ambiguous`; `denied` with reason `signOnly`.
  public func token(
    app: String, account: String? = nil, permissions: [String] = [], strictly: Bool = false
  ) throws(VaultError) -> AccessToken {
    guard !options.isLooking else {
      throw VaultError(
        .usage, "this session was opened to look only, and hands out nothing",
        hint: "unlock the vault without looking")
    }
    let request = DecidedUses.Request(app: app, account: account, permissions: permissions)
    if uses.hasOpen, !strictly {
      let now = self.now
      if let known = try decidedUse(request), known.holds(at: now), known.window.countOne(now: now)
      {
        return try open(known.token)
      }
      if let known = counted(request, now: now) { return try open(try known.get().token) }
    }
    try closeUseWindows(all: false)
    var refusal: (kind: UseWindows.Kind, label: String)?
    let outcome = try store.write { () throws(VaultError) -> Result<AllowedUse, VaultError> in
      let account = try usedAccount(app: app, account: account, permissions: permissions)
      do throws(VaultError) {
        let use = try allowed(app: app, on: account, permissions: permissions)
        try record(
          .tokenUsed, app: app, account: account, permissions: permissions,
          details: details(of: use, strictly: strictly))
        return .success(use)
      } catch {
        guard error.isRefusal else { throw error }
        refusal = try refuse(error, app: app, account: account, permissions: permissions)
        return .failure(error)
      }
    }
    // Only now is it in the ledger.
    if let refusal { uses.begin(refusal.kind, label: refusal.label, now: now) }
    let use = try outcome.get()
    try store.publishHead()
    if !strictly {
      note(use, uses.begin(use.kind, label: use.account.label, now: now), for: request)
    }
    return try open(use.token)
  }

  /// What was decided on an equal request, unless rows have changed since.
  private func decidedUse(_ request: DecidedUses.Request) throws(VaultError) -> DecidedUses.Use? {
    guard decided.use(request, revision: store.revision) != nil else { return nil }
    // Another process may have changed the vault: a transaction takes over what did.
    if try !store.isUnchanged() { try store.read {} }
    return decided.use(request, revision: store.revision)
  }

  /// Keeps a decision for the next equal request.
  private func note(
    _ use: AllowedUse, _ window: UseWindows.Window, for request: DecidedUses.Request
  ) {
    decided.note(
      DecidedUses.Use(token: use.token, window: window, decided: use.decided, end: use.end),
      for: request, revision: store.revision)
  }

  /// A use, or a refusal, whose like is in the ledger and that was counted; nil where something must be
  /// written first. So a flood of either writes nothing.
  private func counted(_ request: DecidedUses.Request, now: Timestamp)
    -> Result<AllowedUse, VaultError>?
  {
    try? store.read { () throws(VaultError) -> Result<AllowedUse, VaultError>? in
      let account = try usedAccount(
        app: request.app, account: request.account, permissions: request.permissions)
      do throws(VaultError) {
        let use = try allowed(
          app: request.app, on: account, permissions: request.permissions)
        guard let window = uses.count(use.kind, now: now) else { return nil }
        note(use, window, for: request)
        return .success(use)
      } catch {
        let kind = kind(
          of: error, app: request.app, account: account, permissions: request.permissions)
        return error.isRefusal && uses.count(kind, now: now) != nil ? .failure(error) : nil
      }
    }
  }

  /// A use that was allowed, its secret still sealed.
  struct AllowedUse {
    var account: Account
    var token: DecidedUses.SealedToken
    var kind: UseWindows.Kind
    /// When it was decided, and when the first thing that it relies on ends.
    var decided: Timestamp
    var end: Timestamp?
  }

  private func open(_ use: DecidedUses.SealedToken) throws(VaultError) -> AccessToken {
    let secret = try Records(store).secret(of: use.row)
    return AccessToken(
      secret: Secret(secret.accessToken.copy()),
      tokenSecret: secret.tokenSecret?.copy().asSecret(),
      tokenType: use.tokenType, expiry: use.expiry, account: use.account,
      clientID: use.clientID.isEmpty ? nil : use.clientID)
  }

  private func details(of use: AllowedUse, strictly: Bool) -> [Entry.Detail] {
    var details = [Entry.Detail("generation", String(use.kind.generation))]
    if !use.kind.client.isEmpty {
      details.append(Entry.Detail("client", use.kind.client))
    }
    if !strictly {
      details.append(Entry.Detail("any_number_until", (now + UseWindows.seconds).description))
    }
    return details
  }

  /// Writes a refusal; of one kind only the first in a minute, the rest as a count.
  ///
  /// - Returns: The kind, where it was written.
  private func refuse(
    _ error: VaultError, app: String, account: Account, permissions: [String]
  ) throws(VaultError) -> (kind: UseWindows.Kind, label: String)? {
    let kind = kind(of: error, app: app, account: account, permissions: permissions)
    if uses.count(kind, now: now) != nil { return nil }
    if let set = try Records(store).grants(app: app, account: account.id) {
      try recordLapses(set, account: account)
    }
    try record(
      .useRefused, app: app, account: account, permissions: permissions,
      reason: error.code.rawValue)
    return (kind, account.label)
  }

  private func kind(
    of error: VaultError, app: String, account: Account, permissions: [String]
  ) -> UseWindows.Kind {
    UseWindows.Kind(
      event: .useRefused, app: app, account: account.id.key, client: "", generation: 0, grants: [],
      permissions: permissions, reason: error.code.rawValue)
  }

  // MARK: Which account

  private func usedAccount(app: String, account text: String?, permissions: [String])
    throws(VaultError) -> Account
  {
    _ = try findApp(app)
    if let text { return try find(text) }
    var holding: [Account] = []
    var standing: [(account: Account, state: PermissionState)] = []
    let records = Records(store)
    try records.forEachGrantSet { (set) throws(VaultError) in
      guard set.app == app, let account = try records.account(set.account) else { return true }
      let holds =
        permissions.isEmpty
        ? !set.granted(now: now).isEmpty : set.allows(permissions, now: now)
      if holds { holding.append(account) }
      if standing.count < 21 { standing.append((account, gravest(permissions, in: set))) }
      return holding.count < 21
    }
    if holding.count == 1 { return holding[0] }
    if holding.count > 1 {
      throw .ambiguousAccount(holding, "app \(app) holds this on \(holding.count) accounts")
    }
    // Nothing is held: the account on which the gravest was decided says why.
    for state in [PermissionState.denied, .revoked, .lapsed] {
      if let found = standing.first(where: { $0.state == state }) { return found.account }
    }
    if standing.count == 1 { return standing[0].account }
    let fitting = permissions.isEmpty ? nil : try? accounts(knowing: permissions)
    if let fitting, fitting.count == 1 { return fitting[0] }
    throw .neverGranted(app: app, permissions: permissions, isKnown: fitting?.isEmpty == false)
  }

  /// The gravest state of these permissions, or of all that were ever decided.
  private func gravest(_ permissions: [String], in set: GrantSet) -> PermissionState {
    let names = permissions.isEmpty ? set.standings.map(\.name) : permissions
    let states = names.map { set.state(of: $0, now: now) }
    return [.denied, .revoked, .lapsed].first(where: states.contains) ?? .never
  }

  // MARK: May it, can it

  func allowed(app id: String, on account: Account, permissions: [String])
    throws(VaultError) -> AllowedUse
  {
    let records = Records(store)
    let app = try findApp(id)
    let set = try records.grants(app: id, account: account.id)
    // One moment for all that is compared with the time.
    let decided = now
    let entries = try checkGrants(set, app: app, account: account, permissions: permissions)
    if app.signOnly {
      throw VaultError(
        .denied, "app \(id) has its requests signed and is never handed a token",
        hint: "vault show-app \(id)", reason: .signOnly)
    }
    let (credential, row) = try credential(of: account, for: app)
    try checkState(credential, of: account)
    try checkScopes(credential, of: account, permissions: permissions)
    var ends = set?.standings.compactMap { $0.decision == .granted ? $0.until : nil } ?? []
    if case .at(let end) = credential.expiry { ends.append(end) }
    return AllowedUse(
      account: account, token: DecidedUses.SealedToken(row, credential, of: account.id),
      kind: UseWindows.Kind(
        event: .tokenUsed, app: id, account: account.id.key, client: credential.clientID,
        generation: credential.generation, grants: entries, permissions: permissions),
      decided: decided, end: ends.filter { $0 > decided }.min())
  }

  /// The gravest of what stands against the use.
  private func checkGrants(
    _ set: GrantSet?, app: App, account: Account, permissions: [String]
  ) throws(VaultError) -> [UInt64] {
    if permissions.isEmpty {
      let live = set?.granted(now: now) ?? []
      if !live.isEmpty { return live.map(\.entry) }
      let states = Set(set?.standings.map { $0.state(now: now) } ?? [])
      throw .standing(
        states.contains(.denied)
          ? .denied
          : states.contains(.revoked)
            ? .revoked
            : states.contains(.lapsed) ? .lapsed : .never,
        app: app.id, permissions: [], account: account)
    }
    var entries: [UInt64] = []
    for state in [PermissionState.denied, .revoked, .lapsed, .never] {
      let named = permissions.filter { (set?.state(of: $0, now: now) ?? .never) == state }
      if state == .never {
        // A name that the provider does not know was never anybody's to grant.
        for name in named { _ = try permission(name, of: provider(account.type)) }
      }
      if !named.isEmpty {
        throw .standing(state, app: app.id, permissions: named, account: account)
      }
    }
    for name in permissions { entries.append(set?.standing(of: name)?.entry ?? 0) }
    return entries
  }

  /// The credential of the client that the app uses: its own of this type, else the type's default,
  /// else the only one that there is, else the newest: a client that was removed leaves credentials
  /// that are as good as before.
  func credential(of account: Account, for app: App) throws(VaultError) -> (Credential, Row) {
    let records = Records(store)
    let own = app.client(for: account.type)?.clientID
    var wanted = own
    if wanted == nil { wanted = try defaultClient(of: account.type) }
    var client = wanted
    if let wanted, !account.clients.contains(wanted), own == nil { client = nil }
    if client == nil { client = try newestClient(of: account) }
    if let client, let found = try records.credential(account.id, client: client) { return found }
    let whose = client.map { " of client \(ProviderText.name($0))" } ?? ""
    throw VaultError(
      .signIn, "account \(ProviderText.name(account.label)) has no credential\(whose)",
      hint: signInHint(account))
  }

  private func newestClient(of account: Account) throws(VaultError) -> String? {
    if account.clients.count < 2 { return account.clients.first }
    var newest: Credential?
    for client in account.clients {
      guard let (credential, _) = try Records(store).credential(account.id, client: client) else {
        continue
      }
      if newest.map({ $0.obtainedAt <= credential.obtainedAt }) ?? true { newest = credential }
    }
    return newest?.clientID
  }

  private func defaultClient(of type: String) throws(VaultError) -> String? {
    let revision = store.revision(of: .client)
    if let known = lookups.defaultClient(of: type, revision: revision) { return known }
    let found = try Records(store).clients(of: type).first(where: \.isDefault)?.clientID
    lookups.note(defaultClient: found, of: type, revision: revision)
    return found
  }

  /// How an account gets a new credential.
  func signInHint(_ account: Account) -> String {
    "vault add-account --type \(account.type) --username \(ShellText.quoted(account.username))"
      + (account.userID.map { " --user-id \(ShellText.quoted($0))" } ?? "") + " --response FILE"
  }

  func checkState(_ credential: Credential, of account: Account) throws(VaultError) {
    let label = ProviderText.name(account.label)
    let again = signInHint(account)
    switch credential.state(now: now, marginSeconds: 0) {
    case .valid, .expiring: return
    case .expired:
      let provider = try provider(account.type)
      let isRefreshable = credential.refreshExpiresAt.map { now < $0 } ?? true
      if provider.renewal.method == .refreshToken, credential.hasRefreshToken, isRefreshable {
        throw VaultError(
          .tryAgain,
          "the token of \(label) expired; it can be renewed, which this version does not do by itself",
          hint: again, reason: .expired)
      }
      throw VaultError(
        .signIn, "the token of \(label) expired, and nothing can renew it", hint: again,
        reason: .expired)
    case .stale:
      // The access token is as good as it was when the backup was made; the refresh token is not.
      guard case .at(let end) = credential.expiry, now >= end else { return }
      throw VaultError(
        .signIn, "the credential of \(label) comes from a backup and its token has expired",
        hint: again)
    case .absent, .rejected, .uncertain:
      throw VaultError(
        .signIn, "the credential of \(label) is no longer good: a person must sign in",
        hint: again)
    }
  }

  /// The grant says what the app may; the scopes say what the token can.
  private func checkScopes(
    _ credential: Credential, of account: Account, permissions: [String]
  ) throws(VaultError) {
    guard let scopes = credential.scopes, !permissions.allSatisfy(scopes.contains) else { return }
    let provider = try provider(account.type)
    let missing = permissions.filter { !provider.covers($0, by: scopes) }
    guard missing.isEmpty else {
      throw VaultError(
        .revoked,
        "granted here, but the token of \(ProviderText.name(account.label)) does not have"
          + " \(missing.joined(separator: ", ")) at \(provider.name)",
        hint: "vault show-account \(account.id.text)", reason: .missingScope)
    }
  }
}

extension VaultError {
  /// An app that holds nothing of the kind on any account.
  static func neverGranted(app: String, permissions: [String], isKnown: Bool = true)
    -> VaultError
  {
    if permissions.isEmpty || !isKnown {
      let what = permissions.isEmpty ? "anything" : permissions.joined(separator: ", ")
      return VaultError(
        .neverAsked, "app \(app) was never granted \(what)", hint: "vault access --app \(app)")
    }
    return VaultError(
      .neverAsked, "app \(app) was never granted \(permissions.joined(separator: ", "))",
      hint: "vault grant --app \(app) --perms \(permissions.joined(separator: ","))")
  }

  /// Whether this is an answer to the app, and goes into the ledger. Neither a name that is not known,
  /// nor damage, nor a full disk is one: the file stays as it was.
  fileprivate var isRefusal: Bool {
    switch code {
    case .denied, .revoked, .neverAsked, .signIn: true
    case .tryAgain: reason == .expired
    default: false
    }
  }

  /// Why an app may not, with the command that lets it.
  static func standing(
    _ state: PermissionState, app: String, permissions: [String], account: Account
  ) -> VaultError {
    let names = permissions.isEmpty ? "anything" : permissions.joined(separator: ", ")
    let label = ProviderText.name(account.label)
    let perms = permissions.isEmpty ? "" : " --perms \(permissions.joined(separator: ","))"
    let grant =
      permissions.isEmpty
      ? "vault access --app \(app) --account \(account.id.text)"
      : "vault grant --app \(app)\(perms) --account \(account.id.text)"
    switch state {
    case .never, .granted:
      return VaultError(
        .neverAsked, "app \(app) was never granted \(names) on \(label)", hint: grant)
    case .denied:
      return VaultError(.denied, "app \(app) was denied \(names) on \(label)", hint: grant)
    case .revoked:
      return VaultError(.revoked, "app \(app) lost \(names) on \(label)", hint: grant)
    case .lapsed:
      return VaultError(
        .revoked, "app \(app)'s grant of \(names) on \(label) has ended", hint: grant)
    }
  }
}
