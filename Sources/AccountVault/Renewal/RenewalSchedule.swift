import Accounts
import Providers
import Time

/// When things happen to a credential by themselves: a renewal, a word to the person, an end.
///
/// All of it follows from the rows and the definition. The clock is only compared with.
struct RenewalSchedule {
  let credential: Credential
  let provider: Provider
  /// Keyed by the credential's row: the same at each look, another for each credential.
  let seed: UInt64

  /// What can take the credential's place without a person.
  enum Way { case refreshToken, exchange, none }

  var way: Way {
    switch provider.renewal.method {
    case .none: .none
    case .exchange: credential.kind == .oauth2 ? .exchange : .none
    case .refreshToken: credential.hasRefreshToken ? .refreshToken : .none
    }
  }

  /// Whether the provider may put another refresh token in the place of the one that is sent.
  var mayRotate: Bool { way == .refreshToken }

  /// When the engine renews: the margin before the end, put off by up to half of it.
  ///
  /// Credentials that were made in the same second become due over a stretch of time; none earlier than
  /// the margin says, none later than half of it before the end.
  var renewalDue: Timestamp? {
    guard way != .none, let due = credential.dueAt(marginSeconds: provider.renewal.marginSeconds)
    else { return nil }
    let window = credential.margin(provider.renewal.marginSeconds) / 2
    guard window > 0 else { return due }
    return due + Int64(seed % UInt64(window))
  }

  /// After this no renewal can work: the refresh token's own end, or for an exchange the token's.
  var renewalEnd: Timestamp? {
    switch way {
    case .refreshToken: credential.refreshExpiresAt
    case .exchange: credential.expiry.time
    case .none: nil
    }
  }

  /// The next end that no renewal puts off.
  ///
  /// - Parameter isFinal: Whether the credential is of no use after it.
  func personNeeded(at now: Timestamp) -> (by: Timestamp, isFinal: Bool)? {
    var ends: [(Timestamp, Bool)] = []
    switch way {
    case .none: if let end = credential.expiry.time { ends.append((end, true)) }
    case .refreshToken: if let end = credential.refreshExpiresAt { ends.append((end, true)) }
    case .exchange: break
    }
    // Some data is refused from then on, and the token goes on.
    if let end = credential.dataAccessUntil, end > now { ends.append((end, false)) }
    guard let first = ends.min(by: { $0.0 < $1.0 }) else { return nil }
    return (first.0, first.1)
  }

  /// When a person is told of an end: the provider's margin before it, and at least a week, but not
  /// more than a quarter of the time that there was.
  func announcement(of end: Timestamp) -> Timestamp {
    let span = max(0, end - credential.obtainedAt)
    let lead = min(max(provider.renewal.marginSeconds, 7 * 86_400), span / 4)
    return end - lead
  }

  /// When the engine looks at the credential next; nil where nothing will come by itself.
  func nextLook(_ record: RenewalRecord, now: Timestamp) -> Timestamp? {
    if case .rejected = credential.mark { return nil }
    var times: [Timestamp] = []
    let isOver = renewalEnd.map { $0 <= now } ?? false
    if way != .none, !isOver {
      let wanted =
        record.renewFirst || record.intent != nil || credential.mark.isUncertain
          || !credential.clockIsBelieved(at: now)
        ? now : renewalDue
      if let wanted {
        // A stale one is not tried by the engine; it is looked at again when somebody may have
        // decided.
        let stale = credential.mark.isStale ? now + 86_400 : wanted
        times.append(max(wanted, stale, record.wait(at: now) ?? wanted))
      }
    }
    if way == .exchange, isOver, !record.hasEnded { times.append(now) }
    if let (end, isFinal) = personNeeded(at: now) {
      if record.announced != end, end > now {
        times.append(announcement(of: end))
      } else if isFinal, !record.hasEnded {
        times.append(max(end, credential.expiry.time ?? end))
      }
    }
    return times.min()
  }
}

extension RenewalRecord {
  /// How far a time that was noted may lie ahead of the clock and still count.
  static let tolerance: Int64 = 300

  /// Until when the engine waits; nil where nothing holds it.
  ///
  /// A wait that was noted by a clock that has been set back since does not count: it could last for
  /// years.
  func wait(at now: Timestamp) -> Timestamp? {
    guard let triedAt, triedAt <= now + Self.tolerance else { return nil }
    return [waitsUntil, providerTime].compactMap { $0 }.filter { $0 > now }.max()
  }

  /// The time that the provider itself named, where it is still ahead.
  func providerWait(at now: Timestamp) -> Timestamp? {
    guard let providerTime, providerTime > now, let triedAt, triedAt <= now + Self.tolerance
    else { return nil }
    return providerTime
  }

  /// Whether the tries have gone wrong for so long, without anybody knowing why, that a person should
  /// look.
  func needsPerson(at now: Timestamp) -> Bool {
    guard let failingSince, attempts >= 3 else { return false }
    return now - failingSince >= 3 * 86_400
  }
}

extension ClientPace {
  func wait(at now: Timestamp) -> Timestamp? {
    guard let failedAt, failedAt <= now + RenewalRecord.tolerance else { return nil }
    return [waitsUntil, providerTime].compactMap { $0 }.filter { $0 > now }.max()
  }

  func providerWait(at now: Timestamp) -> Timestamp? {
    guard let providerTime, providerTime > now, let failedAt,
      failedAt <= now + RenewalRecord.tolerance
    else { return nil }
    return providerTime
  }
}

extension Credential.Mark {
  var isUncertain: Bool { if case .uncertain = self { true } else { false } }
  var isStale: Bool { if case .stale = self { true } else { false } }
}
