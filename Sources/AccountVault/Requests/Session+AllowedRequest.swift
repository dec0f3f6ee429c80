import Accounts
import Faults
import Ledger
import OAuth
import Providers
import Store

extension Session {
  /// Decides whether an app may have a request signed, and writes the use into the ledger, before
  /// anything is opened or sent.
  ///
  /// The same rules as for a token hold, but that an app which is never handed one may ask. The entry is a
  /// `token_used` whose reason says that it was a request, and to which host; a session writes the first
  /// of a kind in a minute and counts the rest, unless `strictly` asks for an entry each. A refusal is
  /// recorded too, one of a host that the definition does not name among them.
  ///
  /// - Throws: ``VaultError``: as ``token(app:account:permissions:strictly:renews:seenBy:)``;
  ///   `config` for another host; `usage` for what cannot be sent.
  package func attempt(
    _ request: SignedRequest, app: String, account: String?, permissions: [String],
    strictly: Bool = false, seenBy view: View = .owner, over network: Network
  ) throws(VaultError) -> RequestAttempt {
    let use = try recordedUse(
      request, app: app, account: account, permissions: permissions, strictly: strictly,
      seenBy: view)
    let holder = use.use.account
    let opened = try access(to: holder, clientID: use.use.token.clientID, over: network)
    // Another process may have put a newer credential there since: it is as good.
    let definition = try provider(holder.type)
    return RequestAttempt(
      request: use.request, provider: definition, account: holder, permissions: permissions,
      app: app, access: opened.0, generation: opened.1.generation,
      canRenew: opened.1.canRenew(definition), endsAt: opened.1.expiry.time)
  }

  /// A use that may be, in the ledger, its credential still sealed.
  func recordedUse(
    _ request: SignedRequest, app: String, account: String?, permissions: [String],
    strictly: Bool, seenBy view: View, for purpose: Purpose = .signedRequest
  ) throws(VaultError) -> AllowedRequest {
    guard !options.isLooking else {
      throw VaultError(
        .usage, "this session was opened to look only, and sends nothing",
        hint: "unlock the vault without looking")
    }
    let counted = try store.read { () throws(VaultError) -> AllowedRequest? in
      var found: Account?
      do throws(VaultError) {
        let account = try usedAccount(
          app: app, account: account, permissions: permissions, seenBy: view)
        let checked = try CheckedRequest(
          request, for: provider(account.type), readsForm: purpose == .signature)
        found = account
        let use = try allowed(
          checked, app: app, on: account, permissions: permissions, for: purpose)
        guard !strictly, uses.count(use.use.kind, now: now) != nil else { return nil }
        return use
      } catch {
        guard isRefusal(error), found != nil || view == .app else { throw error }
        let kind = kind(
          of: error, app: app, account: found, permissions: permissions, seenBy: view)
        guard uses.count(kind, now: now) != nil else { return nil }
        throw error.told(to: view, app: app, permissions)
      }
    }
    if let counted { return counted }
    return try recorded(
      request, app: app, account: account, permissions: permissions, strictly: strictly,
      seenBy: view, for: purpose)
  }

  /// What a request would be sent with; nothing is recorded or opened.
  func allowed(
    _ request: CheckedRequest, app: String, on account: Account, permissions: [String],
    for purpose: Purpose = .signedRequest
  ) throws(VaultError) -> AllowedRequest {
    var use = try allowed(app: app, on: account, permissions: permissions, for: purpose)
    // Of a token that a provider says back the pieces would come uncovered, and fit together again.
    if request.asksForPart, try findApp(app).signOnly {
      throw VaultError(
        .usage, "an app that never sees a token asks for whole answers: without the header Range")
    }
    try check(request, mayGoTo: provider(account.type))
    let what = purpose == .signedRequest ? "request" : "signature"
    use.kind.reason = "\(what): \(request.method.rawValue) \(request.url.origin)"
    return AllowedRequest(request: request, use: use)
  }

  private func recorded(
    _ request: SignedRequest, app: String, account: String?, permissions: [String],
    strictly: Bool, seenBy view: View, for purpose: Purpose
  ) throws(VaultError) -> AllowedRequest {
    try closeUseWindows(all: false)
    var refusal: (kind: UseWindows.Kind, label: String)?
    let outcome = try store.write { () throws(VaultError) -> Result<AllowedRequest, VaultError> in
      var found: Account?
      var host: [Entry.Detail] = []
      do throws(VaultError) {
        let account = try usedAccount(
          app: app, account: account, permissions: permissions, seenBy: view)
        let request = try CheckedRequest(
          request, for: provider(account.type), readsForm: purpose == .signature)
        found = account
        host = [Entry.Detail("host", request.url.origin)]
        let use = try allowed(
          request, app: app, on: account, permissions: permissions, for: purpose)
        try record(
          .tokenUsed, app: app, account: account, permissions: permissions,
          reason: use.use.kind.reason, details: details(of: use.use, strictly: strictly))
        return .success(use)
      } catch {
        guard isRefusal(error), found != nil || view == .app else { throw error }
        refusal = try refuse(
          error, app: app, account: found, permissions: permissions,
          details: error.reason == .foreignHost ? host : [], seenBy: view)
        return .failure(error.told(to: view, app: app, permissions))
      }
    }
    // Only now is it in the ledger.
    if let refusal { uses.begin(refusal.kind, label: refusal.label, now: now) }
    let recorded = try outcome.get()
    try store.publishHead()
    if !strictly { uses.begin(recorded.use.kind, label: recorded.use.account.label, now: now) }
    return recorded
  }

  /// A token that ran out is renewed first, and is refused only where that fails.
  private func isRefusal(_ error: VaultError) -> Bool {
    error.isRefusal && !error.isRenewable || error.reason == .foreignHost
  }

  /// A token leaves for a host of the definition alone: an app could otherwise have it sent to itself.
  private func check(
    _ request: CheckedRequest, mayGoTo provider: Provider
  ) throws(VaultError) {
    guard provider.mayReceiveToken(request.url.origin) else {
      throw VaultError(
        .config,
        "\(request.url.origin) is no host of \(provider.name); those are"
          + " \(provider.apiHosts.joined(separator: ", "))",
        hint: "vault show-provider \(provider.id)", reason: .foreignHost)
    }
  }
}

/// A request that may be sent, its credential still sealed.
struct AllowedRequest {
  let request: CheckedRequest
  let use: Session.AllowedUse
}

extension VaultError {
  /// A token that ran out, and that a renewal may help.
  package var isRenewable: Bool { code == .tryAgain && reason == .expired }
}
