public import Accounts
import Encoding
public import Faults
import HTTPTypes
import OAuth
public import Ledger
import Providers
import Sodium
import Store
public import Time

/// What came of a revocation that was due.
public struct RevocationOutcome: Sendable {
  /// What became of it.
  public enum State: String, Sendable {
    /// The provider knows that the token is over.
    case sent
    /// It does not yet; the next try is planned.
    case later
    /// It will not be told: see the reason. The token lives on there until it ends.
    case givenUp = "given_up"
    /// Nothing is to be taken back any more: the person signed in anew, and the provider would end
    /// that sign-in too.
    case superseded
  }

  /// What it was about, after the try.
  public let revocation: PendingRevocation
  /// What became of it.
  public let state: State
  /// For people: why it was not sent.
  public let reason: String?
  /// When the next try is due.
  public let nextAttemptAt: Timestamp?
  /// What the ledger keeps of the answer.
  public let evidence: Evidence?
}

extension Session {
  /// Tells providers of the tokens that are over here, as far as that is due.
  ///
  /// Each is claimed in a transaction of its own before it is sent, so that two processes do not send
  /// it both, and is forgotten only once the answer is in the ledger: a process that is killed in
  /// between leaves it in the queue. To send it once more does no harm (RFC 7009 section 2.2).
  ///
  /// - Parameter isForced: Those too whose next try is not due, but for a time that the provider
  ///   itself named.
  /// - Returns: What became of each that was tried; the rest of the queue waits.
  public func sendRevocations(
    over network: Network, isForced: Bool = false
  ) async throws(VaultError) -> [RevocationOutcome] {
    try await sendRevocations(over: network, isForced: isForced) { _ in true }
  }

  /// The same for a part of the queue.
  func sendRevocations(
    over network: Network, isForced: Bool = false, of isMeant: (PendingRevocation) -> Bool
  ) async throws(VaultError) -> [RevocationOutcome] {
    var outcomes: [RevocationOutcome] = []
    for pending in try pendingRevocations() where isMeant(pending) {
      // A task that is cancelled begins nothing more.
      if Task.isCancelled { break }
      switch try claim(pending.id, isForced: isForced) {
      case .none: continue
      case .settled(let outcome): outcomes.append(outcome)
      case .claimed(let claimed):
        outcomes.append(try await send(claimed, over: network))
      }
    }
    if outcomes.contains(where: { $0.state != .later }) { _ = try store.scrub() }
    return outcomes
  }

  private enum Claim {
    case none
    case settled(RevocationOutcome)
    case claimed(PendingRevocation)
  }

  private func claim(_ id: Key16, isForced: Bool) throws(VaultError) -> Claim {
    try store.write { () throws(VaultError) in
      let records = Records(store)
      guard var (pending, _) = try records.revocation(id) else { return .none }
      guard pending.notBefore <= now || isForced && !pending.isProvidersTime else { return .none }
      let provider = try provider(pending.type)
      if try endsAnother(pending, provider) {
        let why = "another sign-in is in the vault, and \(provider.name) would end that too"
        return .settled(try forget(pending, .superseded, why, nil))
      }
      guard now < pending.endsAt else {
        let why =
          pending.endsAt == pending.accessEndsAt
          ? "the token ended by itself before \(provider.name) could be told"
          : "\(provider.name) could not be told for 30 days"
        return .settled(try forget(pending, .givenUp, why, nil))
      }
      pending.begin(at: now)
      try records.put(pending, secret: .keep, day: today)
      return .claimed(pending)
    }
  }

  private func send(
    _ claimed: PendingRevocation, over network: Network
  ) async throws(VaultError) -> RevocationOutcome {
    let provider = try provider(claimed.type)
    let (access, refreshToken) = try revocationAccess(claimed, provider, network)
    let reply = await network.revoke(
      access, refreshToken: refreshToken,
      isAccessAlive: claimed.accessEndsAt.map { now < $0 } ?? true, provider)
    return try store.write { () throws(VaultError) in
      // Another process may have done it meanwhile, where this one was asleep for long.
      guard var (pending, _) = try Records(store).revocation(claimed.id) else {
        return RevocationOutcome(
          revocation: claimed, state: .sent, reason: nil, nextAttemptAt: nil, evidence: nil)
      }
      switch reply {
      case .done(let response): return try forget(pending, .sent, nil, Evidence(response))
      case .never(let why, let refusal, let response):
        return try forget(
          pending, .givenUp, why, refusal.map { Evidence($0, response) })
      case .later(let refusal, let response):
        let wait = network.random(1...pending.backoff)
        let time = refusal.retryAfter ?? now + wait
        pending.postpone(
          to: time, isProvidersTime: refusal.retryAfter != nil,
          lastClass: refusal.errorClass.rawValue)
        try Records(store).put(pending, secret: .keep, day: today)
        return RevocationOutcome(
          revocation: pending, state: .later,
          reason: "\(provider.name): \(refusal.errorClass.rawValue)", nextAttemptAt: time,
          evidence: Evidence(refusal, response))
      }
    }
  }

  private func revocationAccess(
    _ pending: PendingRevocation, _ provider: Provider, _ network: Network
  ) throws(VaultError) -> (Access, SharedSecret?) {
    try store.read { () throws(VaultError) in
      let records = Records(store)
      guard let (_, row) = try records.revocation(pending.id) else {
        throw VaultError(.tryAgain, "another process is telling the provider", reason: .busy)
      }
      let secret = try records.revocationSecret(of: row)
      let reference = ClientReference(type: pending.type, clientID: pending.clientID)
      var clientSecret: SharedSecret?
      if !pending.clientID.isEmpty, try records.client(reference) != nil {
        clientSecret = try registeredClient(reference).secret
      } else {
        switch secret.clientSecret {
        case .some(let kept): clientSecret = SharedSecret(kept.copy())
        case .none: break
        }
      }
      var refreshToken: SharedSecret?
      switch secret.credential.refreshToken {
      case .some(let token): refreshToken = SharedSecret(token.copy())
      case .none: break
      }
      return (
        try Access(
          secret.credential, clientID: pending.clientID, clientSecret: clientSecret,
          tokenType: pending.tokenType, userID: pending.userID, provider, network), refreshToken
      )
    }
  }

  /// Takes a revocation out of the queue, with its entry.
  private func forget(
    _ pending: PendingRevocation, _ state: RevocationOutcome.State, _ reason: String?,
    _ evidence: Evidence?
  ) throws(VaultError) -> RevocationOutcome {
    try store.remove(.revocation, pending.id)
    let account = Account(
      id: pending.account, type: pending.type, username: pending.username, createdAt: now)
    var details = [Entry.Detail("cause", pending.cause.rawValue)]
    if !pending.clientID.isEmpty { details.append(Entry.Detail("client", pending.clientID)) }
    details.append(Entry.Detail("generation", String(pending.generation)))
    if state == .givenUp { details.append(Entry.Detail("revocation", "given_up")) }
    switch state {
    case .sent:
      try record(
        .revocationSent, actor: "engine", account: account, evidence: evidence, details: details)
    case .givenUp, .superseded:
      try record(
        .failed, actor: "engine", account: account, reason: reason, evidence: evidence,
        details: details)
    case .later: break
    }
    return RevocationOutcome(
      revocation: pending, state: state, reason: reason, nextAttemptAt: nil, evidence: evidence)
  }
}

extension Access {
  /// Of a credential's secrets.
  ///
  /// - Throws: ``VaultError`` with code `config` where the key that the token is bound to cannot be
  ///   used.
  init(
    _ secret: borrowing CredentialSecret, clientID: String, clientSecret: SharedSecret?,
    tokenType: String, userID: String?, _ provider: Provider, _ network: Network
  ) throws(VaultError) {
    var proof: DPoP.Key?
    do throws(OAuthError) {
      switch secret.proofKey {
      case .some(let scalar): proof = try network.signatures.proofKey(scalar)
      case .none: break
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
    var tokenSecret: SharedSecret?
    switch secret.tokenSecret {
    case .some(let value): tokenSecret = SharedSecret(value.copy())
    case .none: break
    }
    self.init(
      clientID: clientID, clientSecret: clientSecret, tokenType: tokenType,
      accessToken: SharedSecret(secret.accessToken.copy()), tokenSecret: tokenSecret, proof: proof,
      userID: userID)
  }
}
