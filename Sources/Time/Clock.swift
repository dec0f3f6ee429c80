internal import Glibc

/// The two clocks that the vault asks, as values, so that a test can set them.
public struct Clock: Sendable {
  /// The time of day. It can be set, and can jump either way: never measure a wait with it.
  public var now: @Sendable () -> Timestamp

  /// Nanoseconds since the machine started, sleep included (`CLOCK_BOOTTIME`). Only grows, and
  /// means nothing after the next start.
  public var sinceBoot: @Sendable () -> Int64

  /// A clock of these two readings; tests make one that they can set.
  public init(
    now: @escaping @Sendable () -> Timestamp, sinceBoot: @escaping @Sendable () -> Int64
  ) {
    self.now = now
    self.sinceBoot = sinceBoot
  }

  /// The machine's clocks.
  public static let system = Clock(
    now: { Timestamp(seconds: Int64(read(CLOCK_REALTIME).tv_sec)) },
    sinceBoot: {
      let time = read(CLOCK_BOOTTIME)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    })

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    // The kernel writes into our own variable. It refuses only a clock it does not have.
    let status = unsafe clock_gettime(clock, &time)
    precondition(status == 0, "the kernel has no such clock")
    return time
  }
}
