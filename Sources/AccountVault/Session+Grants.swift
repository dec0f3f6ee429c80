public import Faults
public import Accounts
import Encoding
import Ledger
import Providers
import Store

/// What the owner decides about an app on an account.
public struct Decision: Sendable {
  /// The app's id; one that the vault does not know is recorded without a key.
  public var app: String
  /// Names as the provider writes them; empty only to take everything back.
  public var permissions: [String]
  /// As a person would name it; nil for the one account that fits.
  public var account: String?
  /// Who sees what is written; nil for the narrowest.
  public var audience: Audience?
  /// When a grant ends; nil for a grant without an end.
  public var until: Timestamp?
  /// The owner's own words, kept in the ledger.
  public var reason: String?

  /// A decision; nothing happens before it is given to ``Session/grant(_:)``, ``Session/deny(_:)``
  /// or ``Session/revoke(_:)``.
  public init(
    app: String, permissions: [String], account: String? = nil, audience: Audience? = nil,
    until: Timestamp? = nil, reason: String? = nil
  ) {
    self.app = app
    self.permissions = permissions
    self.account = account
    self.audience = audience
    self.until = until
    self.reason = reason
  }
}

/// What a decision did.
public struct DecisionOutcome: Sendable {
  /// The app's id.
  public let app: String
  /// The account that was meant.
  public let account: Account
  /// What was decided about, each name once.
  public let permissions: [String]
  /// The audience of the write permissions among them.
  public let audience: Audience?
  /// When the grant ends.
  public let until: Timestamp?
  /// The ledger's entries that record it.
  public let entries: [UInt64]
  /// The app was unknown and was recorded, without a key.
  public let recordedApp: Bool
  /// Nobody named an audience, so the narrowest was taken.
  public let assumedAudience: Bool
  /// What becomes of the token of a client that no app uses any more: it is over here, and is to be
  /// revoked at the provider. Nil where there is none.
  public let revocation: RevocationNotice?
  /// The client whose credential was dropped with the last grant of the one app that used it.
  public let droppedClient: String?
}

extension Session {
  /// Grants permissions: the owner's own decision, which no order of asking binds.
  ///
  /// A write permission without an audience is granted for `only_me`. An unknown app is recorded
  /// without a key.
  ///
  /// - Throws: ``VaultError``: `usage` for unknown permissions or an end that lies in the past;
  ///   `notFound`, `ambiguous` for the account. Nothing is changed then.
  public func grant(_ decision: Decision) throws(VaultError) -> DecisionOutcome {
    if let until = decision.until, until <= now {
      throw VaultError(
        .usage, "the grant would end at \(until), which is over", hint: "vault help grant")
    }
    return try decide(decision, .granted)
  }

  /// Denies permissions, whatever was decided before.
  public func deny(_ decision: Decision) throws(VaultError) -> DecisionOutcome {
    try decide(decision, .denied)
  }

  /// Takes permissions back; without names, everything that is granted (the switch in Settings).
  ///
  /// Where the app has a client of its own, no other uses it, and nothing is left that the app may do,
  /// the credential of that client goes as well, and its tokens are to be revoked at the provider: a
  /// token that was handed out would live on otherwise.
  public func revoke(_ decision: Decision) throws(VaultError) -> DecisionOutcome {
    try decide(decision, .revoked)
  }

  private func decide(_ decision: Decision, _ event: Event) throws(VaultError) -> DecisionOutcome {
    try Session.checkAppID(decision.app)
    if let reason = decision.reason { try Session.checkName(reason, "reason") }
    guard event == .revoked || !decision.permissions.isEmpty else {
      throw VaultError(
        .usage, "no permission is named", hint: "vault help \(event == .denied ? "deny" : "grant")")
    }
    return try store.write { () throws(VaultError) in
      let records = Records(store)
      let app = try knownApp(decision.app)
      if app == nil, event == .revoked { _ = try findApp(decision.app) }
      let account = try account(for: decision, isRevoking: event == .revoked)
      let provider = try provider(account.type)
      let old =
        try records.grants(app: decision.app, account: account.id)
        ?? GrantSet(app: decision.app, account: account.id)
      let permissions = try permissions(for: decision, old, provider)
      let (audience, assumed) = try audience(of: decision, permissions, provider, event)
      if app == nil {
        try records.put(
          App(id: decision.app, name: decision.app, createdAt: now), day: today)
        try record(.appAdded, app: decision.app, reason: "recorded by a decision, without a key")
      }
      try recordLapses(old, account: account)
      let dropped =
        event == .revoked
        ? try ownClient(of: app, leftBy: permissions, in: old, on: account) : nil
      let entry = try record(
        event, app: decision.app, account: account, permissions: permissions.map(\.name),
        audience: audience, until: event == .granted ? decision.until : nil,
        reason: decision.reason,
        details: dropped.map { [Entry.Detail("credential_dropped", $0)] } ?? [])
      let made = GrantDecision(by: .person, at: now, entry: entry, reason: decision.reason)
      let base = try records.grants(app: decision.app, account: account.id) ?? old
      let set = base.applying(
        event, permissions, audience: audience, until: decision.until, made)
      try records.put(set, day: today)
      try closeAsks(answeredBy: set, account: account)
      return DecisionOutcome(
        app: decision.app, account: account, permissions: permissions.map(\.name),
        audience: audience, until: decision.until, entries: [entry], recordedApp: app == nil,
        assumedAudience: assumed,
        revocation: try dropped.flatMap { (client) throws(VaultError) in
          try drop(ownClient: client, of: account)
        }, droppedClient: dropped)
    }
  }

  /// The account that a decision is about: the named one; else the one whose type knows all the
  /// permissions (for a revocation without names: the one that the app holds something on).
  private func account(for decision: Decision, isRevoking: Bool) throws(VaultError) -> Account {
    if let text = decision.account { return try find(text) }
    var fitting: [Account] = []
    if isRevoking {
      try Records(store).forEachGrantSet { (set) throws(VaultError) in
        guard set.app == decision.app else { return true }
        let held = set.standings.filter { $0.decision == .granted }.map(\.name)
        let fits =
          decision.permissions.isEmpty
          ? !held.isEmpty : decision.permissions.allSatisfy(held.contains)
        if fits, let account = try Records(store).account(set.account) { fitting.append(account) }
        return fitting.count < 21
      }
    }
    if fitting.isEmpty, !decision.permissions.isEmpty {
      fitting = try accounts(knowing: decision.permissions)
    }
    guard let first = fitting.first else {
      throw .noAccount(
        for: decision.app, permissions: decision.permissions,
        hasAccounts: store.state[.account].rows > 0)
    }
    guard fitting.count == 1 else {
      throw .ambiguousAccount(fitting, "\(fitting.count) accounts fit")
    }
    return first
  }

  /// The accounts whose type knows all of these permissions; no more than a person wants to read.
  func accounts(knowing names: [String]) throws(VaultError) -> [Account] {
    var knows: [String: Bool] = [:]
    var fitting: [Account] = []
    var unknown: [String: String] = [:]
    try Records(store).forEachAccount { (account) throws(VaultError) in
      if knows[account.type] == nil {
        let provider = try provider(account.type)
        knows[account.type] = names.allSatisfy { provider.permission(named: $0) != nil }
        if let name = names.first(where: { provider.permission(named: $0) == nil }) {
          unknown[provider.id] = provider.refusal(of: name)
        }
      }
      if knows[account.type] == true { fitting.append(account) }
      return fitting.count < 21
    }
    // Where no account's type knows them, the name is what is wrong, not the account; the type with a
    // name near to it is the one that was meant.
    let refusals = unknown.sorted { $0.key < $1.key }
    if fitting.isEmpty,
      let (type, text) = refusals.first(where: { $0.value.contains("; near it: ") })
        ?? refusals.first
    {
      throw VaultError(.usage, text, hint: "vault show-provider \(type)")
    }
    return fitting
  }

  private func permissions(
    for decision: Decision, _ old: GrantSet, _ provider: Provider
  ) throws(VaultError) -> [Permission] {
    if decision.permissions.isEmpty {
      return old.standings.filter { $0.decision == .granted }.map(\.permission)
    }
    var permissions: [Permission] = []
    for name in decision.permissions where !permissions.contains(where: { $0.name == name }) {
      permissions.append(try permission(name, of: provider))
    }
    return permissions
  }

  private func audience(
    of decision: Decision, _ permissions: [Permission], _ provider: Provider, _ event: Event
  ) throws(VaultError) -> (Audience?, assumed: Bool) {
    guard event == .granted else { return (nil, false) }
    let writes = permissions.contains { $0.group == .write }
    if provider.asks.audience == .refused {
      guard decision.audience == nil else {
        throw VaultError(
          .usage, "\(provider.id) takes no audience", hint: withoutAudience(decision))
      }
      return (nil, false)
    }
    guard writes else {
      guard decision.audience == nil else {
        throw VaultError(
          .usage, "an audience belongs to write permissions, and none of these is one",
          hint: withoutAudience(decision))
      }
      return (nil, false)
    }
    if let named = decision.audience { return (named, false) }
    if provider.asks.audience == .optional { return (nil, false) }
    return (.onlyMe, true)
  }

  private func withoutAudience(_ decision: Decision) -> String {
    "vault grant --app \(decision.app) --perms \(decision.permissions.joined(separator: ","))"
      + (decision.account.map { " --account \(ShellText.quoted($0))" } ?? "")
  }

  /// Puts lapses that were only computed into the ledger, before something else is decided.
  func recordLapses(_ set: GrantSet, account: Account) throws(VaultError) {
    let lapsed = set.unrecordedLapses(now: now)
    guard !lapsed.isEmpty else { return }
    let names = lapsed.map(\.name)
    let entry = try record(.lapsed, app: set.app, account: account, permissions: names)
    try Records(store).put(set.lapsing(names, entry: entry), day: today)
  }

  // MARK: Looking

  /// One permission of an app on an account.
  public struct AccessLine: Sendable {
    /// The app's id.
    public let app: String
    /// The account that it is about.
    public let account: Account
    /// The permission's name.
    public let permission: String
    /// The group of the permission.
    public let group: PermissionGroup
    /// The answer at the time of asking.
    public let state: PermissionState
    /// What was decided; nil where nobody has.
    public let standing: PermissionStanding?
  }

  /// What an app may do: for the named permissions, or for all that were ever decided.
  ///
  /// - Parameter accountText: One account; nil for all on which anything was decided.
  /// - Throws: ``VaultError``: `notFound`, `ambiguous`, `usage`; `neverAsked` where an app looks.
  public func access(
    app id: String, account accountText: String? = nil, permissions: [String] = [],
    seenBy view: View = .owner
  ) throws(VaultError) -> [AccessLine] {
    try store.read { () throws(VaultError) in
      _ = try findApp(id)
      var lines: [AccessLine] = []
      for (account, set) in try grantSets(
        of: id, account: accountText, permissions: permissions, seenBy: view)
      {
        let provider = try provider(account.type)
        let names = permissions.isEmpty ? set.standings.map(\.name) : permissions
        for name in names {
          let standing = set.standing(of: name)
          let group: PermissionGroup
          if let standing {
            group = standing.group
          } else {
            group = try permission(name, of: provider).group
          }
          lines.append(
            AccessLine(
              app: id, account: account, permission: name, group: group,
              state: set.state(of: name, now: now), standing: standing))
        }
      }
      return lines
    }
  }

  private func grantSets(
    of id: String, account text: String?, permissions: [String], seenBy view: View
  ) throws(VaultError) -> [(Account, GrantSet)] {
    let records = Records(store)
    if let text {
      let account = try view == .app ? find(text, seenBy: id) : find(text)
      let set = try records.grants(app: id, account: account.id)
      return [(account, set ?? GrantSet(app: id, account: account.id))]
    }
    var sets: [(Account, GrantSet)] = []
    try records.forEachGrantSet { (set) throws(VaultError) in
      if set.app == id, let account = try records.account(set.account) {
        sets.append((account, set))
      }
      return true
    }
    sets.sort { ($0.0.label, $0.0.id) < ($1.0.label, $1.0.id) }
    if permissions.isEmpty { return sets }
    var fitting: [(Account, GrantSet)] = []
    for (account, set) in sets {
      let provider = try provider(account.type)
      if permissions.allSatisfy({ provider.permission(named: $0) != nil }) {
        fitting.append((account, set))
      }
    }
    if !fitting.isEmpty { return fitting }
    if view == .app { throw .neverGranted(app: id, permissions: permissions) }
    let accounts = try accounts(knowing: permissions)
    if accounts.count > 1 { throw .neverGranted(app: id, permissions: permissions) }
    return accounts.map { ($0, GrantSet(app: id, account: $0.id)) }
  }
}

extension GrantSet {
  /// The set after a decision, as the ledger's event says it.
  func applying(
    _ event: Event, _ permissions: [Permission], audience: Audience?, until: Timestamp?,
    _ decision: GrantDecision
  ) -> GrantSet {
    switch event {
    case .granted: granting(permissions, audience: audience, until: until, decision)
    case .denied: denying(permissions, decision)
    default: revoking(permissions, decision)
    }
  }
}

extension VaultError {
  static func noAccount(for app: String, permissions: [String], hasAccounts: Bool) -> VaultError {
    if permissions.isEmpty, hasAccounts {
      return VaultError(
        .notFound, "app \(app) holds nothing on any account", hint: "vault access --app \(app)")
    }
    return VaultError(
      .notFound,
      hasAccounts ? "no account knows all of these permissions" : "the vault has no account",
      hint: hasAccounts
        ? "vault accounts" : "vault add-account --type facebook --username NAME")
  }
}
