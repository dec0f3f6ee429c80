import Accounts
import Encoding
import Faults
package import HTTPTypes
import Ledger
package import Providers
import Store
import Time

/// What a provider's word changed in the vault.
package struct Taken: Sendable, Equatable {
  package enum Effect: String, Sendable {
    /// The word changes nothing here.
    case nothing
    /// It is of an older credential than the one that the vault holds now.
    case superseded
    /// It was known already.
    case known
    /// The credential is rejected; the grants stay.
    case rejected
    /// The credential is rejected, and the grants are lost on the site.
    case lostOnSite = "lost_on_site"
    /// Permissions are missing at the provider, and their grants are revoked.
    case narrowed
    /// The token may do more than was known.
    case widened
    /// Nothing but an entry: the person must act at the provider's site.
    case noted
  }

  package let effect: Effect
  /// The entries that record it.
  package let entries: [UInt64]

  init(_ effect: Effect, _ entries: [UInt64] = []) {
    self.effect = effect
    self.entries = entries
  }
}

extension Session {
  /// Takes what a provider said of a credential into the vault and its ledger, in one transaction.
  ///
  /// - `revoked`: the credential is rejected, and every live grant of the apps that use it is revoked
  ///   "on the site", with an entry for each app.
  /// - `invalid`: the credential is rejected; the grants stay, and a new sign-in brings them back.
  /// - `permission`: what is missing is revoked. A re-read (`granted`) decides what that is; without
  ///   one the names in `permissions` are believed only where the provider said so by a code or a
  ///   challenge, never on a bare 403.
  /// - `user_action`: nothing is marked, for the same token may work again; an entry tells what to do,
  ///   and the same one is not written again within an hour.
  /// - The others change nothing.
  ///
  /// - Parameters:
  ///   - generation: Of the credential that was refused. Where the vault holds another by now nothing
  ///     happens: an answer to an older token says nothing of a newer one (FIELD-CASES B46).
  ///   - permissions: What the refused request needed, where that is known.
  /// - Throws: ``VaultError``; nothing is changed then.
  @discardableResult
  package func take(
    _ refusal: Classification, body response: HTTPResponse? = nil, for account: Account,
    clientID: String, generation: Int64, permissions: [String] = [], granted: Granted? = nil
  ) throws(VaultError) -> Taken {
    switch refusal.errorClass {
    case .revoked, .invalid, .permission, .userAction: break
    case .expired, .throttled, .transient, .clock, .config, .content, .pending:
      return Taken(.nothing)
    }
    let evidence = Evidence(refusal, response)
    return try store.write { () throws(VaultError) in
      guard let held = try held(account, clientID: clientID, generation: generation) else {
        return Taken(.superseded)
      }
      let provider = try provider(account.type)
      switch refusal.errorClass {
      case .revoked:
        return try lose(
          held, reason: "the app was removed at \(provider.name)", evidence: evidence)
      case .invalid:
        return try reject(
          held, reason: "\(provider.name) no longer takes the token", evidence: evidence)
      case .permission:
        let needed = permissions + Self.named(by: refusal, response)
        if let granted {
          return try correct(held, to: granted, needed: needed, provider, evidence: evidence)
        }
        guard refusal.rule != .status, refusal.rule != .noReply, !needed.isEmpty else {
          return Taken(.nothing)
        }
        let left = (held.credential.scopes ?? []).filter { !needed.contains($0) }
        return try narrow(held, lost: needed, left: left, provider, evidence: evidence)
      default:
        return try note(
          held, reason: refusal.advice ?? "the person must act at \(provider.name)",
          evidence: evidence)
      }
    }
  }

  /// Takes in what the provider shows to be granted: what is gone is revoked, what is still there is
  /// noted as confirmed.
  @discardableResult
  package func take(
    _ granted: Granted, body response: HTTPResponse? = nil, for account: Account, clientID: String,
    generation: Int64
  ) throws(VaultError) -> Taken {
    let provider = try provider(account.type)
    let evidence = response.map { Evidence($0) }
    return try store.write { () throws(VaultError) in
      guard let held = try held(account, clientID: clientID, generation: generation) else {
        return Taken(.superseded)
      }
      return try correct(held, to: granted, needed: [], provider, evidence: evidence)
    }
  }

  /// A credential as it is in the open transaction.
  struct Held {
    var account: Account
    var credential: Credential
    var row: Row
  }

  /// Nil where the account is gone, or the credential is another one than was meant.
  func held(
    _ account: Account, clientID: String, generation: Int64
  ) throws(VaultError) -> Held? {
    let records = Records(store)
    guard let account = try records.account(account.id),
      let (credential, row) = try records.credential(account.id, client: clientID),
      credential.generation == generation
    else { return nil }
    return Held(account: account, credential: credential, row: row)
  }

  /// The scopes that a challenge says the request needed (RFC 6750 section 3.1).
  private static func named(by refusal: Classification, _ response: HTTPResponse?) -> [String] {
    guard let response, refusal.rule == .challenge else { return [] }
    var names: [String] = []
    for header in response.headers where header.name.lowercased() == "www-authenticate" {
      for challenge in Challenge.parse(header.value) where challenge.error == "insufficient_scope" {
        for parameter in challenge.parameters where parameter.name == "scope" {
          names += parameter.value.split(separator: " ").map(String.init)
        }
      }
    }
    return names
  }

  // MARK: Rejecting

  private func reject(
    _ held: Held, reason: String, evidence: Evidence
  ) throws(VaultError) -> Taken {
    if case .rejected = held.credential.mark { return Taken(.known) }
    return Taken(.rejected, [try mark(held, reason: reason, evidence: evidence)])
  }

  private func mark(
    _ held: Held, reason: String, evidence: Evidence
  ) throws(VaultError) -> UInt64 {
    var credential = held.credential
    credential.mark = .rejected(reason: reason, at: now)
    try Records(store).put(
      credential, of: held.account.id, secret: .keep, due: 0, day: today)
    return try record(
      .rejected, actor: "provider", account: held.account, reason: reason, evidence: evidence,
      details: details(of: held))
  }

  func lose(_ held: Held, reason: String, evidence: Evidence) throws(VaultError) -> Taken {
    let records = Records(store)
    var entries: [UInt64] = []
    if case .rejected = held.credential.mark {
    } else {
      entries.append(try mark(held, reason: reason, evidence: evidence))
    }
    for app in try records.apps() {
      guard let set = try records.grants(app: app.id, account: held.account.id),
        try uses(held.credential.clientID, app, on: held.account)
      else { continue }
      let names = set.granted(now: now).map(\.permission)
      guard !names.isEmpty else { continue }
      let entry = try record(
        .lostOnSite, actor: "provider", app: app.id, account: held.account,
        permissions: names.map(\.name), reason: "on the site", evidence: evidence,
        details: details(of: held))
      let decision = GrantDecision(by: .provider, at: now, entry: entry, reason: "on the site")
      try records.put(set.revoking(names, decision), day: today)
      entries.append(entry)
    }
    return entries.isEmpty ? Taken(.known) : Taken(.lostOnSite, entries)
  }

  private func details(of held: Held) -> [Entry.Detail] {
    var details: [Entry.Detail] = []
    if !held.credential.clientID.isEmpty {
      details.append(Entry.Detail("client", held.credential.clientID))
    }
    details.append(Entry.Detail("generation", String(held.credential.generation)))
    return details
  }

  // MARK: Correcting

  /// Holds what the provider shows against what is granted here and what the credential is known to
  /// have.
  private func correct(
    _ held: Held, to granted: Granted, needed: [String], _ provider: Provider, evidence: Evidence?
  ) throws(VaultError) -> Taken {
    let left = granted.granted
    let before = held.credential.scopes
    var lost = (before ?? []).filter { !provider.covers($0, by: left) }
    for name in needed where !lost.contains(name) && !provider.covers(name, by: left) {
      lost.append(name)
    }
    if before == nil {
      // What the token had was never told: what an app was granted here and is not there is gone.
      for name in try liveNames(held)
      where !lost.contains(name) && !provider.covers(name, by: left) { lost.append(name) }
    }
    try confirm(held, left, provider)
    if !lost.isEmpty {
      return try narrow(held, lost: lost, left: left, provider, evidence: evidence)
    }
    guard let before else { return Taken(.nothing) }
    let added = left.filter { !provider.covers($0, by: before) }
    guard !added.isEmpty else { return Taken(.nothing) }
    try put(held, scopes: left)
    var details = details(of: held)
    details.append(Entry.Detail("scopes_added", added.joined(separator: " ")))
    let entry = try record(
      .widened, actor: "provider", account: held.account, permissions: added, evidence: evidence,
      details: details)
    return Taken(.widened, [entry])
  }

  private func narrow(
    _ held: Held, lost: [String], left: [String], _ provider: Provider, evidence: Evidence?
  ) throws(VaultError) -> Taken {
    let present = held.credential.scopes
    let live = try liveNames(held).filter { provider.covers($0, by: lost) }
    let isNews =
      live.contains { !provider.covers($0, by: left) }
      || present?.contains { !provider.covers($0, by: left) } == true
    guard isNews else { return Taken(.known) }
    if present != nil { try put(held, scopes: left) }
    return Taken(
      .narrowed,
      try narrow(
        held.account, client: held.credential.clientID, lost: lost, left: left, provider,
        evidence: evidence))
  }

  private func put(_ held: Held, scopes: [String]) throws(VaultError) {
    var credential = held.credential
    credential.scopes = scopes
    try Records(store).put(
      credential, of: held.account.id, secret: .keep, due: held.row.due, day: today)
  }

  /// The names that apps hold live grants of through this credential.
  private func liveNames(_ held: Held) throws(VaultError) -> [String] {
    let records = Records(store)
    var names: [String] = []
    for app in try records.apps() {
      guard let set = try records.grants(app: app.id, account: held.account.id),
        try uses(held.credential.clientID, app, on: held.account)
      else { continue }
      for name in set.granted(now: now).map(\.name) where !names.contains(name) {
        names.append(name)
      }
    }
    return names
  }

  private func confirm(
    _ held: Held, _ left: [String], _ provider: Provider
  ) throws(VaultError) {
    let records = Records(store)
    for app in try records.apps() {
      guard let set = try records.grants(app: app.id, account: held.account.id),
        try uses(held.credential.clientID, app, on: held.account)
      else { continue }
      let names = set.granted(now: now).map(\.name).filter { provider.covers($0, by: left) }
      guard !names.isEmpty else { continue }
      try records.put(set.confirming(names, at: now), day: today)
    }
  }

  // MARK: Noting

  /// Writes what the person must do, unless the ledger says the same within the last hour.
  private func note(_ held: Held, reason: String, evidence: Evidence) throws(VaultError) -> Taken {
    let since = now + -3600
    var isKnown = false
    var looked = 0
    try store.forEachEntry(0..<store.state.ledgerSize, backwards: true) {
      (row) throws(VaultError) in
      looked += 1
      let entry = try LedgerRows(store).open(row)
      guard entry.time > since, looked <= 512 else { return false }
      isKnown =
        entry.event == .failed && entry.accountID == held.account.id.text
        && entry.detail("client") ?? "" == held.credential.clientID
        && entry.evidence?.isLike(evidence) == true
      return !isKnown
    }
    if isKnown { return Taken(.known) }
    return Taken(
      .noted,
      [
        try record(
          .failed, actor: "provider", account: held.account, reason: reason, evidence: evidence,
          details: details(of: held))
      ])
  }
}

extension Evidence {
  /// Whether both say the same, whatever else stood in the bodies.
  fileprivate func isLike(_ other: Evidence) -> Bool {
    `class` == other.class && code == other.code && subcode == other.subcode
      && status == other.status
  }
}
