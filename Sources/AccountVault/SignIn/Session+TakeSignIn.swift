import Accounts
import Encoding
import Faults
import Ledger
import OAuth
import Providers
import Sodium
import Store
import Time

/// Who a new token belongs to and what it may do, as the provider says.
struct SignInAnswer {
  var userID: String?
  var username: String?
  /// Nil where the provider does not say and nothing was asked for.
  var scopes: [String]?
  var declined: [String] = []
  /// Given though nobody asked for it.
  var added: [String] = []
  var notes: [String] = []
}

extension Session {
  /// Reads the answer, asks the provider whose token it is and what it may do, and writes all of it in
  /// one transaction.
  func take(
    _ reply: SignInReply, of plan: SignInPlan, for subject: SignInSubject, over network: Network
  ) async throws(VaultError) -> SignInOutcome {
    let provider = plan.provider
    let response = try Self.read(reply, provider)
    let access = Access(
      clientID: plan.client.client.clientID, clientSecret: plan.client.secret,
      tokenType: response.tokenType ?? "oauth1",
      accessToken: SharedSecret(response.accessToken.copy()),
      tokenSecret: Self.shared(response.tokenSecret), proof: reply.proof?.key,
      userID: response.userID)
    do throws(VaultError) {
      let answer = try await answer(
        for: access, userID: response.userID, username: response.username,
        scopes: response.scopes, plan, subject, network)
      guard !Task.isCancelled else { throw .signInInterrupted }
      let parsed = ParsedCredential(
        response, kind: provider.protocol == .oauth1 ? .oauth1 : .oauth2, signIn: answer,
        asked: plan.scopes, proofKey: reply.proof?.scalar.bytes.copy())
      let secret = parsed.secret.copy()
      let credential = parsed.credential(
        client: plan.client.client.clientID, generation: 1, now: now)
      do throws(VaultError) {
        return try write(parsed, answer, plan, subject)
      } catch {
        if error.code == .wrongUser {
          await giveBack(secret, credential, userID: answer.userID, subject, over: network)
        }
        throw error
      }
    } catch {
      guard !Task.isCancelled else { throw .signInInterrupted }
      throw error
    }
  }

  private static func shared(_ secret: borrowing SecretBytes?) -> SharedSecret? {
    switch secret {
    case .some(let secret): SharedSecret(secret.copy())
    case .none: nil
    }
  }

  private static func read(
    _ reply: SignInReply, _ provider: Provider
  ) throws(VaultError) -> TokenResponse {
    do throws(ResponseError) {
      return try reply.body.withBytes { (body) throws(ResponseError) in
        try TokenResponse.parse(body, for: provider, at: reply.sentAt)
      }
    } catch {
      if case .refused(let refusal) = error {
        throw VaultError(signIn: refusal, at: "the sign-in", provider)
      }
      throw VaultError(
        .config, "\(provider.name)'s token response cannot be used: \(error)",
        hint: "vault show-provider \(provider.id)")
    }
  }

  // MARK: Whose, and what

  private func answer(
    for access: Access, userID: String?, username: String?, scopes: [String]?,
    _ plan: SignInPlan, _ subject: SignInSubject, _ network: Network
  ) async throws(VaultError) -> SignInAnswer {
    let provider = plan.provider
    var answer = SignInAnswer(userID: userID, username: username)
    if userID == nil || (username == nil && subject.new != nil && subject.new?.username == nil) {
      do throws(VaultError) {
        let found = try await network.identity(of: access, provider)
        answer.userID = userID ?? found.userID
        answer.username = username ?? found.username
      } catch {
        // Whose token it is must be known where it is compared with somebody's.
        if userID == nil { throw Self.unproven(error, plan) }
      }
    }
    var granted: Granted?
    if provider.granted.source != .scope, scopes == nil || provider.granted.source != .header {
      do throws(VaultError) {
        granted = try await network.granted(to: access, provider)
      } catch {
        answer.notes.append("the provider did not say what was granted: \(error.message)")
      }
    }
    let asked = plan.scopes
    // A silence means as asked (RFC 6749 section 5.1); what is said counts, even if it is empty.
    answer.scopes = granted?.granted ?? scopes ?? (asked.isEmpty ? nil : asked)
    if let scopes = answer.scopes {
      answer.declined = asked.filter { !provider.covers($0, by: scopes) }
      // Those of every sign-in count as covered by anything, and say nothing of what came.
      let named = asked.filter { !provider.alwaysScopes.contains($0) }
      answer.added = scopes.filter { name in
        !asked.contains(name) && !named.contains { provider.covers($0, by: [name]) }
      }
    }
    return answer
  }

  private static func unproven(_ error: VaultError, _ plan: SignInPlan) -> VaultError {
    guard error.reason == .missingScope else { return error }
    return VaultError(
      .config,
      "\(plan.provider.name) does not tell whose token this is: ask for a permission that shows the"
        + " person as well", hint: "vault show-provider \(plan.provider.id)")
  }

  // MARK: Writing

  private func write(
    _ parsed: consuming ParsedCredential, _ answer: SignInAnswer, _ plan: SignInPlan,
    _ subject: SignInSubject
  ) throws(VaultError) -> SignInOutcome {
    if let id = answer.userID { try Session.checkName(id, "user id") }
    var parsed = Optional(parsed)
    do throws(VaultError) {
      return try store.write { () throws(VaultError) in
        let found = try owner(answer, subject)
        guard let given = parsed.take() else { throw .signInInterrupted }
        return try put(given, answer, plan, subject, owner: found)
      }
    } catch {
      if error.code == .wrongUser, let found = answer.userID {
        try recordWrongUser(subject, found: found)
      }
      throw error
    }
  }

  /// The account that the token is of: the one that was meant, or the one that the provider names where
  /// a new one was to be added; nil for a new one.
  ///
  /// - Throws: ``VaultError`` with code `wrongUser` where the provider names somebody else.
  private func owner(
    _ answer: SignInAnswer, _ subject: SignInSubject
  ) throws(VaultError) -> Account? {
    let records = Records(store)
    if let meant = subject.known {
      guard let account = try records.account(meant.id) else {
        throw VaultError(
          .notFound, "account \(ProviderText.name(meant.label)) was removed meanwhile",
          hint: "vault accounts")
      }
      guard let found = answer.userID else { return account }
      if let own = account.userID {
        guard same(own, found) else { throw .wrongUser(account, found: found) }
      } else {
        for id in try records.accounts(bearing: .userID(type: account.type, found))
        where id != account.id { throw .wrongUser(account, found: found) }
      }
      return account
    }
    guard let new = subject.new else { return nil }
    if let expected = new.userID, let found = answer.userID, !same(expected, found) {
      throw VaultError(
        .wrongUser,
        "the sign-in came back as user \(ProviderText.name(found)), not"
          + " \(ProviderText.name(expected)); nothing was changed")
    }
    let username = new.username ?? answer.username ?? answer.userID ?? ""
    return try match(new.type, username: username, userID: new.userID ?? answer.userID)
  }

  private func put(
    _ parsed: consuming ParsedCredential, _ answer: SignInAnswer, _ plan: SignInPlan,
    _ subject: SignInSubject, owner: Account?
  ) throws(VaultError) -> SignInOutcome {
    let client = plan.client.client.clientID
    var account: Account
    var generation: Int64 = 1
    var notes = answer.notes
    if let owner {
      account = owner
      let held = try Records(store).credential(owner.id, client: client)
      let present = held?.0
      generation = (present?.generation ?? 0) + 1
      let isProved = owner.userID != nil && answer.userID != nil
      if !isProved, answer.userID == nil {
        notes.append("the provider did not tell whose token it is")
      }
      if !isProved, subject.new != nil, subject.new?.replaces == false, let present {
        // A name is no proof that both are one person's.
        let state = try state(of: present, type: owner.type)
        guard state != .valid, state != .expiring else { throw .credentialExists(owner) }
      }
      try bind(&account, answer, client: client, isProved: isProved)
      if let held { try enqueueReplaced(held.0, held.1, by: parsed.secret, of: account) }
      try put(parsed, of: account, client: client, generation: generation, provider: plan.provider)
    } else {
      guard let new = subject.new else { throw .signInInterrupted }
      guard let username = new.username ?? answer.username ?? answer.userID else {
        throw VaultError(
          .usage, "the provider did not tell the person's name: the account needs a username",
          hint: "vault add-account --type \(new.type) --username NAME --sign-in")
      }
      try Session.checkName(username, "username")
      account = try create(
        new, username: username, userID: new.userID ?? answer.userID, parsed, client: client,
        provider: plan.provider)
    }
    try record(
      .signedIn, account: account, details: details(answer, plan, generation: generation))
    if !answer.declined.isEmpty, try isGrantedToApps(answer.declined, account) {
      _ = try narrow(
        account, client: client, lost: answer.declined, left: answer.scopes ?? [], plan.provider)
    }
    return SignInOutcome(
      account: account, clientID: client, generation: generation, isNew: owner == nil,
      granted: answer.scopes, declined: answer.declined, notes: notes)
  }

  /// Notes on the account what the sign-in told: its user id, its label, one client more.
  private func bind(
    _ account: inout Account, _ answer: SignInAnswer, client: String, isProved: Bool
  ) throws(VaultError) {
    let records = Records(store)
    if account.userID == nil, let userID = answer.userID {
      account.userID = userID
      try records.add(account.id, to: .userID(type: account.type, userID), day: today)
    }
    if !account.clients.contains(where: { same($0, client) }) { account.clients.append(client) }
    try records.put(account, day: today)
    if isProved, let username = answer.username {
      try Session.checkName(username, "username")
      try relabel(&account, to: username)
    }
  }

  private func details(
    _ answer: SignInAnswer, _ plan: SignInPlan, generation: Int64
  ) -> [Entry.Detail] {
    var details = [
      Entry.Detail("client", plan.client.client.clientID),
      Entry.Detail("generation", String(generation)), Entry.Detail("way", plan.way.rawValue),
    ]
    let lists = [
      ("asked", plan.scopes), ("scopes_added", answer.added), ("declined", answer.declined),
    ]
    for (name, scopes) in lists where !scopes.isEmpty {
      details.append(
        Entry.Detail(name, scopes.map { ProviderText.name($0) }.joined(separator: " ")))
    }
    return details
  }

  private func isGrantedToApps(
    _ names: [String], _ account: Account
  ) throws(VaultError) -> Bool {
    for app in try Records(store).apps() {
      let set = try Records(store).grants(app: app.id, account: account.id)
      if names.contains(where: { set?.state(of: $0, now: now) == .granted }) { return true }
    }
    return false
  }

  /// Writes that a sign-in came back as somebody else, on the account that was meant.
  private func recordWrongUser(
    _ subject: SignInSubject, found: String
  ) throws(VaultError) {
    if let new = subject.new, let expected = new.userID {
      return try recordWrongUser(type: new.type, expected: expected, found: found)
    }
    guard let meant = subject.known else { return }
    try store.write { () throws(VaultError) in
      guard let account = try Records(store).account(meant.id) else { return }
      var details: [Entry.Detail] = []
      if let own = account.userID { details.append(Entry.Detail("expected", own)) }
      details.append(Entry.Detail("found", ProviderText.safe(found)))
      try record(.failed, account: account, reason: "wrong user", details: details)
    }
  }
}

extension ParsedCredential {
  /// Of a sign-in, with what was asked for and the key that the token is bound to.
  init(
    _ response: consuming TokenResponse, kind: Credential.Kind, signIn answer: SignInAnswer,
    asked: [String], proofKey: consuming SecretBytes?
  ) {
    secret = CredentialSecret(
      accessToken: response.accessToken.copy(), refreshToken: response.refreshToken?.copy(),
      tokenSecret: response.tokenSecret?.copy(), proofKey: proofKey)
    self.kind = kind
    tokenType = response.tokenType ?? (kind == .oauth1 ? "oauth1" : "bearer")
    expiry = Expiry(response.expiry)
    refreshExpiresAt = Expiry(response.refreshExpiry).time
    dataAccessUntil = response.dataAccessEnd
    scopes = answer.scopes
    askedScopes = asked.isEmpty ? nil : asked
    source = .signIn
    userID = answer.userID
    username = answer.username
    notes = response.notes.map(\.description)
  }
}

extension VaultError {
  fileprivate static func wrongUser(_ account: Account, found: String) -> VaultError {
    VaultError(
      .wrongUser,
      "the sign-in came back as user \(ProviderText.name(found)), not"
        + " \(ProviderText.name(account.label)); nothing was changed",
      hint: "vault add-account --type \(account.type) --sign-in")
  }
}
