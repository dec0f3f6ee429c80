import Providers
import Testing

@Suite struct `Slack's error catalogue` {
  static let names: [(names: [String], expected: ErrorClass)] = [
    (["token_expired"], .expired),
    (
      [
        "token_revoked", "invalid_auth", "account_inactive", "user_removed_from_team",
        "invalid_refresh_token", "authorization_not_found", "invalid_token",
        "token_already_exchanged", "invalid_grant", "invalid_code", "code_already_used",
      ], .invalid
    ),
    (
      [
        "missing_scope", "no_permission", "ekm_access_denied", "access_denied", "accesslimited",
        "enterprise_is_restricted", "team_access_not_granted",
      ], .permission
    ),
    (
      [
        "not_authed", "not_allowed_token_type", "bad_client_secret", "invalid_client_id",
        "bad_redirect_uri", "invalid_grant_type", "oauth_authorization_url_mismatch",
        "token_rotation_not_enabled", "deprecated_endpoint", "invalid_arguments",
      ], .config
    ),
    (["ratelimited"], .throttled),
    (
      [
        "internal_error", "fatal_error", "service_unavailable", "request_timeout",
        "team_added_to_org", "org_login_required",
      ], .transient
    ),
  ]

  @Test func `reads every name in replies whose status is 200`() {
    for row in Self.names {
      for name in row.names {
        for endpoint in [Endpoint.api, .renewal, .token] {
          CatalogueCase.play(
            [
              CatalogueCase(200, #"{"ok":false,"error":"\#(name)"}"#, from: endpoint, row.expected)
            ], builtIn("slack"))
        }
      }
    }
  }

  @Test func `takes the other forms that are seen`() {
    CatalogueCase.play(
      [
        CatalogueCase(400, error("invalid_grant"), from: .renewal, .invalid),
        CatalogueCase(
          200,
          #"{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"users:read"}"#,
          .permission),
        CatalogueCase(
          429, #"{"ok":false,"error":"ratelimited"}"#, headers: [("Retry-After", "30")], .throttled),
        CatalogueCase(429, "", .throttled),
        CatalogueCase(200, #"{"ok":true,"revoked":true}"#, from: .revoke, nil),
        CatalogueCase(200, #"{"ok":true,"error":null}"#, nil),
        CatalogueCase(200, #"{"ok":true,"warning":"superfluous_charset"}"#, nil),
        CatalogueCase(200, #"{"ok":false,"error":"channel_not_found"}"#, .content),
        CatalogueCase(200, #"{"ok":false,"error":"never_heard_of"}"#, from: .renewal, .config),
        CatalogueCase(302, error("access_denied"), from: .authorize, .invalid),
      ], builtIn("slack"))
  }
}
