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
  ///   - renews: Whether the caller has a token that has expired renewed, and asks again: that it has
  ///     is no refusal then.
  ///   - view: Whose word the account's name is, and whom a refusal is told.
  /// - Throws: ``VaultError``: `neverAsked`, `denied`, `revoked` (also lapsed, or narrowed at the
  ///   provider); `signIn`; `tryAgain` with reason `expired` where a renewal could help; `notFound`;
  ///   `ambiguous`; `denied` with reason `signOnly`.
  public func token(
    app: String, account: String? = nil, permissions: [String] = [], strictly: Bool = false,
    renews: Bool = false, seenBy view: View = .owner
  ) throws(VaultError) -> AccessToken {
    guard !options.isLooking else {
      throw VaultError(
        .usage, "this session was opened to look only, and hands out nothing",
        hint: "unlock the vault without looking")
    }
    let request = DecidedUses.Request(
      app: app, account: account, permissions: permissions, view: view,
      key: caller.app?.keyHash)
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
      var found: Account?
      do throws(VaultError) {
        let account = try usedAccount(
          app: app, account: account, permissions: permissions, seenBy: view)
        found = account
        let use = try allowed(app: app, on: account, permissions: permissions, for: .token)
        try record(
          .tokenUsed, app: app, account: account, permissions: permissions,
          details: details(of: use, strictly: strictly))
        return .success(use)
      } catch {
        guard error.isRefusal, found != nil || view == .app, !(renews && error.isRenewable) else {
          throw error
        }
        refusal = try refuse(
          error, app: app, account: found, permissions: permissions, strictly: strictly,
          seenBy: view)
        return .failure(error.told(to: view, app: app, permissions))
      }
    }
    // Only now is it in the ledger.
    if let refusal, !strictly { uses.begin(refusal.kind, label: refusal.label, now: now) }
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

  /// Keeps a decision for the next equal request, which is answered with the token: never one on a
  /// signed request.
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
      var found: Account?
      do throws(VaultError) {
        let account = try usedAccount(
          app: request.app, account: request.account, permissions: request.permissions,
          seenBy: request.view)
        found = account
        let use = try allowed(
          app: request.app, on: account, permissions: request.permissions, for: .token)
        guard let window = uses.count(use.kind, now: now) else { return nil }
        note(use, window, for: request)
        return .success(use)
      } catch {
        guard error.isRefusal, found != nil || request.view == .app else { throw error }
        let kind = kind(
          of: error, app: request.app, account: found, permissions: request.permissions,
          seenBy: request.view)
        guard uses.count(kind, now: now) != nil else { return nil }
        return .failure(error.told(to: request.view, app: request.app, request.permissions))
      }
    }
  }

  /// Opens the secret of an allowed use; to be called once the use is in the ledger, and its head on
  /// the disk.
  func open(_ use: DecidedUses.SealedToken) throws(VaultError) -> AccessToken {
    let secret = try Records(store).secret(of: use.row)
    return AccessToken(
      secret: Secret(secret.accessToken.copy()),
      tokenSecret: secret.tokenSecret?.copy().asSecret(),
      tokenType: use.tokenType, expiry: use.expiry, account: use.account,
      clientID: use.clientID.isEmpty ? nil : use.clientID)
  }

  func details(of use: AllowedUse, strictly: Bool) -> [Entry.Detail] {
    var details = [Entry.Detail("generation", String(use.kind.generation))]
    if !use.kind.client.isEmpty {
      details.append(Entry.Detail("client", use.kind.client))
    }
    if !strictly {
      details.append(Entry.Detail("any_number_until", (now + UseWindows.seconds).description))
    }
    return details
  }

  /// Writes a refusal; of one kind only the first in a minute, the rest as a count, unless `strictly`
  /// asks for an entry each.
  ///
  /// - Returns: The kind, where it was written.
  func refuse(
    _ error: VaultError, app: String, account: Account?, permissions: [String],
    details: [Entry.Detail] = [], strictly: Bool = false, seenBy view: View = .owner
  ) throws(VaultError) -> (kind: UseWindows.Kind, label: String)? {
    let kind = kind(
      of: error, app: app, account: account, permissions: permissions, seenBy: view)
    if !strictly, uses.count(kind, now: now) != nil { return nil }
    if let account, let set = try Records(store).grants(app: app, account: account.id) {
      try recordLapses(set, account: account)
    }
    // No more of an app's own words than names have: it must not fill the disk.
    let names =
      view == .app
      ? permissions.prefix(64).map { ProviderText.safe($0, limit: 120) } : permissions
    try record(
      .useRefused, app: app, account: account, permissions: names,
      reason: error.code.rawValue, details: details)
    return (kind, account?.label ?? "")
  }

  func kind(
    of error: VaultError, app: String, account: Account?, permissions: [String],
    seenBy view: View = .owner
  ) -> UseWindows.Kind {
    // An app that asks for ever other permissions is one kind: only its first names are written.
    UseWindows.Kind(
      event: .useRefused, app: app, account: account?.id.key ?? .zero, client: "", generation: 0,
      grants: [], permissions: view == .app ? [] : permissions, reason: error.code.rawValue)
  }
}

extension VaultError {
  /// Whether this is an answer to the app, which the use itself gives as well.
  package var isAnswer: Bool { isRefusal || code == .ambiguous }

  /// Whether this is an answer to the app, and goes into the ledger. Neither a name that is not known,
  /// nor damage, nor a full disk is one: the file stays as it was.
  var isRefusal: Bool {
    switch code {
    case .denied, .revoked, .neverAsked, .signIn: true
    case .tryAgain: reason == .expired
    default: false
    }
  }
}
