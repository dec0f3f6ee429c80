/// The errors that the OAuth 2.0 specifications name, for what a provider's own rows leave open
/// (RFC 6749 4.1.2.1 and 5.2, RFC 6750 3.1, RFC 7009 2.2.1, RFC 8628 3.5, RFC 9126, RFC 9396, RFC 9449,
/// RFC 9470, RFC 8707, RFC 7591, OpenID Connect Core 3.1.2.6).
enum StandardErrors {
  struct Meaning: Equatable {
    var errorClass: ErrorClass
    var slower = false
  }

  /// What `code` in a body means; nil for a code that no specification names there.
  static func meaning(of code: String, at endpoint: Endpoint) -> Meaning? {
    switch (code, endpoint) {
    case ("invalid_token", .api): return Meaning(errorClass: .expired)
    case ("insufficient_scope", .api): return Meaning(errorClass: .permission)
    case ("insufficient_user_authentication", .api), ("insufficient_claims", .api):
      return Meaning(errorClass: .invalid)
    case ("use_dpop_nonce", _): return Meaning(errorClass: .transient)
    case (_, .api): return nil
    case ("slow_down", _): return Meaning(errorClass: .pending, slower: true)
    default:
      if pending.contains(code) { return Meaning(errorClass: .pending) }
      if invalid.contains(code) { return Meaning(errorClass: .invalid) }
      if config.contains(code) { return Meaning(errorClass: .config) }
      if transient.contains(code) { return Meaning(errorClass: .transient) }
      return nil
    }
  }

  private static let pending: Set<String> = ["authorization_pending"]
  private static let invalid: Set<String> = [
    "access_denied", "invalid_grant", "expired_token", "login_required", "interaction_required",
    "account_selection_required", "consent_required", "insufficient_user_authentication",
    "insufficient_claims",
  ]
  private static let transient: Set<String> = ["server_error", "temporarily_unavailable"]
  private static let config: Set<String> = [
    "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope",
    "invalid_client", "unsupported_grant_type", "unsupported_token_type", "invalid_request_uri",
    "invalid_request_object", "invalid_target", "invalid_authorization_details",
    "registration_not_supported", "request_not_supported", "request_uri_not_supported",
    "invalid_redirect_uri", "invalid_client_metadata",
  ]
}
