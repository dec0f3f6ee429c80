import Accounts
import Encoding
public import Faults
import Providers
import Store

extension Session {
  /// An app asks for permissions where nobody can be asked now: what was decided before is told, and
  /// the rest waits for the person, by the provider's rules.
  ///
  /// The outcome names an account only where something was decided on it for this app. An ask about
  /// another one, or about one that is not there, waits like any other: so asking does not find out
  /// whose accounts are kept here. Where several accounts of the type would do and the app holds
  /// something on none, the person says on which.
  ///
  /// - Throws: ``VaultError``: `usage` with the reason; `ambiguous`, with the accounts on which the app
  ///   holds something; `tryAgain` where too many of its asks wait.
  public func ask(_ request: AccessRequest) throws(VaultError) -> AccessOutcome {
    let provider = try provider(request.type)
    try Session.checkAppID(request.app)
    try closeDeadAsks()
    var request = request
    let account: Account?
    switch try askedAccount(request, provider) {
    case .none:
      return AccessOutcome(
        app: request.app, type: request.type, account: nil, decision: .noAccount, granted: [],
        declined: [])
    case .some(let found): account = found
    }
    if let account { request.type = account.type }
    let set = try grants(of: request, on: account)
    let asks = try refuseByRules(
      request, provider, held: set.map { $0.granted(now: now).map(\.name) } ?? [])
    let wanted = asks.flatMap(\.permissions)
    let seen = set == nil ? nil : account
    let granted = wanted.filter { set?.state(of: $0, now: now) == .granted }
    let refused = wanted.filter { !isOpen(set?.standing(of: $0)) && !granted.contains($0) }
    func outcome(_ decision: AccessOutcome.Decision) -> AccessOutcome {
      AccessOutcome(
        app: request.app, type: seen?.type ?? provider.id, account: seen, decision: decision,
        granted: granted, declined: refused)
    }
    // A no is not asked again.
    if !refused.isEmpty { return outcome(.denied) }
    for ask in asks {
      let audience = ask.audience.flatMap { Audience(rawValue: $0.rawValue) }
      let open = ask.permissions.filter { isOpen(set?.standing(of: $0), for: audience) }
      if open.isEmpty { continue }
      _ = try store.write { () throws(VaultError) in
        try checkCaller()
        return try begin(ask, open: open, audience: audience, request, account, .nobody)
      }
      return outcome(.pending)
    }
    return outcome(.granted)
  }

  private func grants(
    of request: AccessRequest, on account: Account?
  ) throws(VaultError) -> GrantSet? {
    guard let account else { return nil }
    return try store.read { () throws(VaultError) in
      try checkCaller()
      let set = try Records(store).grants(app: request.app, account: account.id)
      return set?.standings.isEmpty == false ? set : nil
    }
  }

  /// The account that an ask is about. The outer nil: there is none of the type; the inner: the person
  /// is to say which.
  private func askedAccount(
    _ request: AccessRequest, _ provider: Provider
  ) throws(VaultError) -> Account?? {
    if let text = request.account { return .some(try namedAccount(text, request)) }
    var count = 0
    var only: Account?
    var open: [Account] = []
    var holding: [Account] = []
    var denied: Account?
    var granted: [String] = []
    try forEachAccount(type: request.type) { (account) throws(VaultError) in
      count += 1
      only = account
      guard let set = try Records(store).grants(app: request.app, account: account.id) else {
        return true
      }
      let held = set.granted(now: now).map(\.name)
      granted += held
      if set.allows(request.permissions, now: now) {
        holding.append(account)
      } else if request.permissions.contains(where: { set.state(of: $0, now: now) == .denied }) {
        denied = denied ?? account
        count -= 1
      } else if !held.isEmpty {
        open.append(account)
      }
      return holding.count < 21
    }
    if count == 0 {
      try refuseByRules(request, provider, held: granted)
      return denied.map { .some($0) }
    }
    if count == 1, denied == nil { return only }
    let fitting = holding.isEmpty ? open : holding
    if fitting.count > 1 {
      throw .ambiguousAccount(
        fitting, "app \(request.app) holds something on \(fitting.count) accounts")
    }
    return .some(fitting.first)
  }

  /// The account of a name: one that the app sees, else the only one of the type that bears it.
  private func namedAccount(
    _ text: String, _ request: AccessRequest
  ) throws(VaultError) -> Account? {
    try store.read { () throws(VaultError) in
      do throws(VaultError) {
        let account = try find(text, seenBy: request.app)
        guard Provider.isType(account.type, of: request.type) else {
          throw VaultError(.usage, "that account is not of type \(request.type)")
        }
        return account
      } catch {
        guard error.code == .neverAsked else { throw error }
        var fitting: [Account] = []
        for id in try ids(of: text) {
          if let account = try Records(store).account(id),
            Provider.isType(account.type, of: request.type)
          {
            fitting.append(account)
          }
        }
        return fitting.count == 1 ? fitting[0] : nil
      }
    }
  }
}
