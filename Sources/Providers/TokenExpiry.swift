package import Time

/// When a token ends, as far as its provider said so. The three are kept apart: a missing number is
/// not "for ever", and a zero is not always "now".
package enum TokenExpiry: Sendable, Hashable {
  case unknown
  /// Only on the word of the provider's definition.
  case never
  case at(Timestamp)
}

/// Something in a token response that was read, but deserves a line in the ledger.
package enum TokenNote: Sendable, Hashable, CustomStringConvertible {
  /// The member's number was too large for its unit, and was read by its size.
  case unitGuessed(String)
  /// The member is no time; the end is unknown.
  case expiryNotUnderstood(String)
  /// The member's time lies more than ten years ahead.
  case expiryFarAway(String)
  /// A refresh token that is empty counts as absent: the present one stays.
  case refreshTokenEmpty

  package var description: String {
    switch self {
    case .unitGuessed(let member): "\(member): unit guessed"
    case .expiryNotUnderstood(let member): "\(member): not understood, the end is unknown"
    case .expiryFarAway(let member): "\(member): more than ten years ahead"
    case .refreshTokenEmpty: "the refresh token is empty and counts as absent"
    }
  }
}

/// Turns the numbers of a token response into instants.
struct ExpiryReader {
  let unit: ExpiryUnit
  let zero: ZeroExpiry
  /// Just before the request was sent (durations count from there).
  let sent: Timestamp
  private(set) var notes: [TokenNote] = []

  init(unit: ExpiryUnit, zero: ZeroExpiry, sent: Timestamp) {
    self.unit = unit
    self.zero = zero
    self.sent = sent
  }

  private static let decade: Int64 = 3653 * 86_400

  /// A lifetime, in the definition's unit.
  mutating func lifetime(_ text: String, member: String) -> TokenExpiry {
    guard let number = Self.whole(text) else { return notUnderstood(member) }
    if number == 0 { return zeroExpiry }
    switch unit {
    case .seconds: return after(number, member)
    case .milliseconds: return after(number / 1000, member)
    case .epochSeconds: return at(number, member)
    case .epochMilliseconds: return at(number / 1000, member)
    case .guess: return guessed(number, member)
    }
  }

  /// An instant: seconds or, where only that is near, milliseconds since 1970, or RFC 3339 text.
  mutating func instant(_ text: String, member: String) -> TokenExpiry {
    if let time = Timestamp(rfc3339: text) { return .at(time) }
    guard let number = Self.whole(text) else { return notUnderstood(member) }
    if number == 0 { return zeroExpiry }
    if !isNear(number), isNear(number / 1000) {
      notes.append(.unitGuessed(member))
      return at(number / 1000, member)
    }
    return at(number, member)
  }

  private var zeroExpiry: TokenExpiry { zero == .never ? .never : .at(sent) }

  /// Over ten years in seconds is suspicious: an instant in seconds or milliseconds where that lies
  /// within ten years of now, else milliseconds.
  private mutating func guessed(_ number: Int64, _ member: String) -> TokenExpiry {
    if number <= Self.decade { return after(number, member) }
    if isNear(number) {
      notes.append(.unitGuessed(member))
      return at(number, member)
    }
    if isNear(number / 1000) {
      notes.append(.unitGuessed(member))
      return at(number / 1000, member)
    }
    guard number / 1000 <= Self.decade else { return notUnderstood(member) }
    notes.append(.unitGuessed(member))
    return after(number / 1000, member)
  }

  private func isNear(_ seconds: Int64) -> Bool {
    seconds > sent.seconds - Self.decade && seconds < sent.seconds + Self.decade
  }

  private mutating func after(_ seconds: Int64, _ member: String) -> TokenExpiry {
    // A negative lifetime is one that is over.
    let (sum, overflow) = sent.seconds.addingReportingOverflow(max(seconds, 0))
    return overflow ? notUnderstood(member) : at(sum, member)
  }

  private mutating func at(_ seconds: Int64, _ member: String) -> TokenExpiry {
    // The last second of the year 9999, which RFC 3339 can still show.
    guard seconds <= 253_402_300_799, seconds > 0 else { return notUnderstood(member) }
    if seconds > sent.seconds + Self.decade { notes.append(.expiryFarAway(member)) }
    return .at(Timestamp(seconds: seconds))
  }

  private mutating func notUnderstood(_ member: String) -> TokenExpiry {
    notes.append(.expiryNotUnderstood(member))
    return .unknown
  }

  /// A whole number, as text or as a number; a fraction is dropped.
  private static func whole(_ text: String) -> Int64? {
    let trimmed = text.trimmedSpaces
    let parts = trimmed.split(separator: ".", omittingEmptySubsequences: false)
    let digits = parts.first?.hasPrefix("-") == true ? parts[0].dropFirst() : parts.first ?? ""
    guard (1...2).contains(parts.count), !digits.isEmpty,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      parts.count == 1
        || (!parts[1].isEmpty && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(parts[0])
  }
}
