import Providers
import Sodium
import Testing
import Time

@Suite struct `What was granted` {
  private func permissions(_ body: String) -> Granted? {
    let bytes = Array(body.utf8)
    return builtIn("facebook").granted(inPermissions: bytes.span.bytes)
  }

  private func installations(_ body: String) -> (granted: Granted, total: Int, count: Int)? {
    let bytes = Array(body.utf8)
    return builtIn("github-app").granted(inInstallations: bytes.span.bytes)
  }

  @Test func `is one object of ones in Facebook's form of 2012, where installed is none`() {
    #expect(
      permissions(#"{"data":[{"installed":1,"email":1,"user_birthday":1,"read_stream":0}]}"#)
        == Granted(granted: ["email", "user_birthday"], declined: ["read_stream"]))
  }

  @Test func `is a list with a status today`() {
    #expect(
      permissions(
        #"{"data":[{"permission":"email","status":"granted"},{"permission":"user_photos","status":"declined"},{"permission":"read_stream","status":"expired"}],"paging":{}}"#
      ) == Granted(granted: ["email"], declined: ["user_photos", "read_stream"]))
    #expect(permissions(#"{"data":[]}"#) == Granted(granted: []))
  }

  @Test(arguments: [
    "", "true", "<html></html>", "{}", #"{"data":{}}"#, #"{"data":["email"]}"#,
    #"{"data":[{"permission":"email"}]}"#, #"{"data":[{"permission":7,"status":"granted"}]}"#,
    "email=1",
  ])
  func `is unknown, not nothing, in a body of another form`(body: String) {
    #expect(permissions(body) == nil)
    #expect(installations(body) == nil)
  }

  @Test func `comes in a header, empty for a token without any`() {
    let github = builtIn("github")
    #expect(
      github.granted(inHeaders: [("x-oauth-scopes", "repo, read:user")])
        == Granted(granted: ["repo", "read:user"]))
    #expect(github.granted(inHeaders: [("X-OAuth-Scopes", "")]) == Granted(granted: []))
    #expect(github.granted(inHeaders: [("X-Accepted-OAuth-Scopes", "repo")]) == nil)
    #expect(
      builtIn("slack").granted(inHeaders: [("X-OAuth-Scopes", "chat:write,users:read")])
        == Granted(granted: ["chat:write", "users:read"]))
  }

  @Test(arguments: [
    ("read", ["read"]), ("read-write", ["read", "write"]),
    ("read-write-directmessages", ["read", "write", "dm"]), ("all", nil),
  ])
  func `is a level with Twitter, and a level that is not known says nothing`(
    level: String, names: [String]?
  ) {
    #expect(
      builtIn("twitter").granted(inHeaders: [("X-Access-Level", level)])
        == names.map { Granted(granted: $0) })
  }

  @Test
  func `is of all of an app's installations, write holding read, one suspended holding nothing`() {
    let found = installations(
      #"""
      {"total_count":3,"installations":[
        {"id":1,"suspended_at":null,"permissions":{"contents":"write","metadata":"read"}},
        {"id":2,"permissions":{"issues":"read","contents":"read","administration":"admin"}},
        {"id":3,"suspended_at":"2026-01-01T00:00:00Z","permissions":{"checks":"write"}}]}
      """#)
    #expect(
      found?.granted
        == Granted(granted: [
          "contents:read", "contents:write", "metadata:read", "issues:read",
          "administration:read", "administration:write", "administration:admin",
        ]))
    #expect(found?.total == 3 && found?.count == 3)
    let none = installations(#"{"total_count":0,"installations":[]}"#)
    #expect(none?.granted == Granted(granted: []) && none?.total == 0)
  }

  @Test func `names no permission that cannot be one`() {
    #expect(
      permissions(
        #"{"data":[{"permission":"e mail","status":"granted"},{"permission":"a\"b","status":"granted"},{"permission":"email","status":"granted"}]}"#
      )
        == Granted(granted: ["email"]))
  }
}

@Suite struct `The identity in a userinfo reply` {
  private func identity(_ type: String, _ body: String) -> [String?] {
    let bytes = Array(body.utf8)
    let found = builtIn(type).identity(in: bytes.span.bytes)
    return [found.userID, found.username]
  }

  @Test(
    arguments: [
      ("facebook", #"{"id":"100","name":"Lestat"}"#, ["100", "Lestat"]),
      (
        "x", #"{"data":{"id":"2244994945","name":"n","username":"lestat"}}"#,
        ["2244994945", "lestat"]
      ),
      ("twitter", #"{"id":7,"id_str":"7","screen_name":"made_up"}"#, ["7", "made_up"]),
      ("weibo", #"{"uid":1073880650}"#, ["1073880650", nil]),
      ("github", #"{"login":"octocat","id":583231}"#, ["583231", "octocat"]),
      ("slack", #"{"ok":true,"user":"bob","user_id":"U1","team":"T"}"#, ["U1", "bob"]),
      (
        "google", #"{"sub":"110169484474386276334","email":"a@example.com"}"#,
        ["110169484474386276334", "a@example.com"]
      ),
      ("mastodon", #"{"id":"14715","username":"lestat","acct":"lestat"}"#, ["14715", "lestat"]),
      ("reddit", #"{"name":"lestat","id":"abc"}"#, ["abc", "lestat"]),
      (
        "microsoft", #"{"id":"48d3-a","userPrincipalName":"l@example.com"}"#,
        ["48d3-a", "l@example.com"]
      ),
      ("linkedin", #"{"sub":"782bbtaQ","name":"Lestat"}"#, ["782bbtaQ", "Lestat"]),
      (
        "bluesky", #"{"did":"did:plc:madeup","handle":"lestat.example"}"#,
        ["did:plc:madeup", "lestat.example"]
      ),
      ("tencentweibo", #"{"ret":0,"data":{"openid":"ABC","name":"lestat"}}"#, ["ABC", "lestat"]),
    ] as [(String, String, [String?])])
  func `is where the definition says`(type: String, body: String, expected: [String?]) {
    #expect(identity(type, body) == expected)
  }

  @Test(arguments: [
    #"{"id":1.5}"#, #"{"id":true}"#, #"{"id":""}"#, #"{"id":-1}"#, #"{"id":"a\nb"}"#, #"{"id":{}}"#,
    "", "<html>",
  ])
  func `is none where the id is no id`(body: String) {
    #expect(identity("github", body)[0] == nil)
  }
}

@Suite struct `A token that was looked up` {
  private func report(_ type: String, _ body: String) -> TokenReport? {
    let bytes = Array(body.utf8)
    return builtIn(type).tokenReport(bytes.span.bytes, at: now)
  }

  @Test func `is told by every style`() {
    var facebook = TokenReport()
    facebook.clientID = "2000"
    facebook.userID = "100"
    facebook.scopes = ["email"]
    facebook.expiry = .never
    #expect(
      report(
        "facebook",
        #"{"data":{"app_id":"2000","is_valid":true,"expires_at":0,"scopes":["email"],"user_id":"100"}}"#
      ) == facebook)
    var weibo = TokenReport()
    weibo.clientID = "1352222456"
    weibo.userID = "1073880650"
    weibo.expiry = .at(Timestamp(seconds: now.seconds + 157_679_471))
    #expect(
      report(
        "weibo",
        #"{"uid":1073880650,"appkey":1352222456,"scope":null,"create_at":1352267591,"expire_in":157679471}"#
      ) == weibo)
    #expect(
      report(
        "weibo", #"{"uid":1,"appkey":2,"scope":"email,all","expires_in":"60"}"#)?.scopes
        == ["email", "all"])
    let linkedIn = report(
      "linkedin",
      #"{"active":true,"status":"active","scope":"openid,profile","client_id":"c","expires_at":1800000000}"#
    )
    #expect(linkedIn?.scopes == ["openid", "profile"] && linkedIn?.clientID == "c")
    #expect(linkedIn?.expiry == .at(Timestamp(seconds: 1_800_000_000)))
    let google = report("google", #"{"aud":"c","scope":"openid email","expires_in":"3599"}"#)
    #expect(google?.scopes == ["openid", "email"] && google?.clientID == "c")
    let github = report(
      "github",
      #"{"id":1,"app":{"client_id":"Iv1"},"scopes":["repo"],"user":{"id":5,"login":"o"},"expires_at":null}"#
    )
    #expect(github?.scopes == ["repo"] && github?.userID == "5" && github?.clientID == "Iv1")
  }

  @Test(arguments: ["facebook", "weibo", "linkedin", "google", "github"])
  func `is neither alive nor dead by a body that says nothing`(type: String) {
    for body in ["", "{}", "<html>", "ok", "[]", #"{"data":[]}"#] {
      #expect(report(type, body) == nil)
    }
  }

  @Test func `of GitHub is dead where the client has none like it`() {
    #expect(
      meaning(builtIn("github"), 404, #"{"message":"Not Found"}"#, from: .introspect)?.errorClass
        == .invalid)
    #expect(
      meaning(builtIn("github-app"), 404, #"{"message":"Not Found"}"#, from: .introspect)?
        .errorClass == .expired)
    #expect(
      meaning(builtIn("github"), 401, #"{"message":"Bad credentials"}"#, from: .introspect)?
        .errorClass == .config)
  }
}
