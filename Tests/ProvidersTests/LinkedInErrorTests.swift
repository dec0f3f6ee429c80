import Providers
import Testing

@Suite struct `LinkedIn's error catalogue` {
  static func api(_ code: Int, _ name: String, _ status: Int) -> [String] {
    [
      #"{"message":"m","serviceErrorCode":\#(code),"status":\#(status)}"#,
      #"{"message":"m","serviceErrorCode":"\#(code)","status":\#(status)}"#,
      #"{"message":"m","code":"\#(name)","status":\#(status)}"#,
      #"{"message":"m","serviceErrorCode":\#(code),"code":"\#(name)","status":\#(status)}"#,
    ]
  }

  @Test func `reads the number and the name of each API error`() {
    let rows: [(Int, Int, String, ErrorClass)] = [
      (401, 65600, "INVALID_ACCESS_TOKEN", .invalid),
      (401, 65601, "REVOKED_ACCESS_TOKEN", .revoked),
      (401, 65602, "EXPIRED_ACCESS_TOKEN", .expired),
      (401, 65604, "EMPTY_ACCESS_TOKEN", .config), (403, 100, "ACCESS_DENIED", .permission),
      (429, 101, "TOO_MANY_REQUESTS", .throttled),
    ]
    for (status, code, name, expected) in rows {
      for body in Self.api(code, name, status) {
        CatalogueCase.play([CatalogueCase(status, body, expected)], builtIn("linkedin"))
      }
    }
    CatalogueCase.play(
      [
        CatalogueCase(401, #"{"message":"Empty","serviceErrorCode":401,"status":401}"#, .config),
        CatalogueCase(503, #"{"message":"m","status":503}"#, .transient),
        CatalogueCase(500, "", .transient),
        CatalogueCase(426, #"{"message":"m","status":426}"#, .config),
        CatalogueCase(404, #"{"message":"m","serviceErrorCode":0,"status":404}"#, .content),
        CatalogueCase(
          401,
          #"{"serviceErrorCode":65601,"code":"REVOKED_ACCESS_TOKEN","message":"The token used in the request has been revoked by the user","status":401}"#,
          .revoked),
      ], builtIn("linkedin"))
  }

  @Test func `knows a dead code and a dead refresh token by what their descriptions keep`() {
    let dead =
      "Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists"
    CatalogueCase.play(
      [
        CatalogueCase(400, error("invalid_request", dead), from: .token, .invalid),
        CatalogueCase(400, error("invalid_redirect_uri", dead), from: .token, .invalid),
        CatalogueCase(
          400,
          error(
            "invalid_request",
            "The provided authorization grant or refresh token is invalid, expired or revoked"),
          from: .renewal, .invalid),
        CatalogueCase(
          400, error("invalid_request", "A required parameter is missing"), from: .token, .config),
        CatalogueCase(400, error("invalid_request"), from: .renewal, .config),
        CatalogueCase(401, error("invalid_client"), from: .renewal, .config),
        CatalogueCase(400, error("unauthorized_client"), from: .renewal, .config),
        CatalogueCase(400, error("invalid_redirect_uri"), from: .token, .config),
      ], builtIn("linkedin"))
  }

  @Test func `tells what a token was that is looked up`() {
    CatalogueCase.play(
      [
        CatalogueCase(
          200, #"{"active":true,"status":"active","scope":"a,b"}"#, from: .introspect, nil),
        CatalogueCase(200, #"{"active":false,"status":"revoked"}"#, from: .introspect, .revoked),
        CatalogueCase(200, #"{"active":false,"status":"expired"}"#, from: .introspect, .expired),
        CatalogueCase(200, #"{"active":false}"#, from: .introspect, .expired),
        CatalogueCase(200, #"{"active":false}"#, from: .introspect, canRenew: false, .invalid),
        CatalogueCase(200, #"{"active":false}"#, from: .api, nil),
      ], builtIn("linkedin"))
  }
}
