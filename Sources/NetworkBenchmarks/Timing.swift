import Glibc

/// Time since it was made, by the wall and by the processor, and how it is told: lines of a name, a
/// number and a unit.
struct Timing {
  private let wall = Timing.read(CLOCK_MONOTONIC)
  private let processor = Timing.read(CLOCK_PROCESS_CPUTIME_ID)

  /// All threads together.
  func tell(_ name: String, count: Int) {
    let wall = Self.read(CLOCK_MONOTONIC) - wall
    let processor = Self.read(CLOCK_PROCESS_CPUTIME_ID) - processor
    Swift.print("\(name) \(Double(count) / processor) /cpu-s")
    Swift.print("\(name)-wall \(Double(count) / wall) /s")
  }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
