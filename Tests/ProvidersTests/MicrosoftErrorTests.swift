import Providers
import Testing

@Suite struct `Microsoft's error catalogue` {
  static func body(_ error: String, _ numbers: Int..., suberror: String? = nil) -> String {
    let more = suberror.map { #","suberror":"\#($0)""# } ?? ""
    return
      #"{"error":"\#(error)","error_description":"AADSTS: made up","error_codes":\#(numbers),"timestamp":"2026-01-05 10:00:00Z","trace_id":"t","correlation_id":"c"\#(more)}"#
  }

  static let numbers: [(codes: [Int], expected: ErrorClass)] = [
    ([70008, 700082, 700084, 70043, 50089, 50173, 50132, 50133, 50139, 70000, 54005], .invalid),
    ([50072, 50074, 50076, 50078, 50079, 50058, 50097, 50158, 50131, 16000], .invalid),
    ([53000, 53001, 53002, 53003, 53004], .invalid),
    ([65001, 65004, 90008, 90094, 90095], .permission),
    ([50053, 50055, 50057, 50105, 53011], .userAction), ([50126, 50056], .invalid),
    (
      [
        70001, 700016, 7_000_112, 70002, 7_000_215, 7_000_222, 700025, 700027, 7_000_218, 50011,
        70003, 70004, 70005, 70011, 65005, 650057, 900144, 90002, 90014, 50194, 9_002_313, 900561,
        28002, 28003, 700022, 501481,
      ], .config
    ),
    ([50196, 90055, 50088], .throttled),
    ([50033, 50087, 70012, 80001, 80002, 90006, 90012, 90024, 90033, 90090, 80013], .transient),
    ([70016], .pending), ([70018, 70019], .invalid), ([700024, 500133, 50013], .clock),
  ]

  @Test func `reads every AADSTS number, whatever the error beside it says`() {
    for row in Self.numbers {
      for code in row.codes {
        for name in ["invalid_grant", "invalid_client", "interaction_required", "made_up"] {
          CatalogueCase.play(
            [
              CatalogueCase(400, Self.body(name, code), from: .renewal, row.expected),
              CatalogueCase(400, Self.body(name, code), from: .token, row.expected),
            ], builtIn("microsoft"))
        }
      }
    }
  }

  @Test func `goes by the error where the number is unknown or absent`() {
    let rows: [(String, Endpoint, ErrorClass)] = [
      ("invalid_grant", .renewal, .invalid), ("interaction_required", .renewal, .invalid),
      ("login_required", .renewal, .invalid), ("consent_required", .renewal, .invalid),
      ("invalid_client", .renewal, .config), ("unauthorized_client", .renewal, .config),
      ("invalid_request", .renewal, .config), ("unsupported_grant_type", .token, .config),
      ("invalid_resource", .token, .config), ("invalid_scope", .token, .config),
      ("temporarily_unavailable", .renewal, .transient), ("server_error", .renewal, .transient),
      ("authorization_pending", .device, .pending), ("authorization_declined", .device, .invalid),
      ("bad_verification_code", .device, .invalid), ("expired_token", .device, .invalid),
      ("made_up", .renewal, .config),
    ]
    for (name, endpoint, expected) in rows {
      CatalogueCase.play(
        [
          CatalogueCase(400, error(name, "made up"), from: endpoint, expected),
          CatalogueCase(400, Self.body(name, 999_999_999), from: endpoint, expected),
        ], builtIn("microsoft"))
    }
  }

  @Test func `takes the gravest of several numbers, in any order`() {
    CatalogueCase.play(
      [
        CatalogueCase(400, Self.body("invalid_grant", 50196, 50173), from: .renewal, .invalid),
        CatalogueCase(400, Self.body("invalid_grant", 50173, 50196), from: .renewal, .invalid),
      ], builtIn("microsoft"))
  }

  @Test(arguments: [
    "bad_token", "token_expired", "protection_policy_required", "client_mismatch",
    "device_authentication_failed",
  ]) func `takes the five hidden suberrors for a plain rejection`(_ suberror: String) {
    CatalogueCase.play(
      [
        CatalogueCase(
          400, Self.body("invalid_grant", 50173, suberror: suberror), from: .renewal, .invalid),
        CatalogueCase(
          400, #"{"error":"invalid_grant","suberror":"\#(suberror)"}"#, from: .renewal, .invalid),
      ], builtIn("microsoft"))
  }

  @Test func `holds every row of Graph`() {
    func graph(_ code: String) -> String { #"{"error":{"code":"\#(code)","message":"made up"}}"# }
    let claims =
      #"Bearer realm="", authorization_uri="https://login.microsoftonline.com/common/oauth2/authorize", error="insufficient_claims", claims="eyJ9""#
    CatalogueCase.play(
      [
        CatalogueCase(401, graph("InvalidAuthenticationToken"), .expired),
        CatalogueCase(
          401, graph("InvalidAuthenticationToken"), headers: [("WWW-Authenticate", claims)],
          .invalid),
        CatalogueCase(401, "", headers: [("www-authenticate", claims)], .invalid),
        CatalogueCase(403, graph("Authorization_RequestDenied"), .permission),
        CatalogueCase(403, graph("ErrorAccessDenied"), .permission),
        CatalogueCase(429, graph("TooManyRequests"), .throttled),
        CatalogueCase(503, graph("serviceNotAvailable"), .transient),
        CatalogueCase(504, graph("timeout"), .transient),
        CatalogueCase(404, graph("itemNotFound"), .content),
      ], builtIn("microsoft"))
    #expect(
      meaning(builtIn("microsoft"), 429, headers: [("Retry-After", "17")])?.retryAfter == later(17))
  }
}
