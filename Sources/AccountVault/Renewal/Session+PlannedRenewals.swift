public import Accounts
import Encoding
public import Faults
import Store
public import Time

/// What a renewal would do, without doing it.
public struct PlannedRenewal: Sendable {
  /// Whose credential it is.
  public let account: Account
  /// The credential, but for its secrets.
  public let credential: Credential
  /// What would come of it without a request; nil where one would be sent.
  public let outcome: Renewal.Outcome?
  /// The class of the last failure, where it is the reason.
  public let errorClass: String?
  /// Why.
  public let reason: String?
  /// When the engine looks at it next.
  public let nextAttemptAt: Timestamp?
}

extension Session {
  /// What ``renewDue(_:over:each:)`` would do now. Nothing is sent and nothing is written.
  public func plannedRenewals(
    _ scope: RenewalScope, each: (PlannedRenewal) throws(VaultError) -> Void
  ) throws(VaultError) {
    let isOwners = scope.all || !scope.accounts.isEmpty
    let cause = isOwners ? RenewalCause.owner : .due
    let mayRisk = !scope.accounts.isEmpty
    func plan(_ account: Account) throws(VaultError) {
      for client in account.clients {
        guard
          let planned = try plannedRenewal(
            account, client, cause, within: scope.within, mayRisk: mayRisk)
        else { continue }
        if !isOwners, planned.outcome == .notDue { continue }
        try each(planned)
      }
    }
    try store.read { () throws(VaultError) in
      for account in scope.accounts {
        if let account = try Records(store).account(account.id) { try plan(account) }
      }
      guard scope.accounts.isEmpty else { return }
      try Records(store).forEachAccount { (account) throws(VaultError) in
        try plan(account)
        return true
      }
    }
  }

  private func plannedRenewal(
    _ account: Account, _ client: String, _ cause: RenewalCause, within: Int64, mayRisk: Bool
  ) throws(VaultError) -> PlannedRenewal? {
    let records = Records(store)
    guard let (credential, row) = try records.credential(account.id, client: client) else {
      return nil
    }
    let reference = ClientReference(type: account.type, clientID: client)
    let registered = try records.client(reference).map { records.fingerprint(of: $0.1) }
    let pace = try records.pace(reference)
    let record = try renewalRecord(of: credential, account, row.key)
    let schedule = RenewalSchedule(
      credential: credential, provider: try provider(account.type), seed: row.key.low)
    let plan = RenewalPlan(
      schedule: schedule, record: record, pace: pace, hasClient: registered != nil,
      clientChanged: pace.stoppedClient != nil && pace.stoppedClient != registered, now: now)
    func planned(
      _ outcome: Renewal.Outcome?, _ errorClass: String? = nil, _ reason: String? = nil,
      _ next: Timestamp? = nil
    ) -> PlannedRenewal {
      PlannedRenewal(
        account: account, credential: credential, outcome: outcome, errorClass: errorClass,
        reason: reason, nextAttemptAt: next ?? record.lookAt ?? schedule.nextLook(record, now: now))
    }
    switch plan.step(cause, within: within, mayRisk: mayRisk) {
    case .send: return planned(nil, nil, "would be renewed", now)
    case .notDue: return planned(.notDue)
    case .announce(let end): return planned(.notDue, nil, "a person must sign in by \(end)")
    case .wait(let until, let errorClass, let reason):
      return planned(
        errorClass != nil || until == nil ? .failed : .notDue, errorClass, reason, until)
    case .isRejected(let reason): return planned(.rejected, record.errorClass, reason)
    case .ended(let reason, _): return planned(.rejected, "expired", reason)
    case .noClient:
      return planned(
        .failed, "config", "the client that the token was issued to is not in the vault")
    }
  }
}
