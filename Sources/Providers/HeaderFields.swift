import JSON
import Time

/// A reply's headers, found by their names in any case.
struct HeaderFields {
  private let fields: [(name: String, value: String)]
  let challenges: [Challenge]

  init(_ headers: [(name: String, value: String)]) {
    fields = headers.map { ($0.name.lowercased(), $0.value) }
    challenges = fields.filter { $0.name == "www-authenticate" }
      .flatMap { Challenge.parse($0.value) }
  }

  func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  func date(now: Timestamp) -> Timestamp? {
    first("date").flatMap { HTTPDate.parse($0.trimmedSpaces, now: now) }
  }

  private func retryAfter(now: Timestamp) -> Timestamp? {
    first("retry-after").flatMap { RetryAfter.parse($0, now: now) }
  }

  /// Whether a 403 is a limit: a time to come back, or nothing left of an allowance.
  func showsRateLimit(_ rates: [Provider.RateHeader]) -> Bool {
    if let value = first("retry-after"), RetryAfter.parse(value, now: Timestamp(seconds: 0)) != nil
    {
      return true
    }
    return rates.contains { isUsedUp($0) }
  }

  private func isUsedUp(_ rate: Provider.RateHeader) -> Bool {
    guard let name = rate.remaining, let value = first(name)?.trimmedSpaces, !value.isEmpty
    else { return false }
    // "0", "0.0": some providers count in decimals.
    return value.allSatisfy { $0 == "0" || $0 == "." } && value.contains("0")
  }

  /// When the provider says that a next try makes sense: `Retry-After`, else the latest reset among the
  /// allowances that are used up, else the first reset that is named.
  func nextTry(
    _ rates: [Provider.RateHeader], usesResets: Bool, _ errorClass: ErrorClass, now: Timestamp
  ) -> Timestamp? {
    if let time = retryAfter(now: now) { return time }
    guard usesResets, errorClass == .throttled else { return nil }
    let usedUp = rates.filter { isUsedUp($0) }.compactMap { reset($0, now: now) }
    if let latest = usedUp.max() { return latest }
    for rate in rates {
      if let time = reset(rate, now: now) { return time }
    }
    return nil
  }

  private func reset(_ rate: Provider.RateHeader, now: Timestamp) -> Timestamp? {
    guard let value = first(rate.reset)?.trimmedSpaces else { return nil }
    switch rate.unit {
    case .rfc3339:
      return Timestamp(rfc3339: value).map { RetryAfter.bounded($0.seconds, now: now) }
    case .minutesInJSON:
      return minutes(value, rate.member ?? "").flatMap { minutes in
        minutes == 0
          ? nil : RetryAfter.bounded(now.seconds + min(minutes, 100_000) * 60, now: now)
      }
    case .epochSeconds:
      return Self.whole(value).map { RetryAfter.bounded($0, now: now) }
    case .epochMilliseconds:
      return Self.whole(value).map { RetryAfter.bounded($0 / 1000, now: now) }
    case .secondsLeft:
      return Self.whole(value).map {
        RetryAfter.bounded(now.seconds + min($0, RetryAfter.cap), now: now)
      }
    }
  }

  /// A number without sign; a fraction counts as one more.
  private static func whole(_ value: String) -> Int64? {
    let parts = value.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 15 }),
      parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let number = Int64(parts[0])
    else { return nil }
    return number + (parts.count == 2 && parts[1].contains { $0 != "0" } ? 1 : 0)
  }

  /// The largest number under the name `member`, anywhere in the JSON text `value`.
  private func minutes(_ value: String, _ member: String) -> Int64? {
    guard value.utf8.count <= 16_384, let tree = try? JSONValue.parse(value) else { return nil }
    func largest(_ value: JSONValue) -> Int64? {
      switch value {
      case .array(let elements): return elements.compactMap(largest).max()
      case .object(let members):
        var found: [Int64] = []
        for inner in members {
          if inner.name == member, case .int(let number) = inner.value, number >= 0 {
            found.append(number)
          } else if let number = largest(inner.value) {
            found.append(number)
          }
        }
        return found.max()
      default: return nil
      }
    }
    return largest(tree)
  }
}
