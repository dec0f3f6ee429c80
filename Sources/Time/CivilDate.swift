/// A day of the Gregorian calendar, carried backwards before 1582 as RFC 3339 does.
struct CivilDate {
  let year: Int64
  /// 1 to 12.
  let month: Int64
  /// 1 to 31.
  let day: Int64

  /// Nil where the calendar has no such day.
  init?(year: Int64, month: Int64, day: Int64) {
    guard (1...12).contains(month), day >= 1, day <= Self.daysIn(month, of: year) else {
      return nil
    }
    self.year = year
    self.month = month
    self.day = day
  }

  init(daysSince1970: Int64) {
    // The calendar repeats every 400 years. Within them: guess the year as if all were leap years,
    // which is never too late and at most one too early, and correct.
    let cycle = (daysSince1970 - Self.daysBefore(year: 2000) + Self.daysBefore(year: 1970))
      .floorDivided(by: Self.daysPerCycle)
    let days = daysSince1970 + Self.daysBefore(year: 1970)
    let base = 2000 + cycle * 400
    var year = base + (days - Self.daysBefore(year: base)) / 366
    while Self.daysBefore(year: year + 1) <= days { year += 1 }
    var rest = days - Self.daysBefore(year: year)
    var month: Int64 = 1
    while rest >= Self.daysIn(month, of: year) {
      rest -= Self.daysIn(month, of: year)
      month += 1
    }
    self.year = year
    self.month = month
    day = rest + 1
  }

  var daysSince1970: Int64 {
    var days = Self.daysBefore(year: year) - Self.daysBefore(year: 1970) + day - 1
    for earlier in 1..<month { days += Self.daysIn(earlier, of: year) }
    return days
  }

  private static let daysPerCycle: Int64 = 400 * 365 + 97

  private static func isLeap(_ year: Int64) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days from the first of January of year 1 to that of `year`; negative before.
  private static func daysBefore(year: Int64) -> Int64 {
    let last = year - 1
    return last * 365 + last.floorDivided(by: 4) - last.floorDivided(by: 100)
      + last.floorDivided(by: 400)
  }
}

extension Int64 {
  /// Rounded towards negative infinity, as days before 1970 need it.
  ///
  /// - Precondition: `divisor` is positive.
  func floorDivided(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
