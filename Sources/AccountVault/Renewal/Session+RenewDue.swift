import Accounts
import Encoding
public import Faults
import Providers
import OAuth
import FileSystem
import Store
public import Time

/// How many of each outcome there were.
public struct RenewalSummary: Sendable, Equatable {
  /// A new credential is stored.
  public var renewed = 0
  /// A person must act.
  public var rejected = 0
  /// A later try may work.
  public var failed = 0
  /// There was nothing to do.
  public var notDue = 0

  mutating func count(_ outcome: Renewal.Outcome) {
    switch outcome {
    case .renewed: renewed += 1
    case .rejected: rejected += 1
    case .failed: failed += 1
    case .notDue: notDue += 1
    }
  }
}

extension Session {
  /// Renews what is due, or what the scope names: many at once, at most 8 requests at a time to one
  /// host, over connections that stay open.
  ///
  /// Each is written down before it is sent, and each answer is committed before anybody may use it;
  /// what arrives together is committed together, with the intents of those that come next. Memory does
  /// not grow with their number.
  ///
  /// Where the task is cancelled nothing more is begun; what was sent is waited for and written.
  ///
  /// - Parameter each: Told each outcome, in the order in which they are committed.
  /// - Throws: ``VaultError``, once everything that was under way is written: the first error that
  ///   concerns no provider.
  @discardableResult
  public func renewDue(
    _ scope: RenewalScope = RenewalScope(), over network: Network,
    each: (Renewal) -> Void = { _ in }
  ) async throws(VaultError) -> RenewalSummary {
    guard !options.isLooking else {
      throw VaultError(
        .usage, "this session was opened to look only, and renews nothing",
        hint: "unlock the vault without looking")
    }
    var summary = RenewalSummary()
    if !scope.accounts.isEmpty || scope.all {
      try await forEachPage(of: scope) { (page) async throws(VaultError) in
        try await renew(page, scope, over: network) { renewal in
          summary.count(renewal.outcome)
          each(renewal)
        }
      }
    } else {
      try await forEachDue(until: now + scope.within) { (page) async throws(VaultError) in
        try await renew(page, scope, over: network) { renewal in
          summary.count(renewal.outcome)
          each(renewal)
        }
        return !Task.isCancelled
      }
    }
    try store.publishHead()
    return summary
  }

  /// Renews what is due, tells providers of the tokens that are over, and waits for what comes next,
  /// until the task is cancelled.
  ///
  /// The wait is on `CLOCK_BOOTTIME`, which counts the machine's sleep: what became due meanwhile is
  /// renewed at once, spread as ever. Where the wall clock jumps, everything is looked at again, and
  /// once a day in any case.
  ///
  /// - Parameters:
  ///   - within: What becomes due in so many seconds is due.
  ///   - revocations: Told what became of those that were due, after a round's renewals.
  ///   - each: Told each outcome; after each round, nil with the time of the next look.
  public func renewForever(
    over network: Network, within: Int64 = 0,
    revocations: ([RevocationOutcome]) -> Void = { _ in },
    each: (Renewal?, _ nextLook: Timestamp?) -> Void
  ) async throws(VaultError) -> RenewalSummary {
    var scope = RenewalScope()
    scope.within = within
    var summary = RenewalSummary()
    let clock = network.clock
    var lastNow = clock.now()
    var lastBoot = clock.sinceBoot()
    var lastWalk = lastBoot
    while true {
      let round = try await renewDue(scope, over: network) { renewal in each(renewal, nil) }
      summary.renewed += round.renewed
      summary.rejected += round.rejected
      summary.failed += round.failed
      let told = try await sendRevocations(over: network)
      if !told.isEmpty { revocations(told) }
      var next = try nextLook()
      for pending in try pendingRevocations() {
        next = next.map { min($0, pending.notBefore) } ?? pending.notBefore
      }
      each(nil, next)
      let wait = next.map { Self.pause(until: $0 - clock.now(), within: within) } ?? 60
      guard await network.wait(seconds: wait) else { return summary }
      let boot = clock.sinceBoot()
      let wall = clock.now()
      let drift = (wall - lastNow) - (boot - lastBoot) / 1_000_000_000
      if abs(drift) > RenewalRecord.tolerance || boot - lastWalk > 86_400 * 1_000_000_000 {
        try lookAgainAtAll()
        lastWalk = boot
      }
      lastNow = wall
      lastBoot = boot
    }
  }

  /// Seconds until the next round: what is due ahead of its time was looked at just now, and becomes
  /// so later by the minute.
  private static func pause(until next: Int64, within: Int64) -> Int64 {
    min(max(next > within ? next - within : next, 1), 60)
  }

  private func forEachPage(
    of scope: RenewalScope, _ body: ([DueCredential]) async throws(VaultError) -> Void
  ) async throws(VaultError) {
    func due(_ account: Account) -> [DueCredential] {
      account.clients.map {
        DueCredential(
          key: Records(store).credentialKey(account.id, client: $0), account: account.id,
          type: account.type, clientID: $0)
      }
    }
    if !scope.accounts.isEmpty {
      var page: [DueCredential] = []
      for account in scope.accounts { page += due(account) }
      return try await body(page)
    }
    var first: Key16?
    repeat {
      let from = first
      let page = try store.read { () throws(VaultError) in
        var page: (due: [DueCredential], count: Int, next: Key16?) = ([], 0, nil)
        try Records(store).forEachAccount(from: from) { (account) throws(VaultError) in
          if page.count == Self.duePage {
            page.next = account.id.key
            return false
          }
          page.count += 1
          page.due += due(account)
          return true
        }
        return page
      }
      try await body(page.due)
      first = Task.isCancelled ? nil : page.next
    } while first != nil
  }

  // MARK: Many at once

  /// Renews these credentials.
  private func renew(
    _ due: [DueCredential], _ scope: RenewalScope, over network: Network, each: (Renewal) -> Void
  ) async throws(VaultError) {
    let batch = RenewalBatch(due)
    let landing = batch.landing
    let failure = await withTaskGroup(of: Void.self) { group -> VaultError? in
      while true {
        if Task.isCancelled { batch.stop() }
        let flights: [RenewalFlight]
        do throws(VaultError) {
          flights = try await cycle(batch, scope, network, each)
        } catch {
          // What is still under way is written all the same.
          batch.stop(error)
          flights = []
        }
        for flight in flights {
          group.addTask {
            landing.land(flight, await network.send(flight))
          }
        }
        if batch.isFlying {
          await group.next()
        } else if batch.isDone {
          return batch.failure
        }
      }
    }
    if let failure { throw failure }
    // Those that another process was renewing: its result is theirs.
    for credential in batch.others {
      if Task.isCancelled { return }
      var request = request(credential, scope)
      do throws(VaultError) {
        each(try await renew(&request, over: network))
      } catch {
        // Still held, or removed meanwhile: it is looked at again.
        guard error.reason == .busy || error.code == .notFound else { throw error }
      }
    }
  }

  private func request(_ credential: DueCredential, _ scope: RenewalScope) -> RenewalRequest {
    let isOwners = scope.all || !scope.accounts.isEmpty
    return RenewalRequest(
      account: credential.account, clientID: credential.clientID,
      cause: isOwners ? .owner : .due, within: scope.within,
      isForAll: scope.all && scope.accounts.isEmpty)
  }

  /// One transaction: the answers that have come, and the intents of those that go next.
  private func cycle(
    _ batch: RenewalBatch, _ scope: RenewalScope, _ network: Network, _ each: (Renewal) -> Void
  ) async throws(VaultError) -> [RenewalFlight] {
    let landed = batch.landing.take()
    var next: [DueCredential] = []
    do throws(VaultError) {
      next = try takeNext(batch)
    } catch {
      batch.stop(error)
    }
    guard !landed.isEmpty || !next.isEmpty else { return [] }
    StopPoint.reach(landed.isEmpty ? "locked" : "answered")
    let result: RenewalCycle
    do throws(VaultError) {
      result = try store.write { () throws(VaultError) in
        var result = RenewalCycle()
        for (flight, answer) in landed {
          result.done.append(try finish(flight, answer, over: network))
        }
        for credential in next {
          try begin(credential, request(credential, scope), batch, &result, network)
        }
        StopPoint.reach(landed.isEmpty ? "intent-uncommitted" : "outcome-uncommitted")
        return result
      }
      StopPoint.reach(landed.isEmpty ? "intent-committed" : "outcome-committed")
    } catch {
      // One of them is in the way of all, or the disk is: each for itself, what has come with patience,
      // and the error when all are written.
      result = try await separately(landed, next, batch, scope, network)
    }
    for (flight, _) in landed { batch.release(flight.key) }
    for credential in result.settled { batch.release(credential.key) }
    for credential in result.later { batch.putBack(credential) }
    batch.begin(result.flights)
    for renewal in result.done { each(renewal) }
    return result.flights
  }

  private func separately(
    _ landed: [(RenewalFlight, RenewalAnswer)], _ next: [DueCredential], _ batch: RenewalBatch,
    _ scope: RenewalScope, _ network: Network
  ) async throws(VaultError) -> RenewalCycle {
    var result = RenewalCycle()
    for (flight, answer) in landed {
      do throws(VaultError) {
        result.done.append(
          try await commit(network) { () throws(VaultError) in
            try finish(flight, answer, over: network)
          })
      } catch {
        batch.note(error)
      }
    }
    for credential in next {
      do throws(VaultError) {
        let begun = try store.write { () throws(VaultError) in
          var one = RenewalCycle()
          try begin(credential, request(credential, scope), batch, &one, network)
          return one
        }
        result.done += begun.done
        result.flights += begun.flights
        result.later += begun.later
        result.settled += begun.settled
      } catch {
        result.settled.append(credential)
        batch.note(error)
      }
    }
    return result
  }

  private func begin(
    _ credential: DueCredential, _ request: RenewalRequest, _ batch: RenewalBatch,
    _ result: inout RenewalCycle, _ network: Network
  ) throws(VaultError) {
    // After a failure one request at a time finds out whether the client is well again.
    let isProbing = try !Records(store).pace(credential.client).isClear
    if isProbing,
      batch.isFlying(credential.client)
        || result.flights.contains(where: { $0.reference == credential.client })
    {
      result.later.append(credential)
      return
    }
    switch try begin(request, over: network) {
    case .done(let renewal):
      result.done.append(renewal)
      result.settled.append(credential)
    case .flight(let flight): result.flights.append(flight)
    }
  }

  /// Takes as many as there is room for, each with its lock.
  private func takeNext(_ batch: RenewalBatch) throws(VaultError) -> [DueCredential] {
    var next: [DueCredential] = []
    // Asked of all that wait, and each answer is a transaction: once for each type.
    var hosts: [String: String] = [:]
    func known(_ type: String) -> String {
      if let host = hosts[type] { return host }
      let host = host(of: type)
      hosts[type] = host
      return host
    }
    while let (credential, host) = batch.next(known) {
      guard let lock = try RenewalLock.take(credential.key, of: store) else {
        batch.leave(credential)
        continue
      }
      batch.hold(credential, lock, host: host)
      next.append(credential)
    }
    return next
  }

  /// Where the renewals of a type are sent.
  private func host(of type: String) -> String {
    guard let provider = try? provider(type), let address = provider.endpoint(.token),
      let url = try? RequestURL(address)
    else { return type }
    return url.origin
  }
}

/// What one transaction of a batch came to.
private struct RenewalCycle {
  var done: [Renewal] = []
  var flights: [RenewalFlight] = []
  /// Begun not now: their client is being probed.
  var later: [DueCredential] = []
  /// Decided without sending.
  var settled: [DueCredential] = []
}

extension RenewalFlight {
  fileprivate var reference: ClientReference {
    ClientReference(type: account.type, clientID: clientID)
  }
}
