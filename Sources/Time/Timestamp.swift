/// A moment, as whole seconds since 1970-01-01T00:00:00Z without leap seconds (POSIX time).
///
/// There is no time zone in it and none is ever consulted: an expiry that is written in one frame
/// and compared in another is wrong by hours. A zone appears only in text that is read, as its
/// offset.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Seconds since 1970 in UTC; negative before.
  public var seconds: Int64

  /// - Parameter seconds: Seconds since 1970 in UTC. Every value is a moment.
  public init(seconds: Int64) {
    self.seconds = seconds
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.seconds < right.seconds
  }

  /// The moment `seconds` later. Stops at the last one that can be told, so that no lifetime a
  /// provider sends, however absurd, ends the process.
  public static func + (moment: Timestamp, seconds: Int64) -> Timestamp {
    let (sum, overflow) = moment.seconds.addingReportingOverflow(seconds)
    return Timestamp(seconds: overflow ? (seconds < 0 ? .min : .max) : sum)
  }

  /// The moment `seconds` earlier, with the same bound as ``+(_:_:)``.
  public static func - (moment: Timestamp, seconds: Int64) -> Timestamp {
    let (difference, overflow) = moment.seconds.subtractingReportingOverflow(seconds)
    return Timestamp(seconds: overflow ? (seconds < 0 ? .max : .min) : difference)
  }

  /// Seconds from `earlier` to `later`; negative where `later` is in truth the earlier one.
  public static func - (later: Timestamp, earlier: Timestamp) -> Int64 {
    let (difference, overflow) = later.seconds.subtractingReportingOverflow(earlier.seconds)
    return overflow ? (later < earlier ? .min : .max) : difference
  }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 in UTC with whole seconds: `2026-11-30T06:10:00Z`.
  ///
  /// RFC 3339 has the years 0000 to 9999; a moment outside is written as the nearest inside.
  public var description: String {
    let clamped = min(max(seconds, Self.firstSecond), Self.lastSecond)
    let days = clamped.floorDivided(by: 86_400)
    let second = clamped - days * 86_400
    let date = CivilDate(daysSince1970: days)
    var text: [UInt8] = []
    text.reserveCapacity(20)
    func digits(_ value: Int64, _ count: Int, then separator: Character) {
      var divisor: Int64 = count == 4 ? 1000 : 10
      while divisor > 0 {
        text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
        divisor /= 10
      }
      text.append(contentsOf: separator.utf8)
    }
    digits(date.year, 4, then: "-")
    digits(date.month, 2, then: "-")
    digits(date.day, 2, then: "T")
    digits(second / 3600, 2, then: ":")
    digits(second / 60 % 60, 2, then: ":")
    digits(second % 60, 2, then: "Z")
    return String(decoding: text, as: UTF8.self)
  }

  /// 0000-01-01T00:00:00Z.
  private static let firstSecond: Int64 = -62_167_219_200
  /// 9999-12-31T23:59:59Z.
  private static let lastSecond: Int64 = 253_402_300_799
}

extension Timestamp {
  /// Reads RFC 3339 (section 5.6): `2026-11-30T06:10:00Z`, `2026-11-30t07:10:00.25+01:00`.
  ///
  /// Any offset is accepted and applied; a fraction of a second is dropped (towards the past). A
  /// leap second is accepted where one can be, at 23:59:60 in UTC, and is the second after it.
  /// Nil for everything else: a date that is not in the calendar, no offset, white space, other
  /// digits than ASCII, or a moment outside the years 0000 to 9999 in UTC.
  public init?(rfc3339: String) {
    var text = Characters(rfc3339)
    guard
      let year = text.number(digits: 4), text.take("-"),
      let month = text.number(digits: 2), text.take("-"),
      let day = text.number(digits: 2), text.take("T") || text.take("t"),
      let hour = text.number(digits: 2), hour <= 23, text.take(":"),
      let minute = text.number(digits: 2), minute <= 59, text.take(":"),
      let second = text.number(digits: 2), second <= 60,
      let date = CivilDate(year: year, month: month, day: day)
    else { return nil }
    if text.take(".") {
      guard text.skipDigits() > 0 else { return nil }
    }
    guard let offset = Self.offset(&text), text.atEnd else { return nil }
    let toTheMinute = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 - offset
    if second == 60 {
      guard toTheMinute - toTheMinute.floorDivided(by: 86_400) * 86_400 == 86_340 else {
        return nil
      }
    }
    let seconds = toTheMinute + second
    guard (Self.firstSecond...Self.lastSecond).contains(seconds) else { return nil }
    self.init(seconds: seconds)
  }

  /// Seconds east of UTC.
  private static func offset(_ text: inout Characters) -> Int64? {
    if text.take("Z") || text.take("z") { return 0 }
    let sign: Int64
    if text.take("+") {
      sign = 1
    } else if text.take("-") {
      sign = -1
    } else {
      return nil
    }
    guard
      let hours = text.number(digits: 2), hours <= 23, text.take(":"),
      let minutes = text.number(digits: 2), minutes <= 59
    else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }
}
