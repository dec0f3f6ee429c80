/// What a provider's refusal means for the credential, the grant and the next try.
///
/// The raw values are the names of the public contract; every failed reply ends in exactly one.
public enum ErrorClass: String, Sendable, Hashable, CaseIterable {
  /// The access token ran out; one renewal is worth a try.
  case expired
  /// The user took the app away at the provider: rejected, and the app's grants are lost there.
  case revoked
  /// The token or grant is dead for another reason: a person must sign in again.
  case invalid
  /// The person must clear something at the provider's site; the same token may work afterwards.
  case userAction = "user_action"
  /// The token is good and the permission is missing: never renew for it.
  case permission
  /// Wait: until the time that the reply names, else with growing delay.
  case throttled
  /// Server or network trouble; a later try may work.
  case transient
  /// Our clock is off: sign again with the offset of the reply's `Date`.
  case clock
  /// The app's registration, the request or the definition is wrong; never the account's fault.
  case config
  /// The request's content is refused; no credential matter.
  case content
  /// A sign-in that is not finished.
  case pending

  /// How much it weighs where one reply carries several errors: the heaviest decides, so that a dead
  /// token is not hidden behind a duplicate post.
  package var gravity: Int {
    switch self {
    case .revoked: 11
    case .invalid: 10
    case .expired: 9
    case .userAction: 8
    case .permission: 7
    case .config: 6
    case .clock: 5
    case .throttled: 4
    case .transient: 3
    case .content: 2
    case .pending: 1
    }
  }
}
