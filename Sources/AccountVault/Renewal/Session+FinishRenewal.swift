import Accounts
import Encoding
import Faults
import Ledger
import Providers
import Sodium
import Store
import Time

extension Session {
  /// Step 4 of a renewal (DESIGN section 6), in the open write transaction, the credential's lock held:
  /// the answer whole, if the generation is still the one that was read; the outcome's entry; the next
  /// time.
  ///
  /// What an older try brings never overwrites what is newer: the token that came is dropped then, and
  /// the ledger says so.
  func finish(
    _ flight: RenewalFlight, _ answer: RenewalAnswer, over network: Network
  ) throws(VaultError) -> Renewal {
    let records = Records(store)
    guard let account = try records.account(flight.account.id),
      let (found, row) = try records.credential(account.id, client: flight.clientID)
    else {
      try record(
        .failed, actor: flight.actor, account: flight.account,
        reason: "superseded: the account was removed meanwhile",
        evidence: answer.evidence(answer.refusal), details: flight.details)
      try takeBack(answer, flight, .accountRemoved)
      return Renewal(
        account: flight.account, clientID: flight.clientID, outcome: .failed,
        reason: "the account was removed meanwhile", generation: flight.generation,
        expiry: .unknown, evidence: answer.evidence(answer.refusal), wasSent: true)
    }
    var look = RenewalLook(
      account: account, credential: found, row: row, provider: flight.provider,
      record: try renewalRecord(of: found, account, row.key), now: now)
    guard found.generation == flight.generation, look.record.intent == flight.intent else {
      try record(
        .failed, actor: flight.actor, account: account,
        reason: "superseded by generation \(found.generation)",
        evidence: answer.evidence(answer.refusal), details: flight.details)
      // Another renewal's token is of the same grant: taking one back would end both.
      if found.source == .signIn { try takeBack(answer, flight, .replaced) }
      return look.renewal(.renewed, reason: "superseded by generation \(found.generation)")
    }
    look.record.intent = nil
    switch answer.verdict(flight.provider) {
    case .renewed(let response):
      return try store(response, flight, &look, answer, network)
    case .rejected(let refusal):
      return try reject(refusal, flight, &look, answer)
    case .failed(let failure):
      return try fail(failure, flight, &look, answer.evidence(failure.refusal), network)
    }
  }

  /// Puts a token that nobody waits for any more into the queue of those that the provider is told of,
  /// in the open transaction: the one that it replaced there is in the queue already, or spent.
  private func takeBack(
    _ answer: RenewalAnswer, _ flight: RenewalFlight, _ cause: PendingRevocation.Cause
  ) throws(VaultError) {
    switch answer.verdict(flight.provider) {
    case .rejected: return
    case .failed: return
    case .renewed(let response):
      let hasRefreshToken = !Self.keepsRefreshToken(response)
      var secret = CredentialSecret(accessToken: response.accessToken.copy())
      switch response.refreshToken {
      case .some(let token): secret.refreshToken = token.copy()
      case .none: break
      }
      let credential = Credential(
        clientID: flight.clientID, kind: .oauth2, tokenType: response.tokenType ?? "bearer",
        generation: flight.generation + 1, obtainedAt: answer.reply?.sentAt ?? now,
        expiry: Expiry(response.expiry), source: .renewal, hasRefreshToken: hasRefreshToken)
      _ = try enqueueRevocation(
        of: secret, credential, flight.account, userID: flight.account.userID, cause)
    }
  }

  // MARK: Renewed

  private func store(
    _ response: consuming TokenResponse, _ flight: RenewalFlight, _ look: inout RenewalLook,
    _ answer: RenewalAnswer, _ network: Network
  ) throws(VaultError) -> Renewal {
    let old = look.credential
    let evidence = answer.evidence(nil)
    if let id = response.userID, let known = look.account.userID, !same(id, known) {
      let failure = RenewalVerdict.Failure(
        errorClass: .config, scope: .credential, backoff: .unknown,
        reason: "the provider answered for another user; nothing of it was kept", mayBeSpent: true)
      return try fail(failure, flight, &look, evidence, network)
    }
    let previous = try Records(store).secret(of: look.row)
    let isSame = response.accessToken.isEqual(to: previous.accessToken)
    let kept = Self.keepsRefreshToken(response)
    let sent = answer.reply?.sentAt ?? look.now
    let credential = RenewedCredential(
      old: old, response: response, obtainedAt: sent, keepsRefreshToken: kept
    ).credential
    if flight.way == .exchange, isSame, !credential.ends(after: old) {
      let failure = RenewalVerdict.Failure(
        errorClass: .content, scope: .credential, backoff: .person,
        reason: "the provider gave the same token back: it cannot be extended")
      return try fail(failure, flight, &look, evidence, network)
    }
    let secret = Self.secret(response, previous)
    let answered = ScopeAnswer(answered: response.scopes, before: old.scopes)
    var record = RenewalRecord(
      account: look.account.id, clientID: flight.clientID, generation: credential.generation)
    record.triedAt = look.record.triedAt
    // A person was told of an end that this renewal does not move.
    record.announced = look.record.announced
    let recovered = flight.intent.attempt > 1 || look.record.mayBeSpent
    look.credential = credential
    try put(credential, of: look.account, record, secret: .replace(secret.packed()))
    look.record =
      try Records(store).renewal(look.row.key) ?? record
    var details = look.details
    if flight.way == .refreshToken {
      details.append(Entry.Detail("refresh_token", kept ? "kept" : "replaced"))
    }
    if recovered { details.append(Entry.Detail("recovered", "true")) }
    if !answered.added.isEmpty {
      details.append(Entry.Detail("scopes_added", answered.added.joined(separator: " ")))
    }
    for note in credential.notes { details.append(Entry.Detail("note", note)) }
    try self.record(
      .renewed, actor: flight.actor, account: look.account, evidence: evidence, details: details)
    if !answered.missing.isEmpty {
      try narrow(
        look.account, client: flight.clientID, lost: answered.missing,
        left: answered.scopes ?? [], look.provider, evidence: evidence)
    }
    try clearPace(flight)
    return look.sent(.renewed, evidence: evidence)
  }

  /// A member that is missing, null or empty keeps the present one (RFC 6749 section 6, FIELD-CASES B08).
  private static func keepsRefreshToken(_ response: borrowing TokenResponse) -> Bool {
    switch response.refreshToken {
    case .some: false
    case .none: true
    }
  }

  private static func secret(
    _ response: borrowing TokenResponse, _ previous: borrowing CredentialSecret
  ) -> CredentialSecret {
    var secret = CredentialSecret(accessToken: response.accessToken.copy())
    switch response.refreshToken {
    case .some(let token): secret.refreshToken = token.copy()
    case .none: secret.refreshToken = copy(previous.refreshToken)
    }
    secret.tokenSecret = copy(previous.tokenSecret)
    secret.proofKey = copy(previous.proofKey)
    return secret
  }

  private static func copy(_ secret: borrowing SecretBytes?) -> SecretBytes? {
    switch secret {
    case .some(let secret): secret.copy()
    case .none: nil
    }
  }

  // MARK: Rejected

  /// The store was read once more just now, in this transaction: the generation has not moved, so the
  /// refusal is about the newest token there is.
  private func reject(
    _ refusal: Classification, _ flight: RenewalFlight, _ look: inout RenewalLook,
    _ answer: RenewalAnswer
  ) throws(VaultError) -> Renewal {
    let errorClass = refusal.errorClass
    let evidence = answer.evidence(refusal)
    let wasCutOff = flight.intent.attempt > 1 || look.record.mayBeSpent
    let wasLost: Bool =
      if case .rejected(let reason, _) = look.credential.mark {
        reason == RenewalPlan.lostInRenewal
      } else { false }
    var reason = "\(look.provider.name) refused the renewal: \(errorClass.rawValue)"
    if let code = refusal.shownCode { reason += ", code \(code)" }
    if errorClass == .revoked {
      reason = "the person took the app away at \(look.provider.name)"
    } else if wasCutOff || wasLost {
      reason = RenewalPlan.lostInRenewal
    }
    look.credential.mark = .rejected(reason: reason, at: look.now)
    look.record.errorClass = errorClass.rawValue
    look.record.reason = reason
    look.record.attempts += 1
    try put(look.credential, of: look.account, look.record, secret: .keep)
    look.record.lookAt = nil
    try record(
      .rejected, actor: flight.actor, account: look.account, reason: reason, evidence: evidence,
      details: flight.details)
    if errorClass == .revoked {
      // The credential is marked; what is left are the grants that went with it.
      try take(
        refusal, body: answer.reply?.response, for: look.account, clientID: flight.clientID,
        generation: flight.generation)
    }
    // The client itself was understood.
    try clearPace(flight)
    return look.sent(
      .rejected, errorClass: errorClass.rawValue, reason: reason, evidence: evidence)
  }

  // MARK: Failed

  private func fail(
    _ failure: RenewalVerdict.Failure, _ flight: RenewalFlight, _ look: inout RenewalLook,
    _ evidence: Evidence?, _ network: Network
  ) throws(VaultError) -> Renewal {
    let now = look.now
    look.record.attempts += 1
    if look.record.failingSince.map({ $0 > now + RenewalRecord.tolerance }) ?? true {
      look.record.failingSince = now
    }
    look.record.triedAt = now
    look.record.errorClass = failure.errorClass.rawValue
    look.record.reason = failure.reason
    look.record.providerTime = failure.refusal?.retryAfter.flatMap { $0 > now ? $0 : nil }
    if failure.mayBeSpent, flight.way == .refreshToken {
      look.record.mayBeSpent = true
      if look.provider.renewal.rotation == .singleUse, look.credential.mark == .none {
        look.credential.mark = .uncertain(since: flight.intent.startedAt)
      }
    }
    let wait = failure.backoff.wait(after: look.record.attempts, network.random)
    look.record.waitsUntil = now + wait
    if failure.scope != .credential { try slow(failure, flight, evidence, network) }
    try put(look.credential, of: look.account, look.record, secret: .keep)
    look.record = try Records(store).renewal(look.row.key) ?? look.record
    var details = flight.details
    details.append(Entry.Detail("attempts", String(look.record.attempts)))
    try record(
      .failed, actor: flight.actor, account: look.account, reason: failure.reason,
      evidence: evidence ?? Evidence(class: failure.errorClass.rawValue), details: details)
    return look.sent(
      failure.isRefusal ? .rejected : .failed, errorClass: failure.errorClass.rawValue,
      reason: failure.reason, evidence: evidence)
  }

  /// Slows the client down, for all of its accounts; at its first refusal with one alarm.
  private func slow(
    _ failure: RenewalVerdict.Failure, _ flight: RenewalFlight,
    _ evidence: Evidence?, _ network: Network
  ) throws(VaultError) {
    let records = Records(store)
    let reference = ClientReference(type: flight.account.type, clientID: flight.clientID)
    var pace = try records.pace(reference)
    // Those that were under way together when the trouble began are one failure.
    if pace.failedAt.map({ flight.intent.startedAt > $0 }) ?? true { pace.failures += 1 }
    pace.failedAt = now
    pace.errorClass = failure.errorClass.rawValue
    pace.reason = failure.reason
    pace.waitsUntil = now + failure.backoff.wait(after: pace.failures, network.random)
    pace.providerTime = failure.refusal?.retryAfter.flatMap { $0 > now ? $0 : nil }
    if failure.scope == .client {
      let client = try records.client(reference).map { records.fingerprint(of: $0.1) }
      if pace.stoppedAt == nil || pace.stoppedClient != client {
        pace.stoppedAt = now
        pace.stoppedClient = client
        try record(
          .failed, actor: "engine", reason: "client stopped: \(failure.reason)",
          evidence: evidence, details: [Entry.Detail("client", reference.description)])
      }
    }
    try records.put(pace, day: today)
  }

  private func clearPace(_ flight: RenewalFlight) throws(VaultError) {
    let reference = ClientReference(type: flight.account.type, clientID: flight.clientID)
    guard try !Records(store).pace(reference).isClear else { return }
    try Records(store).put(
      ClientPace(type: reference.type, clientID: reference.clientID), day: today)
  }
}

/// The record of a credential that takes another's place.
struct RenewedCredential: ~Copyable {
  let credential: Credential

  init(
    old: Credential, response: borrowing TokenResponse, obtainedAt: Timestamp,
    keepsRefreshToken: Bool
  ) {
    // Never the old token's end: a missing one is unknown (FIELD-CASES B10).
    let expiry = Expiry(response.expiry)
    let notes = response.notes.map(\.description)
    credential = Credential(
      clientID: old.clientID, kind: old.kind,
      tokenType: response.tokenType ?? old.tokenType, generation: old.generation + 1,
      obtainedAt: obtainedAt,
      lifetime: expiry.time.map { max(0, $0.seconds - obtainedAt.seconds) }, expiry: expiry,
      // A renewal does not move the refresh token's end unless the answer says so.
      refreshExpiresAt: Expiry(response.refreshExpiry).time ?? old.refreshExpiresAt,
      dataAccessUntil: response.dataAccessEnd ?? old.dataAccessUntil,
      scopes: response.scopes ?? old.scopes, askedScopes: old.askedScopes, source: .renewal,
      hasRefreshToken: !keepsRefreshToken || old.hasRefreshToken, notes: notes)
  }
}

extension Credential {
  /// Whether it ends at least a minute later than another, as far as both ends are known.
  fileprivate func ends(after other: Credential) -> Bool {
    switch (expiry, other.expiry) {
    case (.at(let mine), .at(let others)): mine > others + 60
    case (.never, .at): true
    default: false
    }
  }
}

extension RenewalFlight {
  var details: [Entry.Detail] {
    var details = [Entry.Detail("generation", String(generation))]
    if !clientID.isEmpty { details.append(Entry.Detail("client", clientID)) }
    if intent.attempt > 1 { details.append(Entry.Detail("attempt", String(intent.attempt))) }
    return details
  }
}

extension RenewalLook {
  func sent(
    _ outcome: Renewal.Outcome, errorClass: String? = nil, reason: String? = nil,
    evidence: Evidence?
  ) -> Renewal {
    Renewal(
      account: account, clientID: credential.clientID, outcome: outcome, errorClass: errorClass,
      reason: reason, generation: credential.generation, expiry: credential.expiry,
      nextAttemptAt: record.lookAt, evidence: evidence, wasSent: true)
  }
}
