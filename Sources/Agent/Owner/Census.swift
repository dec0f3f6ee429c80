internal import AccountVault
internal import Accounts
internal import Faults
internal import Synchronization
internal import Time

/// How many credentials are in which state, counted now and then: a look at every account is not for
/// each scrape.
final class Census: Sendable {
  private struct Count {
    var at: Int64
    var entries: UInt64
    var states: [CredentialState: Int]
  }

  private let last = Mutex<Count?>(nil)

  /// Nanoseconds for which a count is good although nothing was written: states change with time.
  private static let age: Int64 = 60_000_000_000
  /// Nanoseconds for which it is good although something was.
  private static let pause: Int64 = 5_000_000_000

  func count(
    in pool: SessionPool, at clock: Clock
  ) throws(VaultError) -> (entries: UInt64, states: [CredentialState: Int]) {
    try pool.withSession { (session) throws(VaultError) in
      let entries = try session.entryCount()
      let now = clock.sinceBoot()
      if let last = last.withLock({ $0 }), last.entries <= entries,
        now - last.at < (last.entries == entries ? Self.age : Self.pause)
      {
        return (entries, last.states)
      }
      var states: [CredentialState: Int] = [:]
      try session.forEachAccount { (account) throws(VaultError) in
        for credential in try session.standing(of: account).credentials {
          states[credential.state, default: 0] += 1
        }
        return true
      }
      let count = Count(at: now, entries: entries, states: states)
      last.withLock { $0 = count }
      return (entries, states)
    }
  }

  /// After another vault, or another state of it, was unlocked.
  func forget() { last.withLock { $0 = nil } }
}
