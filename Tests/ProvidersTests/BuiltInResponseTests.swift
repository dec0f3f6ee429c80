import Providers
import Testing
import Time

@Suite struct `A token response of a built-in provider` {
  @Test func `of Tencent is a form with an openid`() throws {
    let found = try read(
      "access_token=a&expires_in=604800&refresh_token=r&openid=OID&name=n&nick=%E5%90%8D",
      builtIn("tencentweibo"))
    #expect(
      found
        == ReadResponse(
          accessToken: "a", refreshToken: "r", tokenType: "bearer", expiry: after(604_800),
          refreshExpiry: .unknown, userID: "OID", username: "n", notes: []))
    guard
      case .refused(let refusal) = failure(
        #"callback( {"error":100016,"error_description":"access token check failed"} );"#,
        builtIn("tencentweibo"))
    else {
      Issue.record("the wrapped error was taken")
      return
    }
    #expect(refusal.errorClass == .invalid)
  }

  @Test func `of LinkedIn has scopes with commas, and the refresh token's end`() throws {
    let linkedin = builtIn("linkedin")
    let first = try read(
      #"{"access_token":"A","expires_in":5184000,"refresh_token":"R","refresh_token_expires_in":31536000,"scope":"openid,profile,w_member_social"}"#,
      linkedin)
    #expect(first.expiry == after(5_184_000))
    #expect(first.refreshExpiry == after(31_536_000))
    #expect(first.scopes == ["openid", "profile", "w_member_social"])
    let last = try read(
      #"{"access_token":"B","expires_in":86400,"refresh_token":"R","refresh_token_expires_in":86400}"#,
      linkedin, from: .renewal)
    #expect(last.refreshExpiry == after(86_400))
    #expect(last.expiry == after(86_400))
    let none = try read(#"{"access_token":"A","expires_in":"5184000"}"#, linkedin)
    #expect(none.refreshToken == nil)
    #expect(none.refreshExpiry == .unknown)
    #expect(none.expiry == after(5_184_000))
  }

  @Test func `of Mastodon never ends`() throws {
    let found = try read(
      #"{"access_token":"made-up","token_type":"Bearer","scope":"read write:statuses","created_at":1755000000}"#,
      try builtIn("mastodon").with(value: "social.example"))
    #expect(
      found
        == ReadResponse(
          accessToken: "made-up", tokenType: "bearer", expiry: .never, refreshExpiry: .unknown,
          scopes: ["read", "write:statuses"], notes: []))
  }

  @Test func `of GitHub is the same as JSON and as a form`() throws {
    let github = builtIn("github")
    let json = try read(
      #"{"access_token":"gho_x","scope":"repo,gist","token_type":"bearer"}"#, github)
    let form = try read("access_token=gho_x&scope=repo%2Cgist&token_type=bearer", github)
    #expect(json == form)
    #expect(json.scopes == ["repo", "gist"])
    #expect(json.expiry == .never)
    #expect(
      try read(#"{"access_token":"gho_x","scope":"","token_type":"bearer"}"#, github).scopes == [])
    for body in [
      #"{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired.","error_uri":"https://docs.github.com"}"#,
      "error=bad_verification_code&error_description=The+code+passed+is+incorrect+or+expired.",
    ] {
      guard case .refused(let refusal) = failure(body, github) else {
        Issue.record("\(body) was taken")
        continue
      }
      #expect(refusal.errorClass == .invalid)
    }
  }

  @Test func `of a GitHub App says nothing by its empty scope`() throws {
    let app = builtIn("github-app")
    let found = try read(
      #"{"access_token":"ghu_x","expires_in":28800,"refresh_token":"ghr_y","refresh_token_expires_in":15897600,"scope":"","token_type":"bearer"}"#,
      app)
    #expect(
      found
        == ReadResponse(
          accessToken: "ghu_x", refreshToken: "ghr_y", tokenType: "bearer", expiry: after(28_800),
          refreshExpiry: after(15_897_600), notes: []))
    #expect(try read(#"{"access_token":"ghu_x","token_type":"bearer"}"#, app).expiry == .never)
  }

  @Test func `of Google keeps the present refresh token on a renewal`() throws {
    let google = builtIn("google")
    let first = try read(
      #"{"access_token":"ya29.a","expires_in":3599,"refresh_token":"1//r","scope":"openid https://www.googleapis.com/auth/userinfo.email","token_type":"Bearer","id_token":"e.y.J"}"#,
      google)
    #expect(first.refreshToken == "1//r")
    #expect(first.expiry == after(3599))
    #expect(first.refreshExpiry == .unknown)
    let renewed = try read(
      #"{"access_token":"ya29.b","expires_in":3599,"scope":"openid","token_type":"Bearer"}"#,
      google, from: .renewal)
    #expect(renewed.refreshToken == nil)
    let testing = try read(
      #"{"access_token":"a","expires_in":"3599","refresh_token":"r","refresh_token_expires_in":604799}"#,
      google)
    #expect(testing.refreshExpiry == after(604_799))
  }

  @Test func `of Microsoft leaves offline access out`() throws {
    let microsoft = builtIn("microsoft")
    let found = try read(
      #"{"token_type":"Bearer","scope":"User.Read Mail.Read","expires_in":4711,"ext_expires_in":4711,"access_token":"made-up","refresh_token":"new-one"}"#,
      microsoft)
    #expect(found.expiry == after(4711))
    #expect(found.refreshToken == "new-one")
    let scopes = try #require(found.scopes)
    for name in ["User.Read", "Mail.Read", "offline_access"] {
      #expect(microsoft.covers(name, by: scopes))
    }
    let page = try read(
      #"{"token_type":"Bearer","expires_in":3600,"access_token":"a","refresh_token":"r","refresh_token_expires_in":86400}"#,
      microsoft)
    #expect(page.refreshExpiry == after(86_400))
  }

  @Test func `of Slack is the user's, and the bot's where there is no other`() throws {
    let slack = builtIn("slack")
    let both = try read(
      #"{"ok":true,"access_token":"xoxb-1","token_type":"bot","scope":"chat:write","bot_user_id":"B1","team":{"id":"T1"},"authed_user":{"id":"U1","scope":"search:read,users:read","access_token":"xoxp-2","token_type":"user"}}"#,
      slack)
    #expect(
      both
        == ReadResponse(
          accessToken: "xoxp-2", tokenType: "bearer", expiry: .never, refreshExpiry: .unknown,
          scopes: ["search:read", "users:read"], userID: "U1", notes: []))
    let rotating = try read(
      #"{"ok":true,"team":{"id":"T1"},"authed_user":{"id":"U1","scope":"search:read","access_token":"xoxe.xoxp-2","token_type":"user","expires_in":43200,"refresh_token":"xoxe-2"}}"#,
      slack)
    #expect(rotating.expiry == after(43_200))
    #expect(rotating.refreshToken == "xoxe-2")
    let bot = try read(
      #"{"ok":true,"access_token":"xoxe.xoxb-1","token_type":"bot","scope":"chat:write","bot_user_id":"B1","expires_in":43200,"refresh_token":"xoxe-1","authed_user":{"id":"U1"}}"#,
      slack)
    #expect(bot.accessToken == "xoxe.xoxb-1")
    #expect(bot.refreshToken == "xoxe-1")
    #expect(bot.userID == "B1")
    let renewed = try read(
      #"{"ok":true,"access_token":"xoxe.xoxp-3","token_type":"user","scope":"search:read","user_id":"U1","expires_in":43200,"refresh_token":"xoxe-3"}"#,
      slack, from: .renewal)
    #expect(renewed.userID == "U1")
    #expect(renewed.refreshToken == "xoxe-3")
    guard case .refused(let refusal) = failure(#"{"ok":false,"error":"token_expired"}"#, slack)
    else {
      Issue.record("a refusal was taken")
      return
    }
    #expect(refusal.errorClass == .expired)
  }

  @Test func `of Reddit keeps its refresh token and trusts its lifetime`() throws {
    let reddit = builtIn("reddit")
    let found = try read(
      #"{"access_token":"made-up","token_type":"bearer","expires_in":86400,"refresh_token":"keep-me","scope":"identity read"}"#,
      reddit)
    #expect(found.expiry == after(86_400))
    #expect(found.scopes == ["identity", "read"])
    #expect(
      try read(#"{"access_token":"A","expires_in":3600,"scope":"identity,read"}"#, reddit).scopes
        == ["identity", "read"])
    for body in [#"{"error":"invalid_grant"}"#, #"{"message":"Bad Request","error":400}"#] {
      guard case .refused(let refusal) = failure(body, reddit, from: .renewal) else {
        Issue.record("\(body) was taken")
        continue
      }
      #expect(refusal.errorClass == .invalid)
    }
  }

  @Test func `of Bluesky is bound, tells the person and is for atproto`() throws {
    let bluesky = builtIn("bluesky")
    let found = try read(
      #"{"access_token":"made-up","token_type":"DPoP","expires_in":1800,"refresh_token":"r2","scope":"atproto transition:generic","sub":"did:plc:madeup"}"#,
      bluesky)
    #expect(
      found
        == ReadResponse(
          accessToken: "made-up", refreshToken: "r2", tokenType: "dpop", expiry: after(1800),
          refreshExpiry: .unknown, scopes: ["atproto", "transition:generic"],
          userID: "did:plc:madeup", notes: []))
    #expect(
      failure(#"{"access_token":"A","token_type":"Bearer","scope":"atproto","sub":"d"}"#, bluesky)
        == .unsupportedTokenType("Bearer"))
    #expect(
      failure(#"{"access_token":"A","token_type":"DPoP","scope":"atproto"}"#, bluesky)
        == .missingMember("sub"))
    for scope in [#","scope":"transition:generic""#, #","scope":"""#, ""] {
      #expect(
        failure(#"{"access_token":"A","token_type":"DPoP","sub":"d"\#(scope)}"#, bluesky)
          == .missingScope("atproto"))
    }
  }
}
