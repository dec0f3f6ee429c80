/// The present answer for one app, account and permission.
public enum PermissionState: String, CaseIterable, Sendable {
  /// Nobody has decided.
  case never
  /// The person said yes, and no end has come.
  case granted
  /// The person said no.
  case denied
  /// Granted once and taken back, here or on the provider's site.
  case revoked
  /// Granted until a time that has come.
  case lapsed
}
