import Providers
import Testing

@Suite struct `GitHub's error catalogue` {
  @Test(arguments: ["github", "github-app"])
  func `reads errors of the token address in every form and status`(_ id: String) {
    let rows: [(String, Endpoint, ErrorClass)] = [
      ("bad_verification_code", .token, .invalid), ("bad_refresh_token", .renewal, .invalid),
      ("unauthorized_client", .renewal, .invalid), ("unverified_user_email", .token, .userAction),
      ("incorrect_client_credentials", .token, .config), ("redirect_uri_mismatch", .token, .config),
      ("unsupported_grant_type", .token, .config), ("device_flow_disabled", .device, .config),
      ("incorrect_device_code", .device, .config), ("authorization_pending", .device, .pending),
      ("slow_down", .device, .pending), ("expired_token", .device, .invalid),
      ("token_expired", .device, .invalid), ("access_denied", .device, .invalid),
      ("incorrect_client_credentials", .renewal, .config), ("never_heard_of", .renewal, .config),
      ("unauthorized_client", .token, .config),
    ]
    for (code, endpoint, expected) in rows {
      for status in [200, 400] {
        CatalogueCase.play(
          [
            CatalogueCase(status, error(code, "made up"), from: endpoint, expected),
            CatalogueCase(
              status, "error=\(code)&error_description=made+up", from: endpoint, expected),
          ], builtIn(id))
      }
    }
    let slow = meaning(builtIn(id), 200, #"{"error":"slow_down","interval":10}"#, from: .device)
    #expect(slow?.slower == true)
  }

  @Test func `tells a limit from a missing permission`() {
    let github = builtIn("github")
    let not = #"{"message":"Resource not accessible by integration"}"#
    CatalogueCase.play(
      [
        CatalogueCase(403, not, .permission),
        CatalogueCase(403, #"{"message":"Must have admin rights to Repository."}"#, .permission),
        CatalogueCase(403, not, headers: [("X-RateLimit-Remaining", "59")], .permission),
        CatalogueCase(403, not, headers: [("X-RateLimit-Remaining", "0")], .throttled),
        CatalogueCase(403, not, headers: [("Retry-After", "60")], .throttled),
        CatalogueCase(429, not, .throttled),
        CatalogueCase(
          403, #"{"message":"You have exceeded a secondary rate limit. Please wait"}"#, .throttled),
        CatalogueCase(
          403, "{}", headers: [("X-GitHub-SSO", "required; url=https://github.com/x")],
          .permission),
        CatalogueCase(
          403, "{}", headers: [("X-GitHub-SSO", "required"), ("X-RateLimit-Remaining", "0")],
          .throttled),
        CatalogueCase(404, #"{"message":"Not Found"}"#, .content),
        CatalogueCase(422, #"{"message":"Validation Failed"}"#, .content),
      ], github)
    #expect(
      meaning(github, 403, "{}", headers: [("X-GitHub-SSO", "required")])?.advice?
        .contains("single sign-on") == true)
  }

  @Test func `renews for bad credentials only where something can`() {
    let bad = #"{"message":"Bad credentials"}"#
    CatalogueCase.play(
      [
        CatalogueCase(401, bad, .expired), CatalogueCase(401, bad, canRenew: false, .invalid),
      ], builtIn("github-app"))
    CatalogueCase.play([CatalogueCase(401, bad, .invalid)], builtIn("github"))
    CatalogueCase.play(
      [
        CatalogueCase(204, "", from: .revoke, nil), CatalogueCase(401, bad, from: .revoke, .config),
        // No token of this client: it is dead already.
        CatalogueCase(404, bad, from: .revoke, .invalid),
        CatalogueCase(422, bad, from: .revoke, .invalid),
      ], builtIn("github"))
  }
}
