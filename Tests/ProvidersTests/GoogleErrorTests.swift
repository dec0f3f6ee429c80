import Providers
import Testing

@Suite struct `Google's error catalogue` {
  static func status(_ code: Int, _ status: String, reason: String? = nil) -> String {
    let details =
      reason.map {
        #","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"\#($0)"}]"#
      } ?? ""
    return #"{"error":{"code":\#(code),"message":"m","status":"\#(status)"\#(details)}}"#
  }

  static func legacy(_ code: Int, _ reason: String) -> String {
    #"{"error":{"errors":[{"domain":"global","reason":"\#(reason)","message":"m"}],"code":\#(code),"message":"m"}}"#
  }

  @Test func `holds every row of the token address`() {
    CatalogueCase.play(
      [
        CatalogueCase(
          400, error("invalid_grant", "Token has been expired or revoked."), from: .renewal,
          .invalid),
        CatalogueCase(400, error("invalid_grant", "Bad Request"), from: .renewal, .invalid),
        CatalogueCase(
          400, #"{"error":"invalid_grant","error_subtype":"invalid_rapt"}"#, from: .renewal,
          .invalid),
        CatalogueCase(400, error("internal_failure"), from: .renewal, .transient),
        CatalogueCase(500, error("server_error"), from: .renewal, .transient),
        CatalogueCase(400, error("temporarily_unavailable"), from: .renewal, .transient),
        CatalogueCase(408, "", from: .renewal, .transient),
        CatalogueCase(429, "", from: .renewal, .throttled),
        CatalogueCase(502, "<html>", from: .renewal, .transient),
        CatalogueCase(401, error("invalid_client"), from: .renewal, .config),
        CatalogueCase(401, error("deleted_client"), from: .renewal, .config),
        CatalogueCase(401, error("disabled_client"), from: .renewal, .config),
        CatalogueCase(400, error("unauthorized_client"), from: .renewal, .config),
        CatalogueCase(400, error("redirect_uri_mismatch"), from: .token, .config),
        CatalogueCase(400, error("unsupported_grant_type"), from: .token, .config),
        CatalogueCase(400, error("invalid_scope"), from: .token, .config),
        CatalogueCase(400, error("invalid_request"), from: .renewal, .config),
        CatalogueCase(400, error("org_internal"), from: .authorize, .userAction),
        CatalogueCase(400, error("admin_policy_enforced"), from: .authorize, .userAction),
        CatalogueCase(428, error("authorization_pending"), from: .device, .pending),
        CatalogueCase(403, error("slow_down"), from: .device, .pending),
        CatalogueCase(403, error("access_denied"), from: .device, .invalid),
        CatalogueCase(400, error("expired_token"), from: .device, .invalid),
        CatalogueCase(403, error("rate_limit_exceeded"), from: .device, .throttled),
        CatalogueCase(400, error("invalid_token"), from: .revoke, .invalid),
        CatalogueCase(400, error("invalid_token"), from: .introspect, .expired),
      ], builtIn("google"))
    let rapt = meaning(
      builtIn("google"), 400, #"{"error":"invalid_grant","error_subtype":"invalid_rapt"}"#,
      from: .renewal)
    #expect(rapt?.subcode == "invalid_rapt")
    #expect(rapt?.advice != nil)
  }

  @Test func `holds every row of the API in the new form and the old`() {
    var rows = [
      CatalogueCase(401, Self.status(401, "UNAUTHENTICATED"), .expired),
      CatalogueCase(
        401, Self.status(401, "UNAUTHENTICATED", reason: "ACCESS_TOKEN_EXPIRED"), .expired),
      CatalogueCase(401, Self.legacy(401, "authError"), .expired),
      CatalogueCase(
        403, Self.status(403, "PERMISSION_DENIED", reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
        .permission),
      CatalogueCase(403, Self.legacy(403, "insufficientPermissions"), .permission),
      CatalogueCase(
        403, Self.status(403, "PERMISSION_DENIED", reason: "SERVICE_DISABLED"), .config),
      CatalogueCase(403, Self.legacy(403, "accessNotConfigured"), .config),
      CatalogueCase(403, Self.status(403, "PERMISSION_DENIED"), .permission),
      CatalogueCase(429, Self.status(429, "RESOURCE_EXHAUSTED"), .throttled),
      CatalogueCase(503, Self.status(503, "UNAVAILABLE"), .transient),
      CatalogueCase(404, Self.status(404, "NOT_FOUND"), .content),
      // FIELD-CASES B44
      CatalogueCase(
        403, #"{"error":{"errors":[{"reason":"userRateLimitExceeded"}],"code":403}}"#, .throttled),
      CatalogueCase(403, "<html>...Rate Limit Exceeded...</html>", .transient),
    ]
    for reason in [
      "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded",
    ] {
      rows.append(CatalogueCase(403, Self.legacy(403, reason), .throttled))
    }
    CatalogueCase.play(rows, builtIn("google"))
  }
}
