import Providers
import Testing

@Suite struct `Twitter's error catalogue` {
  static let rows: [(code: Int, status: Int, expected: ErrorClass)] = [
    (32, 401, .config), (63, 403, .content), (64, 403, .userAction), (68, 410, .config),
    (87, 403, .config), (88, 429, .throttled), (89, 401, .invalid), (92, 403, .config),
    (93, 403, .permission), (99, 403, .config), (130, 503, .transient), (131, 500, .transient),
    (135, 401, .clock), (161, 403, .throttled), (185, 403, .throttled), (205, 403, .throttled),
    (179, 403, .content), (187, 403, .content), (215, 400, .config), (220, 403, .permission),
    (226, 403, .throttled), (231, 401, .userAction), (251, 410, .config), (261, 403, .config),
    (326, 403, .userAction), (415, 403, .config), (416, 401, .config), (417, 401, .config),
    (453, 403, .config),
  ]

  static func body(_ codes: Int...) -> String {
    let entries = codes.map { "{\"code\":\($0),\"message\":\"made up\"}" }
    return "{\"errors\":[\(entries.joined(separator: ","))]}"
  }

  @Test(arguments: rows.indices) func `classifies each row in every status`(_ index: Int) {
    let row = Self.rows[index]
    for status in [row.status, 200, 400, 401, 403] {
      #expect(
        meaning(builtIn("twitter"), status, Self.body(row.code))?.errorClass == row.expected,
        "\(row.code) with \(status)")
    }
    let newer = meaning(builtIn("x"), row.status, Self.body(row.code))?.errorClass
    // An OAuth 2.0 token does expire: there the same code is worth one renewal.
    #expect(newer == (row.code == 89 ? .expired : row.expected))
  }

  @Test func `takes the gravest of several errors`() {
    let twitter = builtIn("twitter")
    #expect(meaning(twitter, 403, Self.body(187, 89))?.errorClass == .invalid)
    #expect(meaning(twitter, 403, Self.body(89, 187))?.errorClass == .invalid)
    #expect(meaning(twitter, 403, Self.body(130, 64))?.errorClass == .userAction)
    #expect(meaning(twitter, 403, Self.body(99_999, 88))?.errorClass == .throttled)
    #expect(meaning(twitter, 403, Self.body(187, 89))?.code == "89")
  }

  static let problems: [(type: String, status: Int, expected: ErrorClass)] = [
    ("invalid-request", 400, .content), ("resource-not-found", 404, .content),
    ("not-authorized-for-resource", 403, .content), ("client-forbidden", 403, .config),
    ("usage-capped", 429, .throttled), ("rate-limit-exceeded", 429, .throttled),
    ("oauth1-permissions", 403, .permission), ("unsupported-authentication", 403, .config),
  ]

  @Test(arguments: problems.indices) func `classifies each problem document`(_ index: Int) {
    let row = Self.problems[index]
    for host in ["api.x.com", "api.twitter.com"] {
      for provider in ["x", "twitter"] {
        let body = """
          {"title":"T","status":\(row.status),"detail":"d","type":"https://\(host)/2/problems/\(row.type)"}
          """
        let found = meaning(builtIn(provider), row.status, body)
        #expect(found?.errorClass == row.expected)
        #expect(found?.code == row.type)
        #expect(found?.message == "d")
      }
    }
  }

  @Test func `tells a token that ran out from one that cannot`() {
    let body =
      #"{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}"#
    #expect(meaning(builtIn("x"), 401, body)?.errorClass == .expired)
    #expect(meaning(builtIn("twitter"), 401, body)?.errorClass == .invalid)
    let forbidden = #"{"title":"Forbidden","type":"about:blank","status":403,"detail":"F"}"#
    #expect(meaning(builtIn("x"), 403, forbidden)?.errorClass == .permission)
    #expect(meaning(builtIn("twitter"), 403, forbidden)?.errorClass == .permission)
  }

  @Test func `takes errors beside data for a part and not for a failure`() {
    let body = #"{"data":{"id":"1"},"errors":[{"code":89,"message":"m"}]}"#
    #expect(meaning(builtIn("x"), 200, body) == nil)
    #expect(meaning(builtIn("x"), 401, body)?.errorClass == .expired)
  }

  @Test func `knows the status of the old search`() {
    #expect(meaning(builtIn("twitter"), 420)?.errorClass == .throttled)
    #expect(meaning(builtIn("twitter"), 420, #"{"error":"slow"}"#)?.errorClass == .throttled)
  }

  @Test func `reads the reset of the allowance that is used up`() {
    let found = meaning(
      builtIn("twitter"), 429, Self.body(88),
      headers: [
        ("X-Rate-Limit-Reset", String(now.seconds + 100)), ("x-rate-limit-remaining", "14"),
        ("x-user-limit-24hour-reset", String(now.seconds + 7000)),
        ("x-user-limit-24hour-remaining", "0"),
      ])
    #expect(found?.retryAfter == later(7000))
    let plain = meaning(
      builtIn("twitter"), 429, Self.body(88),
      headers: [("x-rate-limit-reset", String(now.seconds + 100))])
    #expect(plain?.retryAfter == later(100))
    let past = meaning(
      builtIn("twitter"), 429, Self.body(88), headers: [("x-rate-limit-reset", "1705420800")])
    #expect(past?.retryAfter == now)
  }

  @Test func `gives no time for allowances that the headers do not speak of`() {
    for code in [161, 185, 205, 226] {
      let found = meaning(
        builtIn("twitter"), 403, Self.body(code),
        headers: [("x-rate-limit-reset", String(now.seconds + 100))])
      #expect(found?.retryAfter == nil)
      #expect(found?.mayRetry == (code != 226))
    }
  }

  @Test func `calls a refresh token dead only by the whole description, at the token endpoint`() {
    let x = builtIn("x")
    let dead =
      #"{"error":"invalid_request","error_description":"Value passed for the token was invalid."}"#
    #expect(meaning(x, 400, dead, from: .renewal)?.errorClass == .invalid)
    #expect(meaning(x, 400, dead, from: .token)?.errorClass == .invalid)
    #expect(meaning(x, 400, dead, from: .api)?.errorClass == .content)
    let other =
      #"{"error":"invalid_request","error_description":"Value passed for the token was invalid"}"#
    #expect(meaning(x, 400, other, from: .renewal)?.errorClass == .config)
    #expect(
      meaning(
        x, 401,
        #"{"error":"unauthorized_client","error_description":"Missing valid authorization header"}"#,
        from: .renewal)?.errorClass == .config)
  }

  @Test func `does not reject for a bad signature`() {
    #expect(
      meaning(builtIn("twitter"), 401, Self.body(32), canRenew: false)?.errorClass == .config)
    #expect(
      meaning(builtIn("twitter"), 400, Self.body(215), canRenew: false)?.errorClass == .config)
  }
}
