import Providers
import Testing

@Suite struct `Facebook's error catalogue` {
  struct Row: Sendable, CustomTestStringConvertible {
    let code: Int
    var subcode: Int?
    let expected: ErrorClass
    var endpoint = Endpoint.api

    init(_ code: Int, _ expected: ErrorClass) { self.init(code, nil, expected) }

    init(_ code: Int, _ subcode: Int?, _ expected: ErrorClass, at endpoint: Endpoint = .api) {
      (self.code, self.subcode, self.expected, self.endpoint) = (code, subcode, expected, endpoint)
    }

    var testDescription: String { "\(code)/\(subcode ?? 0) at \(endpoint)" }

    func body(_ quote: String = "", message: String = "made up") -> String {
      let sub = subcode.map { ",\"error_subcode\":\(quote)\($0)\(quote)" } ?? ""
      return """
        {"error":{"message":"\(message)","type":"OAuthException","code":\(quote)\(code)\(quote)\(sub)}}
        """
    }
  }

  /// Written down from the provider's documentation, not from the definition.
  static let rows: [Row] = [
    Row(1, .transient), Row(2, .transient), Row(3, .config), Row(4, .throttled), Row(5, .config),
    Row(9, .throttled), Row(10, .permission), Row(12, .config), Row(17, .throttled),
    Row(32, .throttled), Row(100, .content), Row(100, 36007, .invalid, at: .token),
    Row(100, 36009, .invalid, at: .token), Row(100, 36008, .config, at: .token),
    Row(100, 36009, .content, at: .api), Row(101, .config), Row(104, .invalid),
    Row(102, .expired), Row(102, 458, .revoked), Row(102, 459, .userAction),
    Row(102, 460, .invalid),
    Row(102, 463, .expired), Row(190, .expired), Row(190, 452, .invalid), Row(190, 456, .invalid),
    Row(190, 457, .invalid), Row(190, 458, .revoked), Row(190, 459, .userAction),
    Row(190, 460, .invalid), Row(190, 461, .invalid), Row(190, 462, .invalid),
    Row(190, 463, .expired), Row(190, 464, .userAction), Row(190, 465, .invalid),
    Row(190, 466, .invalid), Row(190, 467, .invalid), Row(190, 468, .invalid),
    Row(190, 492, .permission), Row(190, 493, .expired), Row(200, .permission),
    Row(210, .permission), Row(299, .permission), Row(341, .throttled), Row(368, .throttled),
    Row(506, .content), Row(613, .throttled), Row(803, .content), Row(2500, .config),
    Row(80000, .throttled), Row(80007, .throttled), Row(80014, .throttled),
    Row(1_609_005, .content), Row(17, 1_349_174, .pending, at: .device),
    Row(17, 1_349_172, .pending, at: .device), Row(17, 1_349_152, .invalid, at: .device),
    Row(999, 1_349_174, .pending, at: .device),
  ]

  @Test(arguments: rows)
  func `classifies each row, in any status, language and spelling of the number`(_ row: Row) {
    for status in [200, 400, 401, 403, 500] {
      for quote in ["", "\""] {
        for message in ["Session has expired", "会话已过期", "Sitzung abgelaufen"] {
          let found = meaning(
            builtIn("facebook"), status, row.body(quote, message: message), from: row.endpoint)
          #expect(found?.errorClass == row.expected, "status \(status), \(message)")
          #expect(found?.code == String(row.code))
        }
      }
    }
  }

  @Test func `puts the codes just outside a range elsewhere`() {
    for code in [199, 300, 79999, 80015] {
      #expect(meaning(builtIn("facebook"), 400, Row(code, .content).body())?.rule == .status)
    }
  }

  @Test func `polls a device more slowly where it says so`() {
    let facebook = builtIn("facebook")
    #expect(
      meaning(facebook, 400, Row(17, 1_349_172, .pending).body(), from: .device)?.slower == true)
    #expect(
      meaning(facebook, 400, Row(17, 1_349_174, .pending).body(), from: .device)?.slower == false)
  }

  @Test func `tries one renewal for every unknown subcode of 190`() {
    var generator = SystemRandomNumberGenerator()
    let known: Set<Int> = [
      452, 456, 457, 458, 459, 460, 461, 462, 463, 464, 465, 466, 467, 468, 492,
    ]
    for _ in 0..<500 {
      let subcode = Int.random(in: 1...9999, using: &generator)
      let found = meaning(builtIn("facebook"), 400, Row(190, subcode, .expired).body())
      guard !known.contains(subcode) else { continue }
      #expect(found?.errorClass == .expired, "\(subcode)")
      #expect(found?.subcode == String(subcode))
    }
  }

  @Test func `lets a code with a class of its own win over the mark for a passing fault`() {
    let facebook = builtIn("facebook")
    func body(_ code: Int) -> String {
      "{\"error\":{\"message\":\"m\",\"type\":\"OAuthException\",\"is_transient\":true,\"code\":\(code)}}"
    }
    #expect(meaning(facebook, 403, body(4))?.errorClass == .throttled)
    #expect(meaning(facebook, 400, body(190))?.errorClass == .expired)
    #expect(meaning(facebook, 400, body(200))?.errorClass == .permission)
    #expect(meaning(facebook, 400, body(987_654))?.errorClass == .transient)
    #expect(meaning(facebook, 400, body(987_654))?.rule == .transientFlag)
  }

  @Test func `classifies the example bodies`() {
    let facebook = builtIn("facebook")
    let examples: [(Int, String, ErrorClass?)] = [
      (
        400,
        #"{"error":{"message":"Error validating access token: Session has expired at unix time 1354320000. The current unix time is 1354321234.","type":"OAuthException","code":190,"error_subcode":463}}"#,
        .expired
      ),
      (
        400,
        #"{"error":{"message":"Error validating access token: User 1000 has not authorized application 2000.","type":"OAuthException","code":190,"error_subcode":458,"fbtrace_id":"AbC"}}"#,
        .revoked
      ),
      (
        400,
        #"{"error":{"message":"(#200) The user hasn't authorized the application to perform this action","type":"OAuthException","code":200}}"#,
        .permission
      ),
      (400, #"{"error":{"message":"Bad session","type":"OAuthException"}}"#, .expired),
      (
        403,
        #"{"error":{"message":"(#4) Application request limit reached","type":"OAuthException","is_transient":true,"code":4}}"#,
        .throttled
      ),
      (200, #"{"data":[{"installed":1,"email":1,"user_birthday":1}]}"#, nil),
      (
        200,
        #"{"data":[{"permission":"email","status":"granted"},{"permission":"user_photos","status":"declined"}]}"#,
        nil
      ),
      (
        200,
        #"{"data":{"app_id":"2000","is_valid":false,"error":{"code":190,"subcode":460,"message":"password changed"},"scopes":[]}}"#,
        .invalid
      ),
      (
        400,
        #"{"error":{"message":"An active access token must be used to query information about the current user.","type":"OAuthException","code":2500}}"#,
        .config
      ),
      (200, "true", nil), (200, #"{"success":true}"#, nil),
    ]
    for (status, body, expected) in examples {
      #expect(meaning(facebook, status, body)?.errorClass == expected, "\(body)")
    }
  }

  @Test func `reads the challenge in its own form where the body says nothing`() {
    let header = [
      (
        name: "www-AUTHENTICATE",
        value: #"OAuth "Facebook Platform" "invalid_token" "Session over""#
      )
    ]
    let found = meaning(builtIn("facebook"), 400, "", headers: header)
    #expect(found?.errorClass == .expired)
    #expect(found?.rule == .challenge)
    #expect(
      meaning(builtIn("facebook"), 400, "", headers: header, canRenew: false)?.errorClass
        == .invalid)
    // The body's code is inspected first.
    #expect(
      meaning(builtIn("facebook"), 400, Row(190, 458, .revoked).body(), headers: header)?.errorClass
        == .revoked)
  }

  @Test func `takes the longest of the minutes that the business headers name`() {
    let found = meaning(
      builtIn("facebook"), 400, Row(80001, .throttled).body(),
      headers: [
        (
          name: "X-Business-Use-Case-Usage",
          value:
            #"{"1":[{"type":"a","estimated_time_to_regain_access":4},{"estimated_time_to_regain_access":19}]}"#
        )
      ])
    #expect(found?.retryAfter == later(19 * 60))
  }

  @Test func `names no time and no machine's try for a block by policy`() {
    let found = meaning(
      builtIn("facebook"), 400, Row(368, .throttled).body(),
      headers: [
        (
          name: "X-Business-Use-Case-Usage",
          value: #"{"1":[{"estimated_time_to_regain_access":19}]}"#
        )
      ])
    #expect(found?.retryAfter == nil)
    #expect(found?.mayRetry == false)
    #expect(found?.advice != nil)
  }

  @Test func `shows the person the provider's own words where it has some`() {
    let found = meaning(
      builtIn("facebook"), 400,
      #"{"error":{"message":"m","code":190,"error_subcode":459,"error_user_title":"Please check","error_user_msg":"Log in at the site"}}"#
    )
    #expect(found?.title == "Please check")
    #expect(found?.message == "Log in at the site")
    #expect(found?.advice == "clear the checkpoint at facebook.com")
  }
}
