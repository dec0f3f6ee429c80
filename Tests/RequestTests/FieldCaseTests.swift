import AccountVault
import Accounts
import Faults
import Foundation
import Ledger
import Listener
import Providers
import Testing
import Time

/// The field cases that a request meets, each under its number.
@Suite struct `A request in the field` {
  static func send(_ stage: Stage, _ session: borrowing Session, permissions: [String] = [])
    async throws -> SignedResponse
  {
    try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", permissions: permissions,
      over: stage.network)
  }

  static let embedded: [(id: String, body: String, expected: ErrorClass, state: CredentialState)] =
    [
      ("slack", #"{"ok":false,"error":"token_expired"}"#, .expired, .expired),
      ("slack", #"{"ok":false,"error":"account_inactive"}"#, .invalid, .rejected),
      ("slack", #"{"ok":false,"error":"some_new_word"}"#, .content, .valid),
      ("tencentweibo", #"{"ret":4,"msg":"m"}"#, .transient, .valid),
    ]

  @Test(arguments: embedded.indices)
  func `B19 a status of success with an error inside is a refusal`(_ index: Int) async throws {
    let (id, body, expected, state) = Self.embedded[index]
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(stage, id, permissions: [id == "slack" ? "chat:write" : "all"])
    stage.on("/api", .json(body))
    let response = try await Self.send(stage, session)
    #expect(response.status == 200 && response.errorClass == expected)
    #expect(response.error != nil && response.body == Array(body.utf8))
    #expect(try session.state(account) == state)
  }

  @Test func `B28 a changed password rejects, also after a restart, and keeps the grants`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["email"], response: #","expires_in":5184000"#)
    stage.on(
      "/api",
      .json(
        #"{"error":{"message":"m","type":"OAuthException","code":190,"error_subcode":460,"fbtrace_id":"x"}}"#,
        status: 400))
    #expect(try await Self.send(stage, session).error?.code == .signIn)
    let other = try stage.place.open()
    let again = await refusal { _ = try other.token(app: "123") }
    #expect(again.code == .signIn)
    _ = try other.addAccount(
      NewAccount(type: "facebook-here", username: "lestat", userID: "7"),
      credential: .response(.text(#"{"access_token":"new","expires_in":5184000}"#)))
    #expect(try other.state(account) == .valid)
    #expect(try other.standing(account, "email") == .granted)
  }

  @Test func `B29 an app that was removed on the site loses its grants, and no other app does`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["publish_actions"], response: #","expires_in":5184000"#)
    _ = try session.addClient(type: "facebook-here", clientID: "own", secret: .text("s"))
    _ = try session.addApp(
      "456", name: "Other", clients: ["facebook-here:own"])
    _ = try session.grant(
      Decision(app: "456", permissions: ["email"], account: account.id.text))
    stage.on(
      "/api",
      .json(
        #"{"error":{"message":"...","type":"OAuthException","code":190,"error_subcode":458}}"#,
        status: 400))
    let response = try await Self.send(stage, session)
    #expect(response.error?.code == .signIn && response.errorClass == .revoked)
    #expect(try session.standing(account, "publish_actions") == .revoked)
    #expect(try session.standing(account, "email", app: "456") == .granted)
    let lost = try #require(try session.entries(.lostOnSite).first)
    #expect(lost.evidence?.code == "190" && lost.evidence?.subcode == "458")
    #expect(lost.evidence?.status == 400 && lost.evidence?.bodyHash != nil)
  }

  @Test(arguments: [10, 200, 299])
  func `B32 a missing permission is read anew and corrected, and nothing is renewed`(_ code: Int)
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["publish_actions", "email"],
      response: #","expires_in":5184000"#)
    stage.on(
      "/api",
      .json(
        #"{"error":{"message":"(#\#(code)) m","type":"OAuthException","code":\#(code)}}"#,
        status: 403))
    stage.on("/permissions", .json(#"{"data":[{"installed":1,"email":1}]}"#))
    let response = try await Self.send(stage, session, permissions: ["publish_actions"])
    #expect(response.error?.code == .revoked && response.errorClass == .permission)
    #expect(stage.requests("/token").isEmpty && stage.requests("/permissions").count == 1)
    #expect(try session.standing(account, "publish_actions") == .revoked)
    #expect(try session.standing(account, "email") == .granted)
    #expect(try session.state(account) == .valid)
  }

  @Test func `B34 a subcode that no table knows is worth one renewal and breaks nothing`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["email"], response: #","expires_in":5184000"#)
    let body =
      #"{"error":{"code":190,"error_subcode":493,"type":"OAuthException","message":"..."}}"#
    stage.on("/api", .json(body, status: 400))
    // Only what is a day old can be exchanged.
    stage.place.clock.advance(2 * 86_400)
    stage.on("/token", .json(body, status: 400))
    let before = try session.entries().count
    #expect(try await Self.send(stage, session).error?.code == .signIn)
    #expect(stage.requests("/token").count == 1)
    #expect(try session.state(account) == .rejected)
    #expect(try session.entries().count > before)
    #expect(try session.standing(account, "email") == .granted)
  }

  @Test func `B35 a fault of our signing is told from a dead token by a control call`()
    async throws
  {
    let dead = #"{"errors":[{"code":89,"message":"Invalid or expired token."}]}"#
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(stage, "twitter", permissions: ["read"])
    stage.on("/api") { request in
      request.target.contains("~") ? .json(dead, status: 401) : .json("{}")
    }
    stage.on("/userinfo", .json(#"{"id_str":"7"}"#))
    var request = SignedRequest(.get, stage.url("/api"))
    request.parameters = [.init("q", "a~b")]
    let ours = try await session.send(request, app: "123", over: stage.network)
    #expect(ours.error?.code == .config && stage.requests("/userinfo").count == 1)
    #expect(try session.state(account) == .valid)
    // The network of the control call proves nothing.
    stage.on("/userinfo", .drop)
    #expect(
      try await session.send(request, app: "123", over: stage.network).error?.code == .tryAgain)
    #expect(try session.state(account) == .valid)
    stage.on("/userinfo", .json(dead, status: 401))
    #expect(
      try await session.send(request, app: "123", over: stage.network).error?.code == .signIn)
    #expect(try session.state(account) == .rejected)
  }

  @Test(arguments: [(401, 32), (400, 215)])
  func `B35 a wrong signature is never the account's fault`(_ status: Int, _ code: Int)
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(stage, "twitter", permissions: ["read"])
    stage.on("/api", .json(#"{"errors":[{"code":\#(code),"message":"m"}]}"#, status: status))
    #expect(try await Self.send(stage, session).error?.code == .config)
    #expect(try session.state(account) == .valid)
  }

  @Test func `B37 a clock that is off is corrected by the server's, and forgotten with it`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(stage, "twitter", permissions: ["read"])
    let real = Int64(Date().timeIntervalSince1970)
    stage.on("/api") { request in
      let time = Int64(request.oauth["oauth_timestamp"] ?? "") ?? 0
      return abs(time - real) < 300
        ? .json("{}")
        : .json(#"{"errors":[{"code":135,"message":"Timestamp out of bounds."}]}"#, status: 401)
    }
    stage.place.clock.advance(-8 * 3600)
    let first = try await Self.send(stage, session)
    #expect(first.error == nil && stage.requests("/api").count == 2)
    let sent = stage.requests("/api").map(\.oauth)
    #expect(sent[0]["oauth_nonce"] != sent[1]["oauth_nonce"])
    #expect(sent[0]["oauth_signature"] != sent[1]["oauth_signature"])
    stage.place.clock.advance(8 * 3600)
    // The old offset is wrong now; the reply says so, and the next try is right.
    #expect(try await Self.send(stage, session).error == nil)
    #expect(stage.requests("/api").count <= 4)
    #expect(try session.state(account) == .valid)
  }

  @Test(
    arguments: [
      (21327, ErrorClass.expired), (21315, .expired), (21332, .invalid), (21321, .config),
      (21316, .revoked), (21319, .revoked), (10006, .config), (10032, .permission),
    ] as [(Int, ErrorClass)])
  func `B38 Weibo's codes mean one thing as number and text, in every status`(
    _ code: Int, _ expected: ErrorClass
  ) async throws {
    for status in [400, 401, 403, 200] {
      for text in ["\(code)", "\"\(code)\""] {
        let stage = try Stage()
        let session = try stage.place.create()
        _ = try session.play(stage, "weibo", permissions: ["email"])
        let body = #"{"request":"/2/x.json","error_code":\#(text),"error":"invalid_grant"}"#
        stage.on("/api", .json(body, status: status))
        stage.on("/introspect", .json(body, status: status))
        let response = try await Self.send(stage, session)
        #expect(response.errorClass == expected, "\(code) \(status)")
      }
    }
  }

  @Test(arguments: [
    #"{"error":"invalid_client"}"#, #"{"error":"unauthorized_client"}"#,
  ]) func `B40 a client that is refused is no account's fault`(_ body: String) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "x", permissions: ["tweet.read"],
      response: #","token_type":"bearer","expires_in":7200,"refresh_token":"r""#)
    stage.on("/api", `A request whose token ended`.ended)
    stage.on(
      "/token",
      .json(body, status: 401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")]))
    let response = try await Self.send(stage, session)
    #expect(response.error?.code == .config)
    #expect(try session.state(account) != .rejected)
    #expect(try session.standing(account, "tweet.read") == .granted)
  }

  @Test(
    arguments: [
      ("120", 120), ("0", 0), ("-1", nil), ("+5", nil), ("1e3", nil), ("0x10", nil),
      ("1.5", nil), ("120s", nil), ("1, 2", nil), ("soon", nil), ("", nil),
    ] as [(String, Int64?)])
  func `B43 Retry-After is believed in its own forms alone`(_ value: String, _ seconds: Int64?)
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "mastodon", permissions: ["read"])
    stage.on(
      "/api", .json("{}", status: 429, headers: value.isEmpty ? [] : [("Retry-After", value)]))
    let response = try await Self.send(stage, session)
    #expect(response.error?.code == .tryAgain && response.errorClass == .throttled)
    let time = seconds.map { (stage.place.clock.now + $0).description }
    #expect(response.error?.message.contains("makes sense at") == (time != nil))
    if let time { #expect(response.error?.message.contains(time) == true) }
    let sent = stage.server.requests.count
    let again = try? await Self.send(stage, session)
    #expect((again == nil) == ((seconds ?? 0) > 0))
    #expect(stage.server.requests.count == sent + ((seconds ?? 0) > 0 ? 0 : 1))
  }

  @Test(
    arguments: [
      ("text/html", "<html><body>Rate Limit Exceeded</body></html>", ErrorClass.transient),
      (
        "application/json",
        #"{"error":{"errors":[{"reason":"userRateLimitExceeded"}],"code":403}}"#,
        .throttled
      ),
    ] as [(String, String, ErrorClass)]) func `B44 a 403 that is a limit rejects nothing`(
      _ type: String, _ body: String, _ expected: ErrorClass
    ) async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "google", permissions: ["email"], response: #","expires_in":3600,"refresh_token":"r""#)
    stage.on(
      "/api", HTTPServer.Response(403, headers: [("Content-Type", type)], body: Array(body.utf8)))
    let response = try await Self.send(stage, session, permissions: ["email"])
    #expect(response.errorClass == expected && response.error?.code == .tryAgain)
    #expect(try session.state(account) == .valid)
    #expect(try session.standing(account, "email") == .granted)
  }

  @Test func `B61 a permission lost on the site is noticed by the call that needs it`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.play(
      stage, "facebook", permissions: ["read_stream"], response: #","expires_in":5184000"#)
    stage.on("/api", .json("{}"))
    #expect(try await Self.send(stage, session, permissions: ["read_stream"]).error == nil)
    stage.place.clock.advance(2 * 86_400)
    stage.on(
      "/api",
      .json(#"{"error":{"message":"m","type":"OAuthException","code":200}}"#, status: 403))
    stage.on("/permissions", .json(#"{"data":[{"permission":"read_stream","status":"declined"}]}"#))
    let refused = try await Self.send(stage, session, permissions: ["read_stream"])
    #expect(refused.error?.code == .revoked)
    #expect(try session.standing(account, "read_stream") == .revoked)
    let lost = try session.entries().last {
      $0.event == .narrowed || $0.event == .lostOnSite
    }
    #expect(lost?.evidence?.code == "200" && lost?.permissions == ["read_stream"])
    let next = await refusal {
      try await Self.send(stage, session, permissions: ["read_stream"])
    }
    #expect(next.code == .revoked)
  }

  @Test func `B65 where two accounts fit nothing is sent, and both are named`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "twitter", permissions: ["read"])
    _ = try session.addPlayed("twitter-here", "louis", id: "8", permissions: ["read"])
    stage.on("/api", .json("{}"))
    let error = await refusal {
      try await Self.send(stage, session, permissions: ["read"])
    }
    #expect(error.code == .ambiguous && error.candidates.count == 2)
    #expect(error.candidates.contains { $0.contains("louis") })
    // Nor is a path without a host, or an app without an account, sent unsigned.
    let path = await refusal {
      try await session.send(
        SignedRequest(.get, "/1.1/account/verify_credentials.json"), app: "123",
        account: "twitter-here:louis", over: stage.network)
    }
    #expect(path.code == .usage)
    #expect(stage.server.requests.isEmpty)
  }

  @Test func `B82 no secret is in what is thrown, answered or kept`() async throws {
    let secrets = ["token-at-first", "rt-canary-1", "client-secret"]
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(
      stage, "x", permissions: ["tweet.read"],
      response: #","token_type":"bearer","expires_in":7200,"refresh_token":"rt-canary-1""#)
    let echo = HTTPServer.Response.json(
      #"{"errors":[{"code":"rt-canary-1","message":"token at is bad"}],"error":"rt-canary-1"}"#,
      status: 400)
    var texts: [String] = []
    for reply in [
      echo, `A request whose token ended`.ended, .json("{}", status: 500), .drop,
      .json("{}", headers: [("Location", "/")]),
    ] {
      stage.on("/api", reply)
      stage.on("/token", echo)
      do {
        let response = try await Self.send(stage, session)
        texts += ["\(response.error as Any)", "\(response.notes)"]
      } catch {
        texts.append("\(error)")
      }
      texts.append("\(stage.network)")
    }
    texts += try session.entries().map { "\($0)" }
    for text in texts {
      for secret in secrets {
        for form in [secret, Data(secret.utf8).base64EncodedString()] {
          #expect(!text.contains(form), "\(text)")
        }
      }
    }
    let file = try Data(contentsOf: URL(filePath: stage.place.path))
    for secret in secrets { #expect(file.range(of: Data(secret.utf8)) == nil) }
  }
}
