import Providers
import Testing

@Suite struct `Mastodon's error catalogue` {
  @Test func `holds every row`() {
    CatalogueCase.play(
      [
        CatalogueCase(401, error("The access token is invalid"), .invalid),
        CatalogueCase(401, error("The access token was revoked"), .invalid),
        CatalogueCase(401, error("The access token expired"), .expired),
        CatalogueCase(403, error("This action is outside the authorized scopes"), .permission),
        CatalogueCase(403, error("Your login is currently disabled"), .userAction),
        CatalogueCase(403, error("Your login is missing a confirmed e-mail address"), .userAction),
        CatalogueCase(403, error("Your login is currently pending approval"), .userAction),
        CatalogueCase(403, error("This action is not allowed"), .permission),
        CatalogueCase(400, error("invalid_grant", "made up"), from: .token, .invalid),
        CatalogueCase(400, error("invalid_scope"), from: .token, .config),
        CatalogueCase(401, error("invalid_client"), from: .token, .config),
        CatalogueCase(403, error("unauthorized_client"), from: .revoke, .config),
        CatalogueCase(200, "{}", from: .revoke, nil),
        CatalogueCase(422, error("Validation failed: Text can't be blank"), .content),
        CatalogueCase(429, error("Too many requests"), .throttled),
        CatalogueCase(401, error("Le jeton est invalide"), canRenew: false, .invalid),
        CatalogueCase(503, "<html>", .transient),
      ], builtIn("mastodon"))
  }

  @Test func `says what to do about a client that the server forgot`() {
    let found = meaning(builtIn("mastodon"), 401, error("invalid_client"), from: .token)
    #expect(found?.advice?.contains("register") == true)
  }
}
