import Accounts
import Encoding
import Faults
import FileSystem
import Ledger
import Providers
import Sodium
import Store
import Time

/// What is asked for, of one credential.
struct RenewalRequest {
  let account: AccountID
  let clientID: String
  let cause: RenewalCause
  /// Credentials that become due in so many seconds count as due.
  var within: Int64 = 0
  /// The owner asked for all, and named none.
  var isForAll = false
  /// The generation that was there before the lock; another one now is somebody else's renewal.
  var seen: Int64?
  /// The generation that a provider refused, where the caller knows it.
  var refused: Int64?
}

/// What a look at a credential, under its lock, came to.
enum BegunRenewal {
  case flight(RenewalFlight)
  case done(Renewal)
}

extension Session {
  /// Bytes that must be free before anything is sent: an answer that cannot be written is a token lost.
  static let room: UInt64 = 4 << 20

  /// How long after its start the request of a process that was killed may still be on its way, in
  /// nanoseconds. The kernel closes a dead process's connections, so what is left is what the server
  /// has read already.
  static let cutOffGrace: Int64 = 5_000_000_000

  /// Steps 1 and 2 of a renewal (DESIGN section 6), in the open write transaction, the credential's lock
  /// held: reads again, decides, and writes the intent down. Nothing is sent before the transaction is
  /// committed.
  func begin(_ request: RenewalRequest, over network: Network) throws(VaultError) -> BegunRenewal {
    let records = Records(store)
    guard let account = try records.account(request.account) else {
      throw VaultError(
        .notFound, "no account \(request.account.text)", hint: "vault accounts")
    }
    guard let (found, row) = try records.credential(account.id, client: request.clientID) else {
      throw VaultError(
        .signIn, "account \(ProviderText.name(account.label)) has no credential of that client",
        hint: signInHint(account))
    }
    var look = RenewalLook(
      account: account, credential: found, row: row, provider: try provider(account.type),
      record: try renewalRecord(of: found, account, row.key), now: now)
    if let seen = request.seen, seen != found.generation {
      return .done(look.renewal(.renewed, reason: "another process renewed it"))
    }
    if case .expired = request.cause {
      if let done = try noteExpired(&look, request) { return .done(done) }
    }
    let reference = ClientReference(type: account.type, clientID: request.clientID)
    let client = try renewalClient(reference)
    let pace = try records.pace(reference)
    let plan = RenewalPlan(
      schedule: look.schedule, record: look.record, pace: pace, hasClient: client != nil,
      clientChanged: pace.stoppedClient != nil && pace.stoppedClient != client?.fingerprint,
      now: look.now)
    let step = plan.step(
      request.cause, within: request.within, mayRisk: request.isOwners && !request.isForAll)
    if case .send(let attempt) = step, let client {
      return try start(attempt, request, look, client.client, network)
    }
    return .done(try settle(step, &look, request))
  }

  /// The record of a credential; a first one where what is there is about another generation.
  func renewalRecord(of credential: Credential, _ account: Account, _ key: Key16)
    throws(VaultError) -> RenewalRecord
  {
    if let known = try Records(store).renewal(key), known.generation == credential.generation {
      return known
    }
    return RenewalRecord(
      account: account.id, clientID: credential.clientID, generation: credential.generation)
  }

  private func renewalClient(_ reference: ClientReference) throws(VaultError)
    -> (client: RegisteredClient, fingerprint: Key16)?
  {
    guard !reference.clientID.isEmpty, let (_, row) = try Records(store).client(reference) else {
      return nil
    }
    return (try registeredClient(reference), Records(store).fingerprint(of: row))
  }

  /// Takes the provider's word that the token has ended, whatever its date says.
  ///
  /// - Returns: The outcome where there is nothing to take: the word is about an older token, which
  ///   must never end the newer one (FIELD-CASES B46).
  private func noteExpired(_ look: inout RenewalLook, _ request: RenewalRequest)
    throws(VaultError) -> Renewal?
  {
    if let refused = request.refused {
      if refused != look.credential.generation {
        return look.renewal(.renewed, reason: "another process renewed it")
      }
    } else if look.now - look.credential.obtainedAt < 60,
      look.credential.obtainedAt <= look.now, look.credential.source == .renewal
    {
      return look.renewal(.notDue, reason: "it was renewed a moment ago")
    }
    if case .rejected = look.credential.mark { return nil }
    guard !look.record.renewFirst else { return nil }
    look.record.renewFirst = true
    look.credential = look.credential.ended(at: look.now)
    try put(look.credential, of: look.account, look.record, secret: .keep)
    return nil
  }

  private func start(
    _ attempt: Int64, _ request: RenewalRequest, _ look: RenewalLook, _ client: RegisteredClient,
    _ network: Network
  ) throws(VaultError) -> BegunRenewal {
    try checkRoom()
    let records = Records(store)
    let secret = try records.secret(of: look.row)
    let way = look.schedule.way
    var token = SharedSecret(secret.accessToken.copy())
    if way == .refreshToken {
      switch secret.refreshToken {
      case .some(let refresh): token = SharedSecret(refresh.copy())
      case .none: break
      }
    }
    var proofKey: SharedSecret?
    switch secret.proofKey {
    case .some(let key): proofKey = SharedSecret(key.copy())
    case .none: break
    }
    let cutOff = look.record.intent
    // Two tries were cut off: a third could be the second use of a token, which ends the family.
    if cutOff != nil, attempt > 2, look.provider.renewal.rotation == .singleUse,
      !request.isOwners || request.isForAll
    {
      return .done(try loseInRenewal(look))
    }
    var credential = look.credential
    var record = look.record
    let bootID = RunningProcess.bootID ?? ""
    let intent = RenewalRecord.Intent(
      attempt: attempt, tokenHash: store.tokenHash(token.bytes), startedAt: look.now,
      bootID: bootID, sinceBoot: network.clock.sinceBoot())
    var notBefore: Int64?
    if let cutOff {
      record.mayBeSpent = true
      if way == .refreshToken, credential.mark == .none {
        credential.mark = .uncertain(since: cutOff.startedAt)
      }
      if cutOff.bootID == bootID, cutOff.sinceBoot <= intent.sinceBoot {
        notBefore = cutOff.sinceBoot + Self.cutOffGrace
      }
    }
    record.intent = intent
    record.triedAt = look.now
    record.lookAt = look.now
    try put(credential, of: look.account, record, secret: .keep, keepsLook: true)
    var details = look.details
    details.append(Entry.Detail("token_hash", Hex.encode(intent.tokenHash.bytes)))
    if attempt > 1 { details.append(Entry.Detail("attempt", String(attempt))) }
    var evidence: Evidence?
    if case .expired(let given) = request.cause { evidence = given }
    let actor = request.isOwners ? options.actor : "engine"
    try self.record(
      .renewalStarted, actor: actor, account: look.account,
      reason: cutOff == nil ? nil : "the previous attempt was interrupted", evidence: evidence,
      details: details)
    return .flight(
      RenewalFlight(
        key: look.row.key, account: look.account, clientID: request.clientID,
        generation: credential.generation, intent: intent, provider: look.provider,
        client: client, way: way, token: token, proofKey: proofKey, notBefore: notBefore,
        actor: actor))
  }

  private func checkRoom() throws(VaultError) {
    let free: UInt64
    do throws(FileError) { free = try Files.availableBytes(store.path) } catch {
      throw .file(error, "measuring the disk")
    }
    guard free >= Self.room else {
      throw VaultError(
        .io, "the disk is nearly full: nothing is renewed, for the answer could not be kept",
        hint: "vault doctor", reason: .diskFull)
    }
  }

  private func loseInRenewal(_ look: RenewalLook) throws(VaultError) -> Renewal {
    var look = look
    look.credential.mark = .rejected(reason: RenewalPlan.lostInRenewal, at: look.now)
    look.record.intent = nil
    look.record.reason = RenewalPlan.lostInRenewal
    try put(look.credential, of: look.account, look.record, secret: .keep)
    try record(
      .rejected, actor: "engine", account: look.account, reason: RenewalPlan.lostInRenewal,
      details: look.details + [Entry.Detail("next", "vault renew spends the token once more")])
    return look.renewal(.rejected, reason: RenewalPlan.lostInRenewal)
  }

  /// Everything that is not sent: what has to be written, and the outcome.
  private func settle(
    _ step: RenewalPlan.Step, _ look: inout RenewalLook, _ request: RenewalRequest
  ) throws(VaultError) -> Renewal {
    switch step {
    case .send:
      // Only with a client, which the caller saw to.
      return look.renewal(.failed, errorClass: "config", reason: "no client")
    case .notDue:
      try keepLook(&look)
      return look.renewal(.notDue)
    case .wait(let until, let errorClass, let reason):
      try keepLook(&look, notBefore: until)
      let isFailure = errorClass != nil || until == nil
      return look.renewal(
        isFailure ? .failed : .notDue, errorClass: errorClass, reason: reason,
        next: until ?? look.record.lookAt)
    case .announce(let end):
      look.record.announced = end
      try keepLook(&look, always: true)
      return look.renewal(
        .notDue, reason: "a person must sign in by \(end)", needsPersonBy: end)
    case .isRejected(let reason):
      try keepLook(&look)
      return look.renewal(.rejected, errorClass: look.record.errorClass, reason: reason)
    case .ended(let reason, let isNew):
      if isNew {
        look.record.hasEnded = true
        look.record.reason = reason
        look.record.errorClass = "expired"
        var evidence: Evidence?
        if case .expired(let given) = request.cause { evidence = given }
        if look.schedule.way == .refreshToken {
          look.credential.mark = .rejected(reason: reason, at: look.now)
        }
        try put(look.credential, of: look.account, look.record, secret: .keep)
        try record(
          look.schedule.way == .refreshToken ? .rejected : .expired, actor: "engine",
          account: look.account, reason: reason, evidence: evidence, details: look.details)
      } else {
        try keepLook(&look)
      }
      return look.renewal(.rejected, errorClass: "expired", reason: reason)
    case .noClient:
      look.record.triedAt = look.now
      look.record.waitsUntil = look.now + 3600
      look.record.errorClass = "config"
      look.record.reason = "the client that the token was issued to is not in the vault"
      try keepLook(&look, always: true)
      return look.renewal(.failed, errorClass: "config", reason: look.record.reason)
    }
  }

  /// Writes when to look next, where that is another time than before.
  private func keepLook(
    _ look: inout RenewalLook, notBefore: Timestamp? = nil, always: Bool = false
  ) throws(VaultError) {
    let old = look.record.lookAt
    var next = look.schedule.nextLook(look.record, now: look.now)
    if let planned = next, let notBefore, planned < notBefore { next = notBefore }
    look.record.lookAt = next
    guard always || old != next else { return }
    try Records(store).put(look.record, day: today)
  }

  /// Puts a credential and what the engine knows of it, with the times that follow from both.
  func put(
    _ credential: Credential, of account: Account, _ record: RenewalRecord,
    secret: consuming SecretChange, keepsLook: Bool = false
  ) throws(VaultError) {
    let records = Records(store)
    let provider = try provider(account.type)
    let key = records.credentialKey(account.id, client: credential.clientID)
    var record = record
    if !keepsLook {
      record.lookAt = RenewalSchedule(credential: credential, provider: provider, seed: key.low)
        .nextLook(record, now: now)
    }
    let due = credential.dueAt(marginSeconds: provider.renewal.marginSeconds)
    try records.put(
      credential, of: account.id, secret: secret,
      due: due.map { max(1, $0.seconds / 3600) } ?? 0, day: today)
    try records.put(record, day: today)
  }
}

extension RenewalRequest {
  var isOwners: Bool { if case .owner = cause { true } else { false } }
}

/// A credential with all that decides about it.
struct RenewalLook {
  var account: Account
  var credential: Credential
  let row: Row
  let provider: Provider
  var record: RenewalRecord
  let now: Timestamp

  var schedule: RenewalSchedule {
    RenewalSchedule(credential: credential, provider: provider, seed: row.key.low)
  }

  var details: [Entry.Detail] {
    var details = [Entry.Detail("generation", String(credential.generation))]
    if !credential.clientID.isEmpty {
      details.append(Entry.Detail("client", credential.clientID))
    }
    return details
  }

  func renewal(
    _ outcome: Renewal.Outcome, errorClass: String? = nil, reason: String? = nil,
    next: Timestamp? = nil, needsPersonBy: Timestamp? = nil
  ) -> Renewal {
    Renewal(
      account: account, clientID: credential.clientID, outcome: outcome, errorClass: errorClass,
      reason: reason, generation: credential.generation, expiry: credential.expiry,
      nextAttemptAt: next ?? record.lookAt, needsPersonBy: needsPersonBy)
  }
}

extension Credential {
  /// The same, its token ended at a time.
  func ended(at time: Timestamp) -> Credential {
    if case .at(let end) = expiry, end <= time { return self }
    return Credential(
      clientID: clientID, kind: kind, tokenType: tokenType, generation: generation,
      obtainedAt: obtainedAt, lifetime: lifetime, expiry: .at(time),
      refreshExpiresAt: refreshExpiresAt, dataAccessUntil: dataAccessUntil, scopes: scopes,
      askedScopes: askedScopes, source: source, hasRefreshToken: hasRefreshToken, mark: mark,
      notes: notes)
  }
}
