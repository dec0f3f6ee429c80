public import Faults
import Accounts
import Time
import Encoding
import Ledger
import Providers
import Sodium
import Store

extension Session {
  /// How long a pending ask can be answered, in seconds: a week.
  static var askLifetime: Int64 { 7 * 86_400 }
  /// How many asks of one app may wait at a time: an app that asks for ever other things fills no disk.
  static var pendingLimit: Int { 32 }
  /// How long a person at a terminal has, in seconds.
  static var promptLifetime: Int64 { 300 }

  /// An app asks for permissions, by the provider's rules; only what was never decided is asked.
  ///
  /// The rules are looked at first, so a wrong ask is refused whoever is there. The ask is in the
  /// ledger before the person sees it. Having no account is not a decision and is not remembered as
  /// one; neither is an ask that was cut off, or that nobody answered.
  ///
  /// - Throws: ``VaultError``: `usage` with the reason and the command that would do; `neverAsked`
  ///   where the ask stays pending; `ambiguous`; `denied` from what was decided before.
  public func requestAccess(_ request: AccessRequest, asker: Asker) throws(VaultError)
    -> AccessOutcome
  {
    let provider = try provider(request.type)
    try Session.checkAppID(request.app)
    try closeDeadAsks()
    guard let account = try askedAccount(request, asker) else {
      try refuseByRules(request, provider, held: [])
      return AccessOutcome(
        app: request.app, type: request.type, account: nil, decision: .noAccount, granted: [],
        declined: [])
    }
    var request = request
    request.type = account.type
    let asks = try asks(of: request, on: account, provider)
    let wanted = asks.flatMap(\.permissions)
    try throwDecided(wanted, request, account)
    for ask in asks {
      let open = try store.read { () throws(VaultError) in
        let set = try Records(store).grants(app: request.app, account: account.id)
        let wanted = ask.audience.flatMap { Audience(rawValue: $0.rawValue) }
        return ask.permissions.filter { isOpen(set?.standing(of: $0), for: wanted) }
      }
      if open.isEmpty { continue }
      try put(ask, open: open, request, account, provider, asker)
      // Who may not read is not asked whether it may write: a first grant has a basic permission.
      if ask != asks.last, try !holdsAny(of: ask.permissions, request, account) { break }
    }
    return try outcome(wanted, request, account)
  }

  private func holdsAny(of names: [String], _ request: AccessRequest, _ account: Account)
    throws(VaultError) -> Bool
  {
    try store.read { () throws(VaultError) in
      let set = try Records(store).grants(app: request.app, account: account.id)
      return names.contains { set?.state(of: $0, now: now) == .granted }
    }
  }

  private func askedAccount(_ request: AccessRequest, _ asker: Asker) throws(VaultError)
    -> Account?
  {
    var accounts: [Account] = []
    if let text = request.account {
      let account = try account(text)
      guard Provider.isType(account.type, of: request.type) else {
        throw VaultError(
          .usage, "account \(ProviderText.name(account.label)) is not of type \(request.type)",
          hint: "vault accounts --type \(request.type)")
      }
      return account
    }
    var held: [Account] = []
    var denied: [Account] = []
    var granted: [String] = []
    var count = 0
    try forEachAccount(type: request.type) { (account) throws(VaultError) in
      count += 1
      let set = try Records(store).grants(app: request.app, account: account.id)
      if set?.allows(request.permissions, now: now) ?? false { held.append(account) }
      let isDenied = request.permissions.contains { set?.state(of: $0, now: now) == .denied }
      if isDenied { denied.append(account) }
      granted += set?.granted(now: now).map(\.name) ?? []
      // No more than a person wants to read.
      if !isDenied, accounts.count < 21 { accounts.append(account) }
      return held.count < 21
    }
    // A no on every account is a no.
    if accounts.isEmpty { return denied.first }
    if count == 1 { return accounts[0] }
    if held.count == 1 { return held[0] }
    // What no account allows is refused before one of them is chosen.
    try refuseByRules(request, try provider(request.type), held: granted)
    if let chosen = try asker.choose(held.isEmpty ? accounts : held) { return chosen }
    throw .ambiguousAccount(
      held.isEmpty ? accounts : held, "several accounts are of type \(request.type)")
  }

  /// The asks in their order, or the refusal with the command that would do.
  private func asks(of request: AccessRequest, on account: Account, _ provider: Provider)
    throws(VaultError) -> [AskRules.Ask]
  {
    let held = try store.read { () throws(VaultError) in
      try Records(store).grants(app: request.app, account: account.id)?.granted(now: now)
        .map(\.name) ?? []
    }
    return try refuseByRules(request, provider, held: held)
  }

  @discardableResult
  func refuseByRules(_ request: AccessRequest, _ provider: Provider, held: [String])
    throws(VaultError) -> [AskRules.Ask]
  {
    let rules = AskRules(
      provider: provider, app: request.app, account: request.account,
      permissions: request.permissions,
      group: request.group.flatMap { AskRules.Group(rawValue: $0.rawValue) },
      audience: request.audience?.rawValue, held: held)
    switch rules.rule() {
    case .asks(let asks): return asks
    case .refused(let refusal):
      // A name that there is not was never asked for: the file stays as it was.
      if case .unknownPermission = refusal.reason {
      } else {
        try recordRefusal(request, "refused: \(refusal.reason.name)")
      }
      throw VaultError(
        .usage, refusal.text, hint: refusal.nextCommand.isEmpty ? nil : refusal.nextCommand)
    }
  }

  /// Writes that an ask was against the rules; of one kind only the first in a minute, the rest as a
  /// count, and no more text than names have: an app that asks on and on must not fill the disk.
  private func recordRefusal(_ request: AccessRequest, _ reason: String) throws(VaultError) {
    let names = request.permissions.prefix(64).map { ProviderText.safe($0, limit: 120) }
    let kind = UseWindows.Kind(
      event: .accessRequested, app: request.app, account: .zero, client: request.type,
      generation: 0, grants: [], permissions: names, reason: reason)
    if uses.count(kind, now: now) != nil { return }
    try store.write { () throws(VaultError) in
      _ = try record(
        .accessRequested, actor: "app:\(request.app)", app: request.app, permissions: names,
        reason: reason)
    }
    uses.begin(kind, label: "", now: now)
  }

  /// Whether a permission is for the person to decide: nobody did, the grant has run out, or the
  /// provider took it. What the person said no to, or took back, is not asked again.
  ///
  /// A wider audience than the one that was granted is a new question.
  func isOpen(_ standing: PermissionStanding?, for wanted: Audience? = nil) -> Bool {
    guard let standing else { return true }
    switch standing.state(now: now) {
    case .never, .lapsed: return true
    case .revoked: return standing.decidedBy != .person
    case .granted: return (wanted?.width ?? 0) > (standing.audience?.width ?? .max)
    case .denied: return false
    }
  }

  /// What the person decided before stands: a no is not asked again, and the switch in Settings is a
  /// no.
  private func throwDecided(_ wanted: [String], _ request: AccessRequest, _ account: Account)
    throws(VaultError)
  {
    let set = try store.read { () throws(VaultError) in
      try Records(store).grants(app: request.app, account: account.id)
    }
    let refused = wanted.filter { name in
      let standing = set?.standing(of: name)
      return !isOpen(standing) && standing?.state(now: now) != .granted
    }
    guard !refused.isEmpty else { return }
    throw .standing(.denied, app: request.app, permissions: refused, account: account)
  }

  private func put(
    _ ask: AskRules.Ask, open: [String], _ request: AccessRequest, _ account: Account,
    _ provider: Provider, _ asker: Asker
  ) throws(VaultError) {
    let permissions = try open.map { (name) throws(VaultError) in
      try permission(name, of: provider)
    }
    let audience = ask.audience.flatMap { Audience(rawValue: $0.rawValue) }
    let pending = try store.write { () throws(VaultError) in
      try begin(ask, open: open, audience: audience, request, account, asker)
    }
    let app = try self.app(request.app)
    let question = AccessQuestion(
      app: app, account: account, providerName: provider.name, permissions: permissions,
      group: PermissionGroup(ask.group), audience: audience, added: ask.added)
    let answer: AccessAnswer
    do throws(VaultError) {
      answer = try asker.answer(question)
    } catch {
      try store.write { () throws(VaultError) in try close(pending, "the question was cut off") }
      throw error
    }
    try take(answer, to: question, pending: pending, request)
  }

  /// Writes an ask down, in the open transaction.
  ///
  /// - Parameter account: Nil where the person is to say on which.
  func begin(
    _ ask: AskRules.Ask, open: [String], audience: Audience?, _ request: AccessRequest,
    _ account: Account?, _ asker: Asker
  ) throws(VaultError) -> Ask {
    let records = Records(store)
    if try records.app(request.app) == nil {
      try records.put(App(id: request.app, name: request.app, createdAt: now), day: today)
      try record(.appAdded, app: request.app, reason: "recorded by its ask, without a key")
    }
    let waiting = try records.asks().filter { $0.app == request.app && $0.asker == nil }
    for old in waiting where old.account == account?.id && old.permissions == open {
      // The same ask again, and again nobody is there: it waits already, and the ledger has it.
      if asker.process == nil, old.audience == audience { return old }
      try store.remove(.ask, old.id)
    }
    guard waiting.count < Session.pendingLimit else {
      throw VaultError(
        .tryAgain, "app \(request.app) has \(waiting.count) asks waiting already",
        hint: "vault asks")
    }
    let lifetime = asker.process == nil ? Session.askLifetime : Session.promptLifetime
    let pending = Ask(
      id: Random.key16(), app: request.app, type: request.type, account: account?.id,
      permissions: open, group: request.group, audience: audience, askedAt: now,
      deadline: now + lifetime, asker: asker.process)
    try records.put(pending, day: today)
    try record(
      .accessRequested, actor: "app:\(request.app)", app: request.app, account: account,
      permissions: open, audience: audience)
    return pending
  }

  private func take(
    _ answer: AccessAnswer, to question: AccessQuestion, pending: Ask, _ request: AccessRequest
  ) throws(VaultError) {
    let names = question.permissions.map(\.name)
    switch answer {
    case .nobody:
      try store.write { () throws(VaultError) in
        // It waits for `grant` or `deny` from now on.
        let waiting = Ask(
          id: pending.id, app: pending.app, type: pending.type, account: pending.account,
          permissions: pending.permissions, group: pending.group, audience: pending.audience,
          askedAt: pending.askedAt, deadline: now + Session.askLifetime, asker: nil)
        try Records(store).put(waiting, day: today)
      }
      var hint =
        "vault grant --app \(request.app) --perms \(names.joined(separator: ","))"
        + " --account \(question.account.id.text)"
      if let audience = question.audience { hint += " --audience \(audience.rawValue)" }
      throw VaultError(
        .neverAsked, "nobody could be asked; the ask of app \(request.app) is pending", hint: hint)
    case .deny:
      try decide(question, granted: [], pending: pending)
    case .grant(let granted):
      try decide(question, granted: names.filter(granted.contains), pending: pending)
    }
  }

  private func decide(_ question: AccessQuestion, granted: [String], pending: Ask)
    throws(VaultError)
  {
    try store.write { () throws(VaultError) in
      let records = Records(store)
      var set =
        try records.grants(app: question.app.id, account: question.account.id)
        ?? GrantSet(app: question.app.id, account: question.account.id)
      let yes = question.permissions.filter { granted.contains($0.name) }
      let no = question.permissions.filter { !granted.contains($0.name) }
      if !yes.isEmpty {
        let entry = try record(
          .granted, app: question.app.id, account: question.account,
          permissions: yes.map(\.name), audience: question.audience)
        set = set.granting(
          yes, audience: question.audience, GrantDecision(by: .person, at: now, entry: entry))
      }
      if !no.isEmpty {
        let entry = try record(
          .denied, app: question.app.id, account: question.account, permissions: no.map(\.name))
        set = set.denying(no, GrantDecision(by: .person, at: now, entry: entry))
      }
      try records.put(set, day: today)
      try store.remove(.ask, pending.id)
    }
  }

  private func outcome(_ wanted: [String], _ request: AccessRequest, _ account: Account)
    throws(VaultError) -> AccessOutcome
  {
    let set = try store.read { () throws(VaultError) in
      try Records(store).grants(app: request.app, account: account.id)
    }
    let granted = wanted.filter { (set?.state(of: $0, now: now) ?? .never) == .granted }
    let declined = wanted.filter { set?.state(of: $0, now: now) == .denied }
    return AccessOutcome(
      app: request.app, type: request.type, account: account,
      decision: granted.isEmpty ? .denied : .granted, granted: granted, declined: declined)
  }
}

extension Audience {
  /// How many see it, as an order.
  fileprivate var width: Int {
    switch self {
    case .onlyMe: 1
    case .friends: 2
    case .everyone: 3
    }
  }
}
