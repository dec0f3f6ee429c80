public import Faults
public import Accounts
import Encoding
import Ledger
import Providers
import Store

extension Session {
  /// An account with what is known of its credentials; never a secret.
  public struct AccountStanding: Sendable {
    /// Who it is.
    public let account: Account
    /// One for each client that it has a credential of.
    public let credentials: [CredentialStanding]
  }

  /// A credential and its state at the moment of asking.
  public struct CredentialStanding: Sendable {
    /// What the provider issued, but for the secrets.
    public let credential: Credential
    /// Whether it can be used at present.
    public let state: CredentialState
    /// The client's id, or nil where it is not known who the token was issued to.
    public var clientID: String? { credential.clientID.isEmpty ? nil : credential.clientID }
  }

  /// What the removal of an account did besides.
  public struct Removal: Sendable {
    /// False where a reader of another process still needs the log, which holds what was removed, sealed.
    public let isScrubbed: Bool
    /// What becomes of its tokens at the provider; none for those that were dead already.
    public let revocations: [RevocationNotice]
  }

  // MARK: Looking

  /// An account with its credentials, as they are now: it may have changed since it was read.
  ///
  /// - Throws: ``VaultError`` with code `notFound` where it was removed since.
  public func standing(of account: Account) throws(VaultError) -> AccountStanding {
    try store.read { () throws(VaultError) in
      guard let account = try Records(store).account(account.id) else {
        throw VaultError(.notFound, "no account \(account.id.text)", hint: "vault accounts")
      }
      var credentials: [CredentialStanding] = []
      for client in account.clients {
        guard let (credential, _) = try Records(store).credential(account.id, client: client) else {
          throw VaultError(
            .damaged, "account \(account.id.text): a credential is missing", hint: "vault verify",
            reason: .damagedRow)
        }
        var state = try state(of: credential, type: account.type)
        if try wasCutOff(credential, of: account, state) { state = .uncertain }
        credentials.append(CredentialStanding(credential: credential, state: state))
      }
      return AccountStanding(account: account, credentials: credentials)
    }
  }

  /// Hands every account to `body`, in the order of their ids, one at a time.
  ///
  /// Memory does not grow with their number. The order says nothing: ids are random.
  ///
  /// - Parameter type: Only those of this type; of a provider with many servers on any of them.
  /// - Parameter app: Only those on which this app holds a live grant.
  /// - Parameter body: Answers whether to go on.
  public func forEachAccount(
    type: String? = nil, app: String? = nil,
    _ body: (Account) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try store.read { () throws(VaultError) in
      if let app { _ = try findApp(app) }
      try Records(store).forEachAccount { (account) throws(VaultError) in
        if let type, !Provider.isType(account.type, of: type) { return true }
        if let app {
          let grants = try Records(store).grants(app: app, account: account.id)
          if grants?.granted(now: now).isEmpty ?? true { return true }
        }
        return try body(account)
      }
    }
  }

  func state(of credential: Credential, type: String) throws(VaultError) -> CredentialState {
    credential.state(now: now, marginSeconds: try margin(type))
  }

  func margin(_ type: String) throws(VaultError) -> Int64 {
    try provider(type).renewal.marginSeconds
  }

  // MARK: Changing

  /// Gives an account another username; the old one stays in its history.
  public func rename(_ account: Account, to username: String) throws(VaultError) -> Account {
    try Session.checkName(username, "username")
    return try store.write { () throws(VaultError) in
      guard var account = try Records(store).account(account.id) else {
        throw VaultError(.notFound, "no account \(account.id.text)", hint: "vault accounts")
      }
      let others = try Records(store).accounts(
        bearing: .username(type: account.type, username))
      guard others.allSatisfy({ $0 == account.id }) else {
        throw VaultError(
          .exists, "there is a \(account.type):\(ProviderText.name(username)) already",
          hint: "vault show-account \(others[0].text)")
      }
      try relabel(&account, to: username)
      return account
    }
  }

  /// Renames in the open transaction, with labels and entry.
  func relabel(_ account: inout Account, to username: String) throws(VaultError) {
    let records = Records(store)
    let old = account
    guard account.rename(to: username, at: now) else { return }
    for label in records.labels(of: old) { try records.remove(old.id, from: label, day: today) }
    for label in records.labels(of: account) {
      try records.add(account.id, to: label, day: today)
    }
    try records.put(account, day: today)
    try record(
      .accountRenamed, account: account,
      details: [Entry.Detail("from", old.username), Entry.Detail("to", username)])
  }

  /// Removes an account with its credentials and every grant on it, in one transaction.
  ///
  /// The ledger keeps its history, which holds no secrets. The file's log is emptied afterwards, so
  /// that the sealed tokens are on the disk no more; backups keep them.
  ///
  /// Tokens that are still good are to be revoked at the provider: they wait in a queue, sealed, that
  /// the same transaction fills and ``sendRevocations(over:isForced:)`` empties.
  @discardableResult
  public func remove(_ account: Account) throws(VaultError) -> Removal {
    let revocations = try store.write { () throws(VaultError) in
      let records = Records(store)
      guard let account = try records.account(account.id) else {
        throw VaultError(.notFound, "no account \(account.id.text)", hint: "vault accounts")
      }
      var revocations: [RevocationNotice] = []
      for client in account.clients {
        if let notice = try drop(client, of: account, .accountRemoved) {
          revocations.append(notice)
        }
      }
      for app in try records.apps() {
        if let grants = try records.grants(app: app.id, account: account.id) {
          try records.remove(grants)
        }
      }
      for ask in try records.asks() where ask.account == account.id {
        try store.remove(.ask, ask.id)
      }
      for label in records.labels(of: account) {
        try records.remove(account.id, from: label, day: today)
      }
      try store.remove(.account, account.id.key)
      let pending = revocations.count { $0.isPending }
      try record(
        .accountRemoved, account: account,
        details: pending > 0 ? [Entry.Detail("revocations_pending", String(pending))] : [])
      return revocations
    }
    return Removal(isScrubbed: try store.scrub(), revocations: revocations)
  }

  /// Takes a credential out, in the open transaction, and puts its tokens into the queue of those that
  /// are to be revoked.
  func drop(
    _ client: String, of account: Account, _ cause: PendingRevocation.Cause
  ) throws(VaultError) -> RevocationNotice? {
    let records = Records(store)
    guard let (credential, row) = try records.credential(account.id, client: client) else {
      return nil
    }
    let secret = try records.secret(of: row)
    try records.removeCredential(account.id, client: client)
    return try enqueueRevocation(
      of: secret, credential, account, userID: account.userID, cause)
  }

  /// A name that a person gives: not empty, one line, no control characters, at most 512 bytes.
  static func checkName(_ name: String, _ what: String) throws(VaultError) {
    guard !name.isEmpty, name.utf8.count <= 512,
      !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw VaultError(
        .usage, "the \(what) must be 1 to 512 bytes without line breaks or control characters")
    }
  }
}
