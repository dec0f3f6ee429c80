import Accounts
import Providers
import Time

/// What will happen to a credential next, in words, without the network.
struct RenewalForecast {
  let schedule: RenewalSchedule
  let record: RenewalRecord
  let pace: ClientPace
  /// Whether the client that it was issued to is in the vault.
  let hasClient: Bool
  let now: Timestamp

  var next: (text: String, time: Timestamp?) {
    let credential = schedule.credential
    switch credential.mark {
    case .rejected(let reason, _):
      return reason == RenewalPlan.lostInRenewal && schedule.way != .none
        ? ("a person signs in, or vault renew spends the old refresh token once more", nil)
        : ("a person signs in", nil)
    case .stale:
      return (
        schedule.way == .none
          ? "a person signs in" : "vault renew spends the old refresh token, or a person signs in",
        nil
      )
    case .uncertain, .none: break
    }
    let needed = schedule.personNeeded(at: now)
    if schedule.way == .none || schedule.renewalEnd.map({ $0 <= now }) ?? false {
      guard let end = needed?.by ?? credential.expiry.time else { return unending }
      if end <= now { return ("the token has ended, and a person signs in", nil) }
      return needed?.isFinal == false
        ? ("access to the person's data ends: they must come back", end)
        : ("the token expires and nothing can renew it: a person must sign in", end)
    }
    if !hasClient {
      return (
        "the token expires, and is not renewed without the client that it was issued to",
        credential.expiry.time
      )
    }
    if record.needsPerson(at: now) {
      return (
        "it is tried again, and a person should look: it has failed since"
          + " \(record.failingSince?.description ?? "long ago")"
          + (record.reason.map { " (\($0))" } ?? ""), look
      )
    }
    if record.intent != nil || credential.mark.isUncertain {
      return ("a renewal was cut off; one more try settles it", look)
    }
    if pace.stoppedAt != nil {
      return (
        "the client's renewals are stopped"
          + (pace.reason.map { " (\($0))" } ?? "") + "; it is probed", pace.wait(at: now) ?? now
      )
    }
    if let reason = record.reason, record.attempts > 0 {
      return ("it is tried again: \(reason)", look)
    }
    guard let due = schedule.renewalDue else {
      guard let end = needed?.by else { return unending }
      return ("a person must come back", end)
    }
    if let end = needed?.by, end < due {
      return needed?.isFinal == false
        ? ("access to the person's data ends: they must come back", end)
        : ("the refresh token ends: a person must sign in by then", end)
    }
    return ("it is renewed", max(due, record.wait(at: now) ?? due))
  }

  private var look: Timestamp? {
    [record.lookAt, record.wait(at: now), pace.wait(at: now)].compactMap { $0 }.max()
  }

  private var unending: (text: String, time: Timestamp?) {
    schedule.credential.expiry == .unknown
      ? ("nothing that is known: the provider did not say when the token ends", nil)
      : ("nothing: the token does not expire", nil)
  }
}
