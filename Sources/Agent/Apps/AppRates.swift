internal import Synchronization
internal import Time

/// How often each app may ask: a bucket of tokens for each, which fills steadily.
///
/// Only apps that the vault has come here, so there are no more buckets than apps.
final class AppRates: Sendable {
  private struct Bucket {
    /// Billionths of a request.
    var level: Int64
    /// Nanoseconds since the start of the machine.
    var filled: Int64
  }

  private static let one: Int64 = 1_000_000_000

  private let rate: Int64
  private let clock: @Sendable () -> Int64
  private let buckets = Mutex<[String: Bucket]>([:])

  /// - Parameters:
  ///   - rate: Requests in a second, 1 to 1,000,000. Twice as many may come at once.
  ///   - clock: Nanoseconds that never go back.
  init(
    perSecond rate: Int, clock: @escaping @Sendable () -> Int64 = { Clock.system.sinceBoot() }
  ) {
    self.rate = Int64(min(max(rate, 1), 1_000_000))
    self.clock = clock
  }

  /// Whether one more may come now. One that may not costs nothing.
  func admits(_ app: String) -> Bool {
    let now = clock()
    return buckets.withLock { buckets in
      let full = 2 * rate * Self.one
      var bucket = buckets[app] ?? Bucket(level: full, filled: now)
      // Two seconds fill it: what is added is bounded before it is multiplied.
      let passed = min(max(now - bucket.filled, 0), 2 * Self.one)
      bucket.level = min(full, bucket.level + passed * rate)
      bucket.filled = now
      let isAdmitted = bucket.level >= Self.one
      if isAdmitted { bucket.level -= Self.one }
      buckets[app] = bucket
      return isAdmitted
    }
  }
}
