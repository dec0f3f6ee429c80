import Accounts
import Faults
import Ledger
import Providers
import Store
import Time

extension Session {
  /// What an app asks for when it uses an account.
  enum Purpose {
    /// To be handed the token.
    case token
    /// To have a request signed and sent for it: the token stays here.
    case signedRequest
    /// To be handed what signs a request, which it sends itself: with OAuth 2.0 that is the token.
    case signature
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

  // MARK: Which account

  /// The account that an app means: the one that it names, else the only one on which it holds these
  /// permissions, else the one that says best why it holds them on none.
  ///
  /// - Throws: ``VaultError``: `notFound` (app or account), `ambiguous`, `neverAsked`.
  func usedAccount(app: String, account text: String?, permissions: [String], seenBy view: View)
    throws(VaultError) -> Account
  {
    _ = try findApp(app)
    if let text { return try view == .app ? find(text, seenBy: app) : find(text) }
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
    if view == .app { throw .neverGranted(app: app, permissions: permissions) }
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

  /// Decides whether an app may use an account, and with which credential; nothing is written and
  /// nothing is opened.
  ///
  /// What the decision stands on is compared with one moment. The gravest objection is told: what was
  /// decided about the permissions, then what the app is, then what the token can.
  ///
  /// - Parameters:
  ///   - permissions: What it is for; of none, any live grant will do.
  ///   - purpose: An app that is sign-only may have requests signed, and is never handed a token.
  /// - Throws: ``VaultError``, as ``token(app:account:permissions:strictly:renews:seenBy:)`` does.
  func allowed(app id: String, on account: Account, permissions: [String], for purpose: Purpose)
    throws(VaultError) -> AllowedUse
  {
    let records = Records(store)
    let app = try findApp(id)
    let set = try records.grants(app: id, account: account.id)
    // One moment for all that is compared with the time.
    let decided = now
    let entries = try checkGrants(set, app: app, account: account, permissions: permissions)
    if app.signOnly, try isHandedToken(for: purpose, type: account.type) {
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

  private func isHandedToken(for purpose: Purpose, type: String) throws(VaultError) -> Bool {
    switch purpose {
    case .token: true
    case .signedRequest: false
    case .signature: try provider(type).protocol == .oauth2
    }
  }

  /// The gravest of what stands against the use.
  func checkGrants(
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
