import Synchronization
import Testing
import Time

@testable import Agent

@Suite struct `The log` {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  @Test func `writes a line with its values, control characters escaped`() {
    let lines = Lines()
    let clock = Clock(now: { Timestamp(seconds: 0) }, sinceBoot: { 0 })
    let log = Log(clock: clock) { line in lines.all.withLock { $0.append(line) } }
    log.info("ready\n", ["vault": "a\u{1b}[31m"])
    log.debug("not told")
    let told = lines.all.withLock { $0 }
    #expect(told.count == 1)
    #expect(told.first?.hasPrefix("1970-01-01T00:00:00Z info ready") == true)
    #expect(told.joined().dropLast().contains { $0 == "\n" || $0 == "\u{1b}" } == false)
  }

  @Test func `writes JSON`() {
    let lines = Lines()
    let clock = Clock(now: { Timestamp(seconds: 0) }, sinceBoot: { 0 })
    let log = Log(isJSON: true, clock: clock) { line in lines.all.withLock { $0.append(line) } }
    log.error("it failed", ["reason": "\"quoted\""])
    #expect(
      lines.all.withLock { $0 } == [
        #"{"time":"1970-01-01T00:00:00Z","level":"error","message":"it failed","reason":"\"quoted\""}"#
          + "\n"
      ])
  }
}
