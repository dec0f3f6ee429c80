import Providers
import Testing

@Suite struct `Bluesky's error catalogue` {
  @Test func `holds every row`() {
    func proof(_ error: String) -> [(name: String, value: String)] {
      [("WWW-Authenticate", #"DPoP error="\#(error)""#), ("DPoP-Nonce", "n3")]
    }
    func date(_ text: String) -> [(name: String, value: String)] { [("Date", text)] }
    CatalogueCase.play(
      [
        CatalogueCase(
          400, error("use_dpop_nonce", "made up"), from: .renewal, headers: [("DPoP-Nonce", "n1")],
          .transient),
        CatalogueCase(401, "", headers: proof("use_dpop_nonce"), .transient),
        CatalogueCase(401, "", headers: proof("invalid_token"), .expired),
        CatalogueCase(401, "", headers: proof("invalid_token"), canRenew: false, .invalid),
        CatalogueCase(401, error("invalid_token"), headers: proof("invalid_token"), .expired),
        CatalogueCase(
          400, error("invalid_dpop_proof"), from: .renewal,
          headers: date("Mon, 30 Nov 2026 06:10:02 GMT"), .config),
        CatalogueCase(
          400, error("invalid_dpop_proof"), from: .renewal,
          headers: date("Mon, 30 Nov 2026 07:10:02 GMT"), .clock),
        CatalogueCase(400, error("invalid_grant"), from: .renewal, .invalid),
        CatalogueCase(400, error("invalid_client"), from: .renewal, .config),
        CatalogueCase(400, error("invalid_client_metadata"), from: .token, .config),
        CatalogueCase(400, error("invalid_redirect_uri"), from: .token, .config),
        CatalogueCase(
          403, #"{"error":"ScopeMissingError","message":"Missing required scope \"rpc:made.up\""}"#,
          .permission),
        CatalogueCase(
          400, #"{"error":"ExpiredToken","message":"Token has expired"}"#, .expired),
        CatalogueCase(
          400, #"{"error":"ExpiredToken","message":"Token has been revoked"}"#, from: .renewal,
          .invalid),
        CatalogueCase(400, error("InvalidToken"), from: .renewal, .invalid),
        CatalogueCase(400, error("InvalidToken"), .invalid),
        CatalogueCase(401, error("AuthMissing"), .config),
        CatalogueCase(401, error("AuthenticationRequired"), .invalid),
        CatalogueCase(400, error("AccountTakedown"), .userAction),
        CatalogueCase(401, error("AccountTakedown"), from: .renewal, .userAction),
        CatalogueCase(429, error("RateLimitExceeded"), .throttled),
        CatalogueCase(400, error("InvalidRequest"), .content),
      ], builtIn("bluesky"))
  }
}
