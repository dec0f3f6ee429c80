import Providers
import Testing
import Time

@Suite struct `An error that no row names` {
  static let token: [(error: String, expected: ErrorClass)] = [
    ("invalid_request", .config), ("invalid_client", .config), ("invalid_grant", .invalid),
    ("unauthorized_client", .config), ("unsupported_grant_type", .config),
    ("invalid_scope", .config), ("unsupported_token_type", .config),
    ("authorization_pending", .pending), ("slow_down", .pending), ("access_denied", .invalid),
    ("expired_token", .invalid), ("server_error", .transient),
    ("temporarily_unavailable", .transient), ("unsupported_response_type", .config),
    ("invalid_request_uri", .config), ("invalid_request_object", .config),
    ("invalid_target", .config), ("invalid_authorization_details", .config),
    ("login_required", .invalid), ("interaction_required", .invalid),
    ("account_selection_required", .invalid), ("consent_required", .invalid),
    ("registration_not_supported", .config), ("request_not_supported", .config),
    ("request_uri_not_supported", .config), ("invalid_redirect_uri", .config),
    ("invalid_client_metadata", .config), ("insufficient_user_authentication", .invalid),
    ("never_heard_of", .config),
  ]

  @Test(arguments: token.indices) func `goes by the specifications`(_ index: Int) throws {
    let row = Self.token[index]
    let provider = try custom("")
    for status in [200, 302, 400, 401] {
      for body in [
        #"{"error":"\#(row.error)","error_description":"made up"}"#, "error=\(row.error)&state=s",
      ] {
        for endpoint in [Endpoint.authorize, .token, .renewal, .device] {
          let found = meaning(provider, status, body, from: endpoint)
          #expect(found?.errorClass == row.expected, "\(body) from \(endpoint), \(status)")
        }
      }
    }
    #expect(
      meaning(provider, 400, #"{"error":"slow_down","interval":10}"#, from: .device)?.slower == true
    )
  }

  @Test func `never ends a grant by a number or word that nobody knows`() throws {
    for provider in [try custom(""), builtIn("facebook"), builtIn("weibo"), builtIn("x")] {
      for status in 100...599 {
        for body in ["", #"{"error":"made_up"}"#, "<html>x</html>", "oops", "{", "null"] {
          let found = meaning(provider, status, body, from: .renewal)
          #expect(found?.errorClass != .invalid && found?.errorClass != .revoked)
          #expect(found?.errorClass != .expired)
          #expect((200...299).contains(status) || found != nil)
        }
      }
    }
  }

  @Test func `keeps a grant through trouble of the server, whatever the body says`() throws {
    let provider = try custom("")
    let body = #"{"error":"invalid_grant"}"#
    for status in [408, 425, 500, 502, 503, 520] {
      #expect(meaning(provider, status, body, from: .renewal)?.errorClass == .transient)
    }
    #expect(meaning(provider, 429, body, from: .renewal)?.errorClass == .throttled)
    #expect(meaning(provider, nil)?.errorClass == .transient)
    #expect(meaning(provider, nil)?.rule == .noReply)
  }

  @Test func `goes by the challenge`() throws {
    let provider = try custom(#""renewal": {"method": "refresh_token"}"#)
    func by(_ challenge: String, _ status: Int = 401, canRenew: Bool = true) -> ErrorClass? {
      meaning(
        provider, status, headers: [("WWW-Authenticate", challenge)], canRenew: canRenew)?
        .errorClass
    }
    let expired =
      #"Bearer realm="api", error="invalid_token", error_description="expired, \"really\"""#
    #expect(by(expired) == .expired)
    #expect(by(expired, canRenew: false) == .invalid)
    #expect(by(#"bearer ERROR=invalid_token"#) == .expired)
    #expect(
      by(#"Basic realm="x, Bearer", Bearer error="insufficient_scope", scope="mail.send""#, 403)
        == .permission)
    #expect(by(#"Bearer realm="api""#) == .config)
    #expect(by(#"Bearer error="insufficient_claims", claims="e30""#) == .invalid)
    #expect(by(#"DPoP error="use_dpop_nonce""#) == .transient)
    #expect(by(#"DPoP algs="ES256", error="invalid_token""#) == .expired)
    #expect(by("") == .expired)
    #expect(by("\"\"\",,,= ") == .expired)
    // A proxy's challenge is none of the API's.
    #expect(by(#"Basic realm="proxy""#) == .expired)
    #expect(
      meaning(
        provider, 401, #"{"error":"invalid_client"}"#,
        headers: [("WWW-Authenticate", #"Basic realm="token""#)], from: .renewal)?.errorClass
        == .config)
  }

  @Test func `goes by the status at last`() throws {
    let provider = try custom(#""renewal": {"method": "refresh_token"}"#)
    let rows: [(Int, ErrorClass?)] = [
      (200, nil), (204, nil), (301, .config), (307, .config), (400, .content), (401, .expired),
      (403, .permission), (404, .content), (408, .transient), (410, .content), (422, .content),
      (425, .transient), (429, .throttled), (500, .transient), (503, .transient),
    ]
    for (status, expected) in rows {
      #expect(meaning(provider, status)?.errorClass == expected, "\(status)")
    }
    #expect(meaning(provider, 401, canRenew: false)?.errorClass == .invalid)
    #expect(meaning(provider, 401, canRenew: false)?.rule == .status)
    #expect(meaning(provider, 401, from: .renewal)?.errorClass == .config)
    #expect(meaning(provider, 403, from: .renewal)?.errorClass == .config)
  }

  @Test func `is a limit where a 403 shows one`() throws {
    let google = try custom(
      #"""
      "error_body": {"code": ["error.errors.*.reason", "error.status", "error"]},
      "rate_headers": [{"reset": "x-ratelimit-reset", "remaining": "x-ratelimit-remaining", "unit": "seconds_left"}],
      "errors": [{"code": ["userRateLimitExceeded", "rateLimitExceeded"], "class": "throttled"}]
      """#)
    #expect(
      meaning(
        google, 403, #"{"error":{"errors":[{"reason":"userRateLimitExceeded"}],"code":403}}"#)?
        .errorClass == .throttled)
    #expect(meaning(google, 403, headers: [("Retry-After", "60")])?.errorClass == .throttled)
    let used = meaning(
      google, 403, headers: [("X-RateLimit-Remaining", "0.0"), ("X-RateLimit-Reset", "213.4")])
    #expect(used?.errorClass == .throttled)
    #expect(used?.retryAfter == later(214))
    #expect(
      meaning(google, 403, headers: [("X-RateLimit-Remaining", "10")])?.errorClass == .permission)
    #expect(
      meaning(google, 403, "<html>...Rate Limit Exceeded...</html>")?.errorClass == .transient)
  }

  @Test func `of a proof is the clock's fault only where the clock is off`() throws {
    let provider = try custom(#""dpop": "required""#)
    let body = #"{"error":"invalid_dpop_proof"}"#
    func by(_ date: String) -> ErrorClass? {
      meaning(provider, 400, body, headers: [("Date", date)], from: .renewal)?.errorClass
    }
    #expect(by("Mon, 30 Nov 2026 06:10:05 GMT") == .config)
    #expect(by("Mon, 30 Nov 2026 14:10:05 GMT") == .clock)
    #expect(by("") == .config)
  }

  @Test func `is never decided by a body that is too long or too deep`() throws {
    let long = #"{"error":{"code":190,"x":""# + String(repeating: "x", count: 300_000) + #""}}"#
    #expect(meaning(builtIn("facebook"), 503, long)?.errorClass == .transient)
    let deep = String(repeating: #"{"error":"#, count: 50_000)
    #expect(meaning(builtIn("facebook"), 400, deep)?.errorClass == .content)
  }
}

@Suite struct `The time of the next try` {
  static let rows: [(value: String, expected: Int64?)] = [
    ("120", 120), ("0", 0), (" 120 ", 120), ("Mon, 30 Nov 2026 07:28:00 GMT", 4680),
    ("Monday, 30-Nov-26 07:28:00 GMT", 4680), ("Mon Nov 30 07:28:00 2026", 4680),
    ("Tue Dec  1 06:10:00 2026", 86_400), ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 0), ("-1", nil), ("1e3", nil), ("0x10", nil),
    ("99999999999", 31 * 86_400), ("99999999999999999999999", 31 * 86_400), ("", nil),
    ("1.5", nil), ("soon", nil), ("Mon, 30 Feb 2026 07:28:00 GMT", nil),
    ("Mon, 30 Nov 2026 25:00:00 GMT", nil), ("Fri, 31 Dec 9999 23:59:59 GMT", 31 * 86_400),
    ("+5", nil), ("١٢", nil),
  ]

  @Test(arguments: rows.indices) func `is read from every form of Retry-After`(_ index: Int) throws
  {
    let row = Self.rows[index]
    let provider = try custom("")
    for status in [429, 503] {
      let found = meaning(provider, status, headers: [("retry-after", row.value)])
      #expect(found?.retryAfter == row.expected.map(later), "\(row.value)")
    }
  }

  @Test func `comes from the provider's headers in their units`() throws {
    let rows: [(String, String, Int64?)] = [
      ("epoch_seconds", String(now.seconds + 50), 50),
      ("epoch_milliseconds", String((now.seconds + 50) * 1000), 50), ("seconds_left", "50", 50),
      ("rfc3339", "2026-11-30T06:15:00.000000Z", 300), ("epoch_seconds", "-5", nil),
      ("seconds_left", "nonsense", nil), ("rfc3339", "50", nil),
    ]
    for (unit, value, expected) in rows {
      let provider = try custom(#""rate_headers": [{"reset": "X-Reset", "unit": "\#(unit)"}]"#)
      let found = meaning(provider, 429, headers: [("x-reset", value)])
      #expect(found?.retryAfter == expected.map(later), "\(unit) \(value)")
      // What the standard header says is for this very request.
      #expect(
        meaning(provider, 429, headers: [("x-reset", value), ("Retry-After", "7")])?.retryAfter
          == later(7))
    }
  }
}
