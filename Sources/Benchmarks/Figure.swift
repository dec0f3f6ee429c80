import Glibc

/// One line of output: a name, a number, its unit.
enum Figure {
  static func tell(_ name: String, _ value: Double, _ unit: String) {
    Swift.print("\(name) \(value) \(unit)")
  }
}

/// Time since it was made, by the wall and by the processor.
struct Stopwatch {
  private let wall = Stopwatch.read(CLOCK_MONOTONIC)
  private let processor = Stopwatch.read(CLOCK_PROCESS_CPUTIME_ID)

  var wallSeconds: Double { Self.read(CLOCK_MONOTONIC) - wall }
  /// All threads together.
  var processorSeconds: Double { Self.read(CLOCK_PROCESS_CPUTIME_ID) - processor }

  /// The most memory that this process ever had in use.
  static var peakKibibytes: Int {
    var usage = rusage()
    _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss
  }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// The same draws in every run (xorshift64).
struct Draws: RandomNumberGenerator {
  private var state: UInt64 = 88_172_645_463_325_252

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
