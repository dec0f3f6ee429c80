import Foundation
import Testing
import Time

@Suite struct `A timestamp` {
  static let known: [(String, Int64)] = [
    ("1970-01-01T00:00:00Z", 0),
    ("1969-12-31T23:59:59Z", -1),
    ("1970-01-01T23:59:59Z", 86_399),
    ("2026-11-30T06:10:00Z", 1_796_019_000),
    ("2000-02-29T12:00:00Z", 951_825_600),
    ("2000-03-01T00:00:00Z", 951_868_800),
    ("1900-02-28T23:59:59Z", -2_203_891_201),
    ("1900-03-01T00:00:00Z", -2_203_891_200),
    ("2024-02-29T23:59:59Z", 1_709_251_199),
    ("2038-01-19T03:14:08Z", 2_147_483_648),
    ("1901-12-13T20:45:51Z", -2_147_483_649),
    ("0000-01-01T00:00:00Z", -62_167_219_200),
    ("0000-02-29T00:00:00Z", -62_162_121_600),
    ("9999-12-31T23:59:59Z", 253_402_300_799),
  ]

  @Test(arguments: known) func `is written and read in UTC`(_ text: String, _ seconds: Int64) {
    #expect(Timestamp(seconds: seconds).description == text)
    #expect(Timestamp(rfc3339: text)?.seconds == seconds)
  }

  /// The C library's calendar is the second opinion.
  @Test func `agrees with the C library on every day of 800 years and at random`() {
    func written(_ seconds: Int64) -> String {
      var time = time_t(seconds)
      var parts = tm()
      gmtime_r(&time, &parts)
      func pad(_ value: Int32, _ count: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: count - digits.count) + digits
      }
      return "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1, 2))-\(pad(parts.tm_mday, 2))"
        + "T\(pad(parts.tm_hour, 2)):\(pad(parts.tm_min, 2)):\(pad(parts.tm_sec, 2))Z"
    }
    var wrong: [Int64] = []
    func check(_ seconds: Int64) {
      let text = written(seconds)
      if Timestamp(seconds: seconds).description != text
        || Timestamp(rfc3339: text)?.seconds != seconds
      {
        wrong.append(seconds)
      }
    }
    let first: Int64 = -11_676_096_000  // 1600-01-01
    for day in 0..<Int64(800 * 365 + 194) { check(first + day * 86_400 + day % 86_400) }
    for _ in 0..<50_000 { check(.random(in: -62_167_219_200...253_402_300_799)) }
    #expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }

  @Test(arguments: [
    ("2026-11-30T07:10:00+01:00", "2026-11-30T06:10:00Z"),
    ("2026-11-29T22:10:00-08:00", "2026-11-30T06:10:00Z"),
    ("2026-11-30T20:10:00+14:00", "2026-11-30T06:10:00Z"),
    ("2026-11-30T11:55:00+05:45", "2026-11-30T06:10:00Z"),
    ("2026-11-30T06:10:00-00:00", "2026-11-30T06:10:00Z"),
    ("2026-11-30t06:10:00z", "2026-11-30T06:10:00Z"),
    ("2026-11-30T06:10:00.999999999999Z", "2026-11-30T06:10:00Z"),
    ("1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59Z"),
    ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
    ("2017-01-01T08:59:60+09:00", "2017-01-01T00:00:00Z"),
    ("0000-01-01T00:00:00-01:00", "0000-01-01T01:00:00Z"),
  ])
  func `is read at any offset, without its fraction`(_ text: String, _ utc: String) {
    #expect(Timestamp(rfc3339: text)?.description == utc)
  }

  @Test(arguments: [
    "", "2026-11-30", "2026-11-30T06:10:00", "2026-11-30 06:10:00Z", "2026-11-30T06:10Z",
    "2026-11-30T06:10:00+01", "2026-11-30T06:10:00+0100", "2026-11-30T06:10:00+24:00",
    "2026-11-30T06:10:00+01:60", "2026-11-30T06:10:00.Z", "2026-11-30T06:10:00,5Z",
    "2026-11-30T24:00:00Z", "2026-11-30T06:60:00Z", "2026-11-30T06:10:60Z",
    "2026-11-30T06:10:61Z", "2016-12-31T23:59:60+01:00", "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z", "2026-11-31T00:00:00Z", "2026-11-00T00:00:00Z",
    "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "26-11-30T06:10:00Z",
    "+2026-11-30T06:10:00Z", "-001-11-30T06:10:00Z", "12026-11-30T06:10:00Z",
    "2026-11-30T06:10:00Z ", " 2026-11-30T06:10:00Z", "2026-11-30T06:10:00ZZ",
    "2026-1-30T06:10:00Z", "٢٠٢٦-11-30T06:10:00Z", "2026-11-30T06:10:00UTC", "1796019000",
    "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
  ])
  func `is not made of anything else`(_ text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test func `outside the years that can be written is written as the nearest`() {
    #expect(Timestamp(seconds: .min).description == "0000-01-01T00:00:00Z")
    #expect(Timestamp(seconds: -62_167_219_201).description == "0000-01-01T00:00:00Z")
    #expect(Timestamp(seconds: 253_402_300_800).description == "9999-12-31T23:59:59Z")
    #expect(Timestamp(seconds: .max).description == "9999-12-31T23:59:59Z")
  }

  @Test func `is moved by seconds, and stops at the ends`() {
    let moment = Timestamp(seconds: 1000)
    #expect(moment + 14_400 == Timestamp(seconds: 15_400))
    #expect(moment - 14_400 == Timestamp(seconds: -13_400))
    #expect(moment + 5 - moment == 5)
    #expect(moment - (moment + 5) == -5)
    #expect(moment + Int64.max == Timestamp(seconds: .max))
    #expect(moment - Int64.min == Timestamp(seconds: .max))
    #expect(Timestamp(seconds: -2) + Int64.min == Timestamp(seconds: .min))
    #expect(Timestamp(seconds: -2) - Int64.max == Timestamp(seconds: .min))
    #expect(Timestamp(seconds: .max) - Timestamp(seconds: .min) == Int64.max)
    #expect(Timestamp(seconds: .min) - Timestamp(seconds: .max) == Int64.min)
  }

  /// Field case B70: an expiry in one frame, compared in another. `expires_in` is 14,400.
  @Test(
    .enabled(
      if: FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Pacific/Kiritimati"),
      "no time zones are installed"),
    arguments: ["America/Los_Angeles", "UTC", "Asia/Tokyo", "Pacific/Kiritimati"])
  func `is the same wherever the process believes to be`(_ zone: String) async {
    await #expect(processExitsWith: .success) { [zone] in
      setenv("TZ", zone, 1)
      tzset()
      // That the zone is in force: else this would show nothing.
      var moment = time_t(1_796_019_000)
      var local = tm()
      localtime_r(&moment, &local)
      let offsets = [
        "America/Los_Angeles": -28_800, "UTC": 0, "Asia/Tokyo": 32_400,
        "Pacific/Kiritimati": 50_400,
      ]
      precondition(local.tm_gmtoff == offsets[zone], "the zone is not installed")

      let now = Timestamp(seconds: 1_796_019_000)
      let expiry = now + 14_400
      precondition(now.description == "2026-11-30T06:10:00Z")
      precondition(expiry.description == "2026-11-30T10:10:00Z")
      precondition(Timestamp(rfc3339: now.description) == now)
      precondition(Timestamp(rfc3339: expiry.description) == expiry)
      precondition(Timestamp(rfc3339: "2026-11-30T02:10:00-08:00") == expiry)
      let drift = Clock.system.now() - Timestamp(seconds: Int64(time(nil)))
      precondition((-1...1).contains(drift))
    }
  }
}

@Suite struct `The clocks` {
  @Test func `of the machine go on`() {
    let before = Clock.system.sinceBoot()
    #expect(before > 0)
    usleep(2000)
    #expect(Clock.system.sinceBoot() - before >= 2_000_000)
  }

  @Test func `can be set by a test`() {
    let clock = Clock(now: { Timestamp(seconds: 5) }, sinceBoot: { 7 })
    #expect(clock.now() == Timestamp(seconds: 5))
    #expect(clock.sinceBoot() == 7)
  }
}
