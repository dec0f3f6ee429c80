public import AccountVault
import HTTP
import Time

extension Network {
  /// The network of this machine: libcurl, libcrypto, the system's clocks and randomness.
  ///
  /// One is made for a process and given to every call: it keeps connections open, and remembers the
  /// servers' clocks and nonces. Proxies and certificate authorities come from the usual environment
  /// variables, read now.
  ///
  /// - Parameter version: Of the program, for `User-Agent`.
  public static func system(version: String) -> Network {
    Network(
      transport: HTTPClient(version: version), signatures: .libcrypto,
      wait: { until in await sleep(until: until) },
      random: { range in Int64.random(in: range) })
  }

  /// The same network with connections of its own for many requests that may each stand still, as
  /// those of a program that passes bodies on do: they keep no place from the others.
  ///
  /// - Parameters:
  ///   - version: Of the program, for `User-Agent`.
  ///   - transfers: Most at once.
  public func waiting(version: String, transfers: Int = 256) -> Network {
    var network = self
    network.transport = HTTPClient(version: version, capacity: .waiting(transfers))
    return network
  }

  /// The longest that is slept at a time, in nanoseconds: the runtime's timers stand still while the
  /// machine sleeps, so a wait is over at the latest so long after it woke up.
  private static let slice: Int64 = 20_000_000_000

  /// Sleeps until `CLOCK_BOOTTIME` shows so many nanoseconds; false where the task was cancelled.
  private static func sleep(until end: Int64) async -> Bool {
    while !Task.isCancelled {
      let left = end - Clock.system.sinceBoot()
      if left <= 0 { return true }
      // Cancelling ends it early.
      try? await Task.sleep(nanoseconds: UInt64(min(left, slice)))
    }
    return false
  }
}
