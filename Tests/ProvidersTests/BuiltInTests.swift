import Providers
import Testing
import Time

@Suite struct `A built-in provider` {
  @Test func `stands in the order of the contract`() {
    #expect(
      Provider.builtInIdentifiers.joined(separator: " ")
        == "facebook twitter x weibo tencentweibo linkedin mastodon github github-app google microsoft slack reddit bluesky"
    )
  }

  /// A lifetime in the headers of each, and when the next try makes sense.
  static let limits: [(id: String, headers: [(name: String, value: String)], seconds: Int64?)] = [
    ("twitter", [("x-rate-limit-reset", String(now.seconds + 90))], 90),
    ("x", [("x-rate-limit-reset", String(now.seconds + 90))], 90),
    (
      "github", [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", String(now.seconds + 90))],
      90
    ),
    ("github-app", [("x-ratelimit-reset", String(now.seconds + 90))], 90),
    ("github", [("Retry-After", "61"), ("x-ratelimit-reset", String(now.seconds + 90))], 61),
    ("mastodon", [("X-RateLimit-Reset", "2026-11-30T06:15:00.000000Z")], 300),
    ("mastodon", [("X-RateLimit-Reset", "300")], nil),
    ("reddit", [("x-ratelimit-remaining", "0.0"), ("x-ratelimit-reset", "214")], 214),
    ("reddit", [("x-ratelimit-reset", "213.5")], 214),
    ("reddit", [("Retry-After", "5"), ("x-ratelimit-reset", "214")], 5),
    ("slack", [("Retry-After", "30")], 30), ("google", [("Retry-After", "30")], 30),
    ("microsoft", [("Retry-After", "30")], 30),
    ("bluesky", [("RateLimit-Reset", String(now.seconds + 90))], 90),
    ("bluesky", [("RateLimit-Reset", String(now.seconds + 90)), ("Retry-After", "9")], 9),
    ("linkedin", [], nil), ("tencentweibo", [], nil), ("weibo", [], nil),
    (
      "facebook",
      [("X-Business-Use-Case-Usage", #"{"1":[{"estimated_time_to_regain_access":7}]}"#)], 420
    ),
  ]

  @Test(arguments: limits.indices) func `says when to come back`(_ index: Int) {
    let row = Self.limits[index]
    let found = meaning(builtIn(row.id), 429, headers: row.headers)
    #expect(found?.errorClass == .throttled)
    #expect(found?.retryAfter == row.seconds.map(later), "\(row.id)")
  }

  @Test func `of LinkedIn and Microsoft names no time where the limit has none`() {
    let daily = meaning(
      builtIn("linkedin"), 429, #"{"serviceErrorCode":101,"status":429}"#,
      headers: [("x-ratelimit-reset", "9")])
    #expect(daily?.retryAfter == nil)
    #expect(daily?.advice?.contains("midnight") == true)
    #expect(
      meaning(
        builtIn("microsoft"), 400, MicrosoftBody.loop, from: .renewal)?.retryAfter == nil)
  }

  enum MicrosoftBody {
    static let loop = #"{"error":"invalid_grant","error_codes":[50196]}"#
  }

  static let covered: [(id: String, permission: String, scopes: [String], expected: Bool)] = [
    ("google", "email", ["https://www.googleapis.com/auth/userinfo.email", "openid"], true),
    ("google", "profile", ["https://www.googleapis.com/auth/userinfo.profile"], true),
    ("google", "https://www.googleapis.com/auth/userinfo.email", ["email"], true),
    ("google", "email", ["openid"], false),
    (
      "google", "https://www.googleapis.com/auth/calendar.readonly",
      ["https://www.googleapis.com/auth/calendar"], true
    ),
    (
      "google", "https://www.googleapis.com/auth/calendar",
      ["https://www.googleapis.com/auth/calendar.readonly"], false
    ),
    ("google", "https://www.googleapis.com/auth/gmail.send", ["https://mail.google.com/"], true),
    ("mastodon", "read:accounts", ["read"], true), ("mastodon", "write:media", ["read"], false),
    ("mastodon", "read", ["read:accounts"], false), ("mastodon", "read:mutes", ["follow"], true),
    ("mastodon", "read:statuses", ["follow"], false),
    ("mastodon", "admin:read:accounts", ["admin:read"], true),
    ("mastodon", "admin:read:accounts", ["read"], false),
    ("mastodon", "admin:read:accounts", ["admin:write"], false),
    ("mastodon", "reader", ["read"], false),
    ("github", "user:email", ["user"], true), ("github", "user", ["user:email"], false),
    ("github", "read:org", ["admin:org"], true), ("github", "read:org", ["write:org"], true),
    ("github", "public_repo", ["repo"], true), ("github", "repo", ["public_repo"], false),
    ("github", "write:packages", ["read:packages"], false),
    ("github-app", "contents:read", ["contents:write"], true),
    ("microsoft", "Mail.Read", ["https://graph.microsoft.com/Mail.Read"], true),
    ("microsoft", "Mail.Read", ["Mail.ReadWrite", "User.Read"], true),
    ("microsoft", "Mail.Read", ["https://graph.microsoft.com/Mail.ReadWrite"], true),
    ("microsoft", "Mail.Read", ["https://evil.example/Mail.Read"], false),
    ("microsoft", "Mail.Send", ["Mail.ReadWrite"], false),
    ("microsoft", "offline_access", ["User.Read"], true),
    ("reddit", "submit", ["*"], true), ("reddit", "submit", ["identity"], false),
    ("slack", "chat:write", ["chat:write"], true), ("slack", "chat:write", ["chat"], false),
    ("bluesky", "atproto", ["transition:generic"], true),
    ("bluesky", "transition:generic", ["atproto"], false),
  ]

  @Test(arguments: covered.indices) func `knows which scopes cover a permission`(_ index: Int) {
    let row = Self.covered[index]
    #expect(
      builtIn(row.id).covers(row.permission, by: row.scopes) == row.expected,
      "\(row.id): \(row.permission) by \(row.scopes)")
  }

  @Test(arguments: Provider.builtInIdentifiers)
  func `has aliases only for permissions that it knows`(_ id: String) {
    let provider = builtIn(id)
    for (name, others) in provider.scopeAliases {
      #expect(provider.permission(named: name) != nil, "\(name)")
      #expect(!others.contains(name) && Set(others).count == others.count, "\(name)")
    }
    for scope in provider.alwaysScopes {
      #expect(provider.permission(named: scope) != nil, "\(scope)")
    }
  }

  @Test(arguments: Provider.builtInIdentifiers)
  func `renews as its provider lets it`(_ id: String) {
    let renewal = builtIn(id).renewal
    let methods: [String: RenewalMethod] = [
      "facebook": .exchange, "twitter": .none, "mastodon": .none, "github": .none,
    ]
    #expect(renewal.method == methods[id] ?? .refreshToken)
    let single = ["x", "github-app", "slack", "bluesky"].contains(id)
    #expect(renewal.rotation == (single ? .singleUse : .optional))
    #expect(renewal.sendsRedirect == (id == "reddit"))
  }
}

@Suite struct `A provider with many servers` {
  @Test func `is named with the server`() throws {
    let mastodon = builtIn("mastodon")
    #expect(mastodon.endpoint(.token) == nil)
    #expect(mastodon.apiHosts.isEmpty)
    let social = try mastodon.with(value: "social.example")
    #expect(social.id == "mastodon@social.example")
    #expect(social.endpoint(.token) == "https://social.example/oauth/token")
    #expect(social.apiHosts == ["social.example"])
    #expect(social.mayReceiveToken("https://social.example/api/v1/x"))
    #expect(!social.mayReceiveToken("https://other.example/api/v1/x"))
    #expect(social.openVariable == nil)
    #expect(Provider.parts(of: "mastodon@a@b").value == "a@b")
    #expect(Provider.isType("mastodon@a.example", of: "mastodon"))
    #expect(!Provider.isType("mastodonx", of: "mastodon"))
  }

  @Test(arguments: [
    "", "a b", "a/b", "a:443", "A.example", "a@b", ".a", "a.", "a..b", "ä.example", "a?b", "a#b",
    "[::1]", "a\n", "-a",
  ]) func `takes no other spelling of it`(_ value: String) {
    #expect(throws: DefinitionError.self) { try builtIn("mastodon").with(value: value) }
  }

  @Test func `is no other provider`() {
    #expect(throws: DefinitionError.self) { try builtIn("facebook").with(value: "a.example") }
    #expect(throws: DefinitionError.self) { try builtIn("microsoft").with(value: "contoso") }
  }
}
