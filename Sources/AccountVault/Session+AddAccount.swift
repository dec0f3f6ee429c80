import Time
public import Faults
public import Accounts
import Encoding
import Ledger
import Providers
import Sodium
import Store

/// What a provider or a person hands over as an account's credential.
public enum CredentialInput: ~Copyable, Sendable {
  /// The account is made without one.
  case none
  /// A provider's token response as it came: JSON or form-encoded, OAuth 1.0a or 2.0.
  case response(Secret)
  /// A bare bearer token.
  case bearer(Secret)
}

/// An account to be added.
public struct NewAccount: Sendable {
  /// The provider's id.
  public var type: String
  /// What the person is called there; may be left out where the response says it.
  public var username: String?
  /// The provider's own id of the person; may be left out where the response says it.
  public var userID: String?
  /// The owner's own words about it.
  public var description: String?
  /// The client that the token was issued to; nil for the type's default.
  public var clientID: String?
  /// Takes a credential in the place of one that is still good, though no user id proves that both
  /// are of the same person: the owner says so.
  public var replaces = false

  /// What is known of an account before it is added.
  public init(
    type: String, username: String? = nil, userID: String? = nil, description: String? = nil,
    clientID: String? = nil
  ) {
    self.type = type
    self.username = username
    self.userID = userID
    self.description = description
    self.clientID = clientID
  }
}

extension Session {
  /// Adds an account, with or without a credential.
  ///
  /// (type, user id) is who the account is; the username is a label. A response that proves to be of
  /// a known account (by its user id) is a new sign-in of it: the credential is replaced whole, the
  /// label follows, the grants stay. The same username under another user id is another account.
  ///
  /// - Throws: ``VaultError``: `exists`; `notFound` for an unknown type or client; `usage` for what is
  ///   missing or malformed; `wrongUser` where the response belongs to somebody else than `userID`;
  ///   what the catalogue says where the response is a refusal. Nothing is changed then.
  public func addAccount(
    _ new: NewAccount, credential input: consuming CredentialInput
  ) throws(VaultError) -> Account {
    let new = try located(new)
    let provider = try provider(new.type)
    var parsed = try Session.parse(consume input, provider: provider, now: now)
    let answeredID = parsed?.userID
    let answeredName = parsed?.username
    if let id = answeredID, let expected = new.userID, id != expected {
      try recordWrongUser(type: new.type, expected: expected, found: id)
      throw VaultError(
        .wrongUser,
        "the response belongs to user \(ProviderText.name(id)), not \(ProviderText.name(expected))",
        hint:
          "vault add-account --type \(new.type) --user-id \(ShellText.quoted(id)) --response FILE")
    }
    let userID = new.userID ?? answeredID
    guard let username = new.username ?? answeredName else {
      throw VaultError(
        .usage, "the account needs a username",
        hint: "vault add-account --type \(new.type) --username NAME")
    }
    try Session.checkName(username, "username")
    if let userID { try Session.checkName(userID, "user id") }
    guard new.description?.utf8.count ?? 0 <= 4096 else {
      throw VaultError(.usage, "the description has more than 4096 bytes")
    }
    return try store.write { () throws(VaultError) in
      let client = try clientID(new, provider: provider)
      if let known = try match(new.type, username: username, userID: userID) {
        guard let given = parsed.take() else { throw .accountExists(known) }
        return try signIn(
          known, given, client: client, username: username, userID: userID, replaces: new.replaces,
          provider: provider)
      }
      return try create(
        new, username: username, userID: userID, parsed.take(), client: client,
        provider: provider)
    }
  }

  /// Writes that a sign-in for a known account came back as somebody else; the account is not touched.
  func recordWrongUser(type: String, expected: String, found: String) throws(VaultError) {
    try Session.checkName(expected, "user id")
    let known = try store.read { () throws(VaultError) in
      try Records(store).accounts(bearing: .userID(type: type, expected)).first
    }
    guard let known else { return }
    try store.write { () throws(VaultError) in
      let account = try Records(store).account(known)
      try record(
        .failed, account: account, reason: "wrong user",
        details: [
          Entry.Detail("expected", expected), Entry.Detail("found", ProviderText.safe(found)),
        ])
    }
  }

  func create(
    _ new: NewAccount, username: String, userID: String?, _ parsed: consuming ParsedCredential?,
    client: String, provider: Provider
  ) throws(VaultError) -> Account {
    let records = Records(store)
    var account = Account(
      id: AccountID(Random.key16()), type: new.type, username: username, userID: userID,
      description: new.description, createdAt: now)
    if let parsed = consume parsed {
      account.clients = [client]
      try put(parsed, of: account, client: client, generation: 1, provider: provider)
    }
    try records.put(account, day: today)
    for label in records.labels(of: account) { try records.add(account.id, to: label, day: today) }
    try record(
      .accountAdded, account: account,
      details: account.clients.isEmpty || client.isEmpty ? [] : [Entry.Detail("client", client)])
    return account
  }

  /// The account that this is, if the vault knows it: by user id, or by name where no id speaks
  /// against it.
  func match(_ type: String, username: String, userID: String?) throws(VaultError)
    -> Account?
  {
    let records = Records(store)
    if let userID {
      for id in try records.accounts(bearing: .userID(type: type, userID)) {
        return try records.account(id)
      }
    }
    var fitting: [Account] = []
    for id in try records.accounts(bearing: .username(type: type, username)) {
      guard let account = try records.account(id) else { continue }
      if account.userID == nil || userID == nil { fitting.append(account) }
    }
    guard fitting.count <= 1 else {
      throw .ambiguousAccount(
        fitting, "\(fitting.count) accounts are called \(ProviderText.safe(username))",
        hint: "vault add-account --type \(type) --username \(ShellText.quoted(username))"
          + " --user-id ID")
    }
    return fitting.first
  }

  /// Puts a new credential in the place of the old one, for an account that is known.
  private func signIn(
    _ known: Account, _ parsed: consuming ParsedCredential, client: String, username: String,
    userID: String?, replaces: Bool, provider: Provider
  ) throws(VaultError) -> Account {
    let records = Records(store)
    var account = known
    let isProved = userID.map { id in known.userID.map { same(id, $0) } ?? false } ?? false
    let present = try records.credential(known.id, client: client)?.0
    if let present, !isProved, !replaces {
      let state = try state(of: present, type: known.type)
      guard state != .valid, state != .expiring else { throw .credentialExists(known) }
    }
    if account.userID == nil, let userID {
      account.userID = userID
      try records.add(account.id, to: .userID(type: account.type, userID), day: today)
    }
    if !account.clients.contains(where: { same($0, client) }) { account.clients.append(client) }
    try records.put(account, day: today)
    if isProved { try relabel(&account, to: username) }
    let generation = (present?.generation ?? 0) + 1
    // What the response does not say may be anything (RFC 6749, 5.1: as asked); what it says counts,
    // even if it is empty.
    let answer = ScopeAnswer(answered: parsed.scopes, before: present?.scopes)
    try put(parsed, of: account, client: client, generation: generation, provider: provider)
    var details = client.isEmpty ? [] : [Entry.Detail("client", client)]
    details.append(Entry.Detail("generation", String(generation)))
    if !answer.added.isEmpty {
      details.append(Entry.Detail("scopes_added", answer.added.joined(separator: " ")))
    }
    try record(.signedIn, account: account, details: details)
    if !answer.missing.isEmpty {
      try narrow(account, client: client, lost: answer.missing, left: answer.scopes ?? [], provider)
    }
    return account
  }

  /// Takes back what the provider no longer gives to a client, from every app that uses it, with an
  /// entry each; one without an app where none does.
  @discardableResult
  func narrow(
    _ account: Account, client: String, lost: [String], left: [String], _ provider: Provider,
    evidence: Evidence? = nil
  ) throws(VaultError) -> [UInt64] {
    let records = Records(store)
    var entries: [UInt64] = []
    for app in try records.apps() {
      guard let set = try records.grants(app: app.id, account: account.id),
        try uses(client, app, on: account)
      else { continue }
      let names = set.granted(now: now).map(\.permission).filter {
        provider.covers($0.name, by: lost) && !provider.covers($0.name, by: left)
      }
      guard !names.isEmpty else { continue }
      let reason = "on the site"
      let entry = try record(
        .narrowed, actor: "provider", app: app.id, account: account,
        permissions: names.map(\.name), reason: reason, evidence: evidence)
      let decision = GrantDecision(by: .provider, at: now, entry: entry, reason: reason)
      try records.put(set.revoking(names, decision), day: today)
      entries.append(entry)
    }
    if entries.isEmpty {
      entries.append(
        try record(
          .narrowed, actor: "provider", account: account, permissions: lost, evidence: evidence))
    }
    return entries
  }

  func uses(_ client: String, _ app: App, on account: Account) throws(VaultError) -> Bool {
    do throws(VaultError) {
      return try credential(of: account, for: app).0.clientID == client
    } catch {
      // The client that the app has of its own was never signed in with.
      if error.code == .signIn { return false }
      throw error
    }
  }

  func put(
    _ parsed: consuming ParsedCredential, of account: Account, client: String, generation: Int64,
    provider: Provider
  ) throws(VaultError) {
    let credential = parsed.credential(client: client, generation: generation, now: now)
    try put(
      credential, of: account,
      RenewalRecord(account: account.id, clientID: client, generation: generation),
      secret: .replace(parsed.secret.packed()))
  }

  /// The client that the token is taken to be of: the named one, which must be known; else the type's
  /// default; else none.
  private func clientID(_ new: NewAccount, provider: Provider) throws(VaultError) -> String {
    let clients = try Records(store).clients(of: new.type)
    if let named = new.clientID {
      guard clients.contains(where: { same($0.clientID, named) }) else {
        throw VaultError(
          .notFound, "no client \(new.type):\(ProviderText.name(named))",
          hint: "vault add-client --type \(new.type) --client-id \(ShellText.quoted(named))")
      }
      return named
    }
    return clients.first(where: \.isDefault)?.clientID ?? ""
  }
}

extension VaultError {
  static func credentialExists(_ account: Account) -> VaultError {
    VaultError(
      .exists, "account \(ProviderText.name(account.label)) has a credential that is still good",
      hint:
        "vault add-account --type \(account.type) --username \(ShellText.quoted(account.username))"
        + " --replace --response FILE")
  }

  static func accountExists(_ account: Account) -> VaultError {
    VaultError(
      .exists, "account \(ProviderText.name(account.label)) is there already",
      hint: "vault show-account \(account.id.text)")
  }
}
