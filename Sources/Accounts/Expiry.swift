public import Time

/// When an access token ends, as far as anyone has said.
public enum Expiry: Hashable, Sendable {
  /// The provider did not say. The token is used until the provider refuses it.
  case unknown
  /// The provider said, or its definition says, that the token does not end by itself.
  case never
  /// At this second it has ended.
  case at(Timestamp)

  /// The end of a token that was obtained at a time and lives for some seconds.
  ///
  /// A negative lifetime counts as 0, so that no expiry lies before the token's own beginning; one
  /// that no timestamp can hold ends at the last one.
  public static func after(_ lifetime: Int64, from obtainedAt: Timestamp) -> Expiry {
    let (seconds, overflow) = obtainedAt.seconds.addingReportingOverflow(max(0, lifetime))
    return .at(Timestamp(seconds: overflow ? .max : seconds))
  }

  /// The time, where there is one.
  public var time: Timestamp? {
    if case .at(let time) = self { time } else { nil }
  }

  /// This expiry, or the beginning itself where it lies before it.
  func notBefore(_ beginning: Timestamp) -> Expiry {
    if case .at(let time) = self, time < beginning { .at(beginning) } else { self }
  }
}
