public import Time

extension Credential {
  /// How far the clock may lie behind ``obtainedAt``, in seconds, and still be believed.
  public static let clockTolerance: Int64 = 300

  /// Whether the clock can be right: not where it shows a time well before the credential was
  /// obtained (a machine that starts in 1970, a clock that was set back).
  public func clockIsBelieved(at now: Timestamp) -> Bool {
    let (earliest, overflow) =
      obtainedAt.seconds.subtractingReportingOverflow(Credential.clockTolerance)
    return overflow || now.seconds >= earliest
  }

  /// How long before the end a renewal is due, in seconds: the smaller of the margin that the
  /// provider's definition gives and a quarter of the lifetime.
  ///
  /// With the whole margin a token of 5 minutes under a margin of 10 would always be due, and each
  /// use would renew it.
  public func margin(_ marginSeconds: Int64) -> Int64 {
    guard case .at(let end) = expiry else { return 0 }
    let (distance, overflow) = end.seconds.subtractingReportingOverflow(obtainedAt.seconds)
    var span = overflow ? .max : distance
    if let lifetime, lifetime >= 0 { span = min(span, lifetime) }
    return max(0, min(marginSeconds, span / 4))
  }

  /// When a renewal is due; nil where no end is known.
  ///
  /// - Parameter marginSeconds: the margin of the provider's definition.
  public func dueAt(marginSeconds: Int64) -> Timestamp? {
    guard case .at(let end) = expiry else { return nil }
    // An end lies at or after the beginning, and the margin is a part of the way between.
    return Timestamp(seconds: end.seconds - margin(marginSeconds))
  }

  /// Where the credential stands.
  ///
  /// A mark outweighs every date. At the very second of the expiry the token has expired.
  ///
  /// Where the clock is not believed (``clockIsBelieved(at:)``) nothing can be said about an end: the
  /// credential is neither taken as good for years nor as dead, but as due: it is used, and one
  /// renewal finds out. The renewed one is obtained by the same clock, which is then believed
  /// again, so this happens once for each such jump and blocks nothing.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - marginSeconds: the margin of the provider's definition.
  public func state(now: Timestamp, marginSeconds: Int64) -> CredentialState {
    switch mark {
    case .rejected: return .rejected
    case .uncertain: return .uncertain
    case .stale: return .stale
    case .none: break
    }
    guard case .at(let end) = expiry, let due = dueAt(marginSeconds: marginSeconds) else {
      return .valid
    }
    if !clockIsBelieved(at: now) { return .expiring }
    if now >= end { return .expired }
    return now >= due ? .expiring : .valid
  }
}
