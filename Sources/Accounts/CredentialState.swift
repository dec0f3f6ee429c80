/// Where the credential of an account for a client stands. It carries no secret and no date.
public enum CredentialState: String, CaseIterable, Sendable {
  /// There is none.
  case absent
  /// It can be used.
  case valid
  /// It can be used, and it is time to renew it.
  case expiring
  /// It has ended and must not be used; it may be renewable.
  case expired
  /// The provider has refused it for good: a person must sign in.
  case rejected
  /// A renewal was cut off after the provider may have put another in its place.
  case uncertain
  /// It came from a backup: the provider may have put another in its place since.
  case stale
}
