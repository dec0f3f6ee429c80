import Providers
import Testing

@Suite struct `Reddit's error catalogue` {
  @Test func `holds every row`() {
    let expired = #"Bearer realm="reddit", error="invalid_token""#
    let scope = #"Bearer realm="reddit", error="insufficient_scope""#
    CatalogueCase.play(
      [
        CatalogueCase(200, error("invalid_grant"), from: .token, .invalid),
        CatalogueCase(200, error("invalid_grant"), from: .renewal, .invalid),
        CatalogueCase(400, #"{"message":"Bad Request","error":400}"#, from: .renewal, .invalid),
        CatalogueCase(400, "", from: .renewal, .invalid),
        CatalogueCase(400, #"{"message":"Bad Request","error":400}"#, from: .token, .config),
        CatalogueCase(401, #"{"message":"Unauthorized","error":401}"#, from: .renewal, .config),
        CatalogueCase(401, "", from: .renewal, .config),
        CatalogueCase(400, error("unsupported_grant_type"), from: .renewal, .config),
        CatalogueCase(200, error("NO_TEXT"), from: .token, .config),
        CatalogueCase(401, "", headers: [("www-authenticate", expired)], .expired),
        CatalogueCase(
          401, #"{"message":"Unauthorized","error":401}"#, headers: [("www-authenticate", expired)],
          .expired),
        CatalogueCase(403, "", headers: [("www-authenticate", scope)], .permission),
        CatalogueCase(401, "", headers: [("www-authenticate", scope)], .permission),
        CatalogueCase(403, #"{"message":"Forbidden","error":403}"#, .permission),
        CatalogueCase(429, "", .throttled), CatalogueCase(520, "<html>", .transient),
        CatalogueCase(500, "", .transient), CatalogueCase(204, "", from: .revoke, nil),
      ], builtIn("reddit"))
  }
}
