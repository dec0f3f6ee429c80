package import Time

/// The time that a reply names for the next try, from `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
  /// Nothing waits longer than this on a provider's word: 31 days, in seconds.
  package static let cap: Int64 = 31 * 86_400

  /// The instant that `value` names, not before `now` and not after `now` + ``cap``.
  ///
  /// Whole seconds or an HTTP date in any of the three forms of RFC 9110 section 5.6.7. Anything else
  /// (a sign, an exponent, a hexadecimal number, nothing) is no time at all: the caller backs off.
  package static func parse(_ value: String, now: Timestamp) -> Timestamp? {
    let text = value.trimmedSpaces
    guard !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      let seconds = Int64(text) ?? .max
      return Timestamp(seconds: now.seconds + min(seconds, cap))
    }
    guard let date = HTTPDate.parse(text, now: now) else { return nil }
    return bounded(date.seconds, now: now)
  }

  static func bounded(_ seconds: Int64, now: Timestamp) -> Timestamp {
    Timestamp(seconds: min(max(seconds, now.seconds), now.seconds + cap))
  }
}

/// The dates of HTTP headers (RFC 9110 section 5.6.7): IMF-fixdate and the two obsolete forms.
package enum HTTPDate {
  /// Nil where `text` is in none of the three forms or names a day that does not exist.
  ///
  /// - Parameter now: A two-digit year that would lie more than 50 years ahead is of the past century.
  package static func parse(_ text: String, now: Timestamp) -> Timestamp? {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    if words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" {
      // Wed, 21 Oct 2026 07:28:00 GMT
      guard isDay(words[0].dropLast(), long: false) else { return nil }
      return stamp(words[1], words[2], words[3], words[4], dayDigits: 2)
    }
    if words.count == 4, words[0].hasSuffix(","), words[3] == "GMT" {
      // Wednesday, 21-Oct-26 07:28:00 GMT
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard isDay(words[0].dropLast(), long: true), date.count == 3, let short = number(date[2], 2)
      else { return nil }
      let present = year(of: now)
      var year = present - present % 100 + short
      if year > present + 50 { year -= 100 }
      return stamp(date[0], date[1], Substring(String(year)), words[2], dayDigits: 2)
    }
    if words.count == 5 {
      // Wed Oct 21 07:28:00 2026, the day padded with a space
      guard isDay(words[0], long: false) else { return nil }
      return stamp(words[2], words[1], words[4], words[3], dayDigits: nil)
    }
    return nil
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  private static func isDay(_ text: Substring, long: Bool) -> Bool {
    days.contains { long ? $0 == text : $0.prefix(3) == text }
  }

  private static func number(_ text: Substring, _ digits: Int?) -> Int? {
    guard !text.isEmpty, digits == nil || text.utf8.count == digits,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(text)
  }

  private static func stamp(
    _ day: Substring, _ month: Substring, _ year: Substring, _ time: Substring, dayDigits: Int?
  ) -> Timestamp? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard let month = months.firstIndex(where: { $0 == month }), let day = number(day, dayDigits),
      let year = number(year, 4), clock.count == 3, let hour = number(clock[0], 2),
      let minute = number(clock[1], 2), let second = number(clock[2], 2), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
    let years = String(repeating: "0", count: 4 - String(year).count) + String(year)
    // A leap second is the second before it: RFC 3339 text may not hold it.
    return Timestamp(
      rfc3339:
        "\(years)-\(two(month + 1))-\(two(day))T\(two(hour)):\(two(minute)):\(two(min(second, 59)))Z"
    )
  }

  private static func year(of now: Timestamp) -> Int {
    Int(now.description.prefix(4)) ?? 2000
  }
}

extension StringProtocol {
  /// Without spaces and tabs around it: the optional white space of HTTP header values.
  var trimmedSpaces: String {
    var rest = self[...]
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return String(rest)
  }
}
