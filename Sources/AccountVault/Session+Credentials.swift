import Accounts
import Encoding
import Faults
import Providers
import Store
import Time

extension Session {
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
    "vault sign-in \(account.id.text)"
  }

  /// Whether a credential is good now.
  ///
  /// - Throws: ``VaultError``: `signIn`; `tryAgain` with reason `expired` where a renewal could help.
  func checkState(_ credential: Credential, of account: Account) throws(VaultError) {
    let label = ProviderText.name(account.label)
    let again = signInHint(account)
    switch credential.state(now: now, marginSeconds: 0) {
    case .valid, .expiring: return
    case .expired:
      if try canBeRenewed(credential, of: account) { throw .renewable(label, account) }
      throw VaultError(
        .signIn, "the token of \(label) expired, and nothing can renew it", hint: again,
        reason: .expired)
    case .stale:
      // The access token is as good as it was when the backup was made; the refresh token is not.
      guard case .at(let end) = credential.expiry, now >= end else { return }
      throw VaultError(
        .signIn, "the credential of \(label) comes from a backup and its token has expired",
        hint: credential.hasRefreshToken ? "vault renew \(account.id.text)" : again)
    case .uncertain:
      // A renewal was cut off. The access token is as good as its date says, and one supervised try
      // settles what became of the refresh token.
      guard case .at(let end) = credential.expiry, now >= end else { return }
      throw .renewable(label, account)
    case .absent, .rejected:
      throw VaultError(
        .signIn, "the credential of \(label) is no longer good: a person must sign in",
        hint: again)
    }
  }

  /// Whether a renewal can still work, as far as the dates tell.
  func canBeRenewed(_ credential: Credential, of account: Account) throws(VaultError) -> Bool {
    let schedule = RenewalSchedule(
      credential: credential, provider: try provider(account.type), seed: 0)
    guard schedule.way == .refreshToken else { return false }
    return schedule.renewalEnd.map { now < $0 } ?? true
  }

  /// The grant says what the app may; the scopes say what the token can.
  ///
  /// - Throws: ``VaultError``: `revoked` with reason `missingScope`.
  func checkScopes(
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
  /// A token that has ended and that a renewal can put another in the place of.
  static func renewable(_ label: String, _ account: Account) -> VaultError {
    VaultError(
      .tryAgain, "the token of \(label) expired; it can be renewed",
      hint: "vault renew \(account.id.text)", reason: .expired)
  }
}
