import Time

/// How long after failures the next try waits: exponential growth with full jitter, so that neither one
/// credential nor all of them together knock at the same moments.
struct Backoff {
  /// The widest wait after the first failure, in seconds.
  let base: Int64
  /// The widest wait of all, in seconds.
  let cap: Int64

  /// The network or the server is in trouble.
  static let passing = Backoff(base: 15, cap: 3600)
  /// The answer is not understood: each try is likely to end like the last one.
  static let unknown = Backoff(base: 60, cap: 86_400)
  /// A person must do something at the provider's site first.
  static let person = Backoff(base: 3600, cap: 86_400)
  /// The provider refuses the client: only a probe now and then.
  static let client = Backoff(base: 3600, cap: 21_600)

  /// No wait is shorter, so that a lucky draw is no hammer.
  static let floor: Int64 = 5

  /// - Parameters:
  ///   - failures: In a row, this one included.
  ///   - random: A number of the range, each as likely.
  func wait(after failures: Int64, _ random: (ClosedRange<Int64>) -> Int64) -> Int64 {
    let doublings = min(max(failures - 1, 0), 30)
    return max(Backoff.floor, random(0...min(cap, base << doublings)))
  }
}
