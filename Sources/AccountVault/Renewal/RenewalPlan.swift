import Accounts
import Providers
import Time

/// What is done about a credential at one moment, decided from values alone.
struct RenewalPlan {
  enum Step: Equatable {
    /// Sent, with the number of the try of this generation.
    case send(attempt: Int64)
    /// A renewal is wanted and must wait.
    case wait(until: Timestamp?, errorClass: String?, reason: String)
    case notDue
    /// A person is told, once, that only they can go on after this time.
    case announce(Timestamp)
    /// Refused for good before.
    case isRejected(String)
    /// Nothing can renew it any more. `isNew`: this is not in the ledger yet.
    case ended(String, isNew: Bool)
    /// The registration that would be needed is not there.
    case noClient
  }

  let schedule: RenewalSchedule
  let record: RenewalRecord
  let pace: ClientPace
  let hasClient: Bool
  /// Whether the client is another than the one that was refused.
  let clientChanged: Bool
  let now: Timestamp

  private var credential: Credential { schedule.credential }
  private var provider: Provider { schedule.provider }

  /// The reason of a rejection after which the owner may still try: the refresh token may have been
  /// spent by a renewal that was cut off.
  static let lostInRenewal = "a renewal that was cut off lost the refresh token"

  /// - Parameters:
  ///   - within: Credentials that become due in so many seconds are due.
  ///   - mayRisk: Whether the owner named this credential, and so said yes to spending a token that
  ///     may have been spent before.
  func step(_ cause: RenewalCause, within: Int64 = 0, mayRisk: Bool) -> Step {
    if case .rejected(let reason, _) = credential.mark {
      guard mayRisk, reason == Self.lostInRenewal, schedule.way != .none else {
        return .isRejected(reason)
      }
      return gate(cause) ?? .send(attempt: (record.intent?.attempt ?? 1) + 1)
    }
    if let step = ended(cause) { return step }
    if schedule.way == .none { return announcement ?? .notDue }
    guard isWanted(cause, within: within) else { return announcement ?? .notDue }
    if credential.mark.isStale, !mayRisk {
      return .wait(
        until: nil, errorClass: nil,
        reason: "restored from a backup: name the account to spend its refresh token")
    }
    guard hasClient else { return .noClient }
    if let step = gate(cause) { return step }
    guard let intent = record.intent else { return .send(attempt: 1) }
    return .send(attempt: intent.attempt + 1)
  }

  /// What nothing can renew any more.
  private func ended(_ cause: RenewalCause) -> Step? {
    let isDead =
      switch cause {
      case .expired: true
      default: credential.expiry.time.map { $0 <= now } ?? false
      }
    guard credential.clockIsBelieved(at: now) else { return nil }
    switch schedule.way {
    case .none:
      guard isDead else { return nil }
      return .ended("the token has ended, and nothing can renew it", isNew: !record.hasEnded)
    case .refreshToken:
      guard let end = credential.refreshExpiresAt, end <= now else { return nil }
      if isDead {
        return .ended("the refresh token ended on \(end)", isNew: !record.hasEnded)
      }
      return announcement ?? .notDue
    case .exchange:
      guard let end = credential.expiry.time, end <= now else { return nil }
      // Where the provider itself said so, one try shows that nothing else is wrong.
      if case .expired = cause, !record.hasEnded { return nil }
      if record.renewFirst, !record.hasEnded { return nil }
      return .ended(
        "the token ended on \(end): it can only be exchanged before", isNew: !record.hasEnded)
    }
  }

  private var announcement: Step? {
    guard let (end, _) = schedule.personNeeded(at: now), record.announced != end, end > now,
      schedule.announcement(of: end) <= now
    else { return nil }
    return .announce(end)
  }

  private func isWanted(_ cause: RenewalCause, within: Int64) -> Bool {
    switch cause {
    case .owner, .expired, .request: return true
    case .due: break
    }
    if record.renewFirst || record.intent != nil || credential.mark.isUncertain { return true }
    guard credential.expiry.time != nil else { return false }
    if !credential.clockIsBelieved(at: now) { return true }
    if within > 0, let due = credential.dueAt(marginSeconds: provider.renewal.marginSeconds),
      due <= now + within
    {
      return true
    }
    return schedule.renewalDue.map { $0 <= now } ?? false
  }

  /// What stands against sending now.
  private func gate(_ cause: RenewalCause) -> Step? {
    let named = [record.providerWait(at: now), pace.providerWait(at: now)].compactMap { $0 }.max()
    if let named {
      return .wait(
        until: named, errorClass: record.errorClass ?? pace.errorClass,
        reason: "the provider asked to wait until \(named)")
    }
    if case .owner = cause { return nil }
    if pace.stoppedAt != nil, !clientChanged, let until = pace.wait(at: now) {
      return .wait(
        until: until, errorClass: pace.errorClass,
        reason: pace.reason ?? "the provider refuses the client")
    }
    // A cut-off renewal is settled whatever the token's age, and a provider that said itself that the
    // token has ended does not mean its own least age.
    let isSaidToHaveEnded = if case .expired = cause { true } else { false }
    if record.intent == nil, !isSaidToHaveEnded {
      let young = credential.obtainedAt + provider.renewal.minimumAgeSeconds
      if provider.renewal.minimumAgeSeconds > 0, young > now, credential.obtainedAt <= now {
        return .wait(
          until: young, errorClass: nil, reason: "the token is younger than the provider allows")
      }
    }
    if let triedAt = record.triedAt, triedAt <= now {
      let next = triedAt + max(60, provider.renewal.minimumIntervalSeconds)
      if next > now, record.intent == nil {
        return .wait(
          until: next, errorClass: record.errorClass, reason: "it was tried less than a moment ago")
      }
    }
    if let until = record.wait(at: now) {
      return .wait(
        until: until, errorClass: record.errorClass, reason: record.reason ?? "the last try failed")
    }
    if !clientChanged, let until = pace.wait(at: now) {
      return .wait(
        until: until, errorClass: pace.errorClass,
        reason: pace.reason ?? "the last try of this client failed")
    }
    return nil
  }
}
