import Providers
import Testing
import Time

@Suite struct `A token response` {
  @Test func `is the same credential as JSON and as a form`() throws {
    let facebook = builtIn("facebook")
    let form = try read("access_token=EAAxxyy&expires=5183999", facebook)
    let json = try read(
      #"{"access_token":"EAAxxyy","token_type":"bearer","expires_in":5183999}"#, facebook)
    #expect(form == json)
    #expect(form.accessToken == "EAAxxyy")
    #expect(form.expiry == after(5_183_999))
    #expect(form.tokenType == "bearer")
    #expect(
      try read("access_token=AAAB-long&expires=5183999\r\n", facebook).accessToken == "AAAB-long")
  }

  @Test func `of OAuth 1 0a holds a token secret and never ends`() throws {
    let found = try read(
      "oauth_token=7-at&oauth_token_secret=as&user_id=7&screen_name=made_up&x_auth_expires=0",
      builtIn("twitter"))
    #expect(found.accessToken == "7-at")
    #expect(found.tokenSecret == "as")
    #expect(found.expiry == .never)
    #expect(found.userID == "7")
    #expect(found.username == "made_up")
    #expect(found.tokenType == nil)
    #expect(
      try read("oauth_token=1-t&oauth_token_secret=s&user_id=1&screen_name=old", builtIn("twitter"))
        .expiry == .never)
  }

  @Test func `of Weibo has numbers as text`() throws {
    let found = try read(
      #"{"access_token":"2.00x","remind_in":"157679999","expires_in":157679999,"uid":"1000000000","isRealName":"true"}"#,
      builtIn("weibo"))
    #expect(found.expiry == after(157_679_999))
    #expect(found.userID == "1000000000")
    #expect(
      try read(#"{"access_token":"2.00x","remind_in":"798114","uid":12341234}"#, builtIn("weibo"))
        == ReadResponse(
          accessToken: "2.00x", tokenType: "bearer", expiry: after(798_114),
          refreshExpiry: .unknown, userID: "12341234", notes: []))
  }

  @Test func `keeps 64 bit user ids whole`() throws {
    let found = try read(
      #"{"access_token":"A","id":18446744073709551615}"#, builtIn("facebook"))
    #expect(found.userID == "18446744073709551615")
    #expect(
      try read(#"{"access_token":"A","user_id":"9007199254740993"}"#, builtIn("x")).userID
        == "9007199254740993")
    for id in ["1.5", "1e3", "-1", "true", "[1]", #"{"a":1}"#, #""a\nb""#] {
      #expect(
        failure(#"{"access_token":"A","id":\#(id)}"#, builtIn("facebook")) == .badMember("id"))
    }
  }

  @Test func `reads the token type in any case and refuses one that it cannot send`() throws {
    let provider = try custom("")
    for type in ["bearer", "BEARER", "Bearer"] {
      #expect(
        try read(#"{"access_token":"A","token_type":"\#(type)"}"#, provider).tokenType == "bearer")
    }
    #expect(try read(#"{"access_token":"A"}"#, provider).tokenType == "bearer")
    #expect(
      failure(#"{"access_token":"A","token_type":"mac"}"#, provider) == .unsupportedTokenType("mac")
    )
    #expect(
      failure(#"{"access_token":"A","token_type":"DPoP"}"#, provider)
        == .unsupportedTokenType("DPoP"))
    let bound = try custom(#""dpop": "required", "response": {"user_id": "sub"}"#)
    let body =
      #"{"access_token":"made-up","token_type":"DPoP","expires_in":1800,"refresh_token":"r2","scope":"atproto transition:generic","sub":"did:plc:madeup"}"#
    let found = try read(body, bound)
    #expect(found.tokenType == "dpop")
    #expect(found.userID == "did:plc:madeup")
    #expect(found.scopes == ["atproto", "transition:generic"])
    // RFC 9449 section 5: a bearer token means that the binding did not happen.
    #expect(
      failure(#"{"access_token":"A","token_type":"Bearer"}"#, bound)
        == .unsupportedTokenType("Bearer"))
  }

  @Test func `takes a refresh token that is null or empty for none`() throws {
    let provider = try custom("")
    #expect(try read(#"{"access_token":"A"}"#, provider).refreshToken == nil)
    #expect(try read(#"{"access_token":"A","refresh_token":null}"#, provider).refreshToken == nil)
    let empty = try read(#"{"access_token":"A","refresh_token":""}"#, provider)
    #expect(empty.refreshToken == nil)
    #expect(empty.notes == [.refreshTokenEmpty])
    #expect(try read(#"{"access_token":"A","refresh_token":"R"}"#, provider).refreshToken == "R")
  }

  @Test func `keeps the refresh token's own end`() throws {
    let found = try read(
      #"{"access_token":"A","expires_in":5184000,"refresh_token":"R","refresh_token_expires_in":31536000,"scope":"r_liteprofile,w_member_social"}"#,
      custom(""))
    #expect(found.expiry == after(5_184_000))
    #expect(found.refreshExpiry == after(31_536_000))
    #expect(found.scopes == ["r_liteprofile", "w_member_social"])
  }

  @Test func `tells an absent scope from an empty one`() throws {
    let provider = try custom("")
    #expect(try read(#"{"access_token":"A"}"#, provider).scopes == nil)
    #expect(try read(#"{"access_token":"A","scope":null}"#, provider).scopes == nil)
    #expect(try read(#"{"access_token":"A","scope":""}"#, provider).scopes == [])
    #expect(try read(#"{"access_token":"A","scope":"email"}"#, provider).scopes == ["email"])
    #expect(
      try read(#"{"access_token":"A","scope":["a","b","a"]}"#, provider).scopes == ["a", "b"])
    #expect(
      try read("access_token=A&scope=repo%2Cgist&token_type=bearer", provider).scopes
        == ["repo", "gist"])
    #expect(try read("access_token=A&scope=read+write", provider).scopes == ["read", "write"])
  }

  @Test func `is found at the path of the definition, with what stands beside it`() throws {
    let slack = try custom(
      #""response": {"token": "authed_user.access_token", "token_types": ["user", "bot"], "user_id": "id"}, "scope_separator": ",", "error_body": {"ok": "ok"}"#
    )
    let body =
      #"{"ok":true,"access_token":"xoxb-1","token_type":"bot","scope":"chat:write","authed_user":{"id":"U1","scope":"search:read","access_token":"xoxp-2","token_type":"user","expires_in":43200,"refresh_token":"xoxe-1-r"}}"#
    let found = try read(body, slack)
    #expect(found.accessToken == "xoxp-2")
    #expect(found.refreshToken == "xoxe-1-r")
    #expect(found.scopes == ["search:read"])
    #expect(found.expiry == after(43200))
    #expect(found.userID == "U1")
    #expect(found.tokenType == "bearer")
    let top = try custom(
      #""response": {"token": "authed_user.access_token", "token_types": ["user"], "user_id": "$.team.id"}"#
    )
    #expect(
      try read(
        #"{"team":{"id":"T1"},"authed_user":{"access_token":"x"}}"#, top
      ).userID == "T1")
  }

  @Test func `with the token elsewhere shows the members' names and no value`() throws {
    let error = failure(
      #"{"data":{"access_token":"SECRETSECRET1","extra":{"refresh_token":"SECRETSECRET2"}},"EAAB1234567890abcdefghi":1}"#,
      try custom(""))
    #expect(
      error
        == .noToken(
          expected: "access_token",
          members: ["data.access_token", "data.extra.refresh_token", "[hidden]"]))
    #expect(error?.description.contains("SECRET") == false)
  }

  @Test func `of the other protocol is named as such`() throws {
    #expect(
      failure("oauth_token=t&oauth_token_secret=s", builtIn("x"))
        == .wrongProtocol(expected: "OAuth 2.0", found: "OAuth 1.0a"))
    #expect(
      failure(#"{"access_token":"A","token_type":"bearer"}"#, builtIn("twitter"))
        == .wrongProtocol(expected: "OAuth 1.0a", found: "OAuth 2.0"))
    #expect(
      failure("oauth_token=t", builtIn("twitter"))
        == .noToken(expected: "oauth_token_secret", members: ["oauth_token"]))
  }

  @Test(arguments: [#"a\nb"#, #"a\rb"#, #"a\tb"#, #"a b"#, #"a\u007fb"#, #"ä"#, #"a\u001bb"#])
  func `with a token that no header may hold is refused`(_ token: String) throws {
    let provider = try custom("")
    #expect(
      failure(#"{"access_token":"\#(token)"}"#, provider) == .unusableToken("access_token"))
    #expect(
      failure(#"{"access_token":"A","refresh_token":"\#(token)"}"#, provider)
        == .unusableToken("refresh_token"))
  }

  @Test func `with a NUL in it is refused`() throws {
    let provider = try custom("")
    #expect(failure("{\"access_token\":\"a\\u0000b\"}", provider) != nil)
    #expect(failure("{\"access_token\":\"a\0b\"}", provider) != nil)
    for value in ["a%00b", "a%0Ab", "a%0d%0aX-Evil:1", "a\nb", "a+b", "a%2", "a%zz", "a%"] {
      #expect(
        failure("access_token=\(value)", provider) == .unusableToken("access_token"), "\(value)")
    }
    #expect(try read("access_token=a%2Bb%7E", provider).accessToken == "a+b~")
  }

  @Test func `with an empty token or none is refused`() throws {
    let provider = try custom("")
    #expect(failure(#"{"access_token":""}"#, provider) == .emptyToken("access_token"))
    #expect(failure("access_token=&expires=1", provider) == .emptyToken("access_token"))
    #expect(
      failure(#"{"access_token":null}"#, provider)
        == .noToken(expected: "access_token", members: ["access_token"]))
    #expect(failure(#"{"access_token":7}"#, provider) == .badMember("access_token"))
    #expect(failure("", provider) == .empty)
    #expect(failure("  \r\n", provider) == .empty)
    #expect(failure("<html>down</html>", provider) == .notUnderstood)
    #expect(failure("EAABbareToken1234567890", provider) == .notUnderstood)
    #expect(failure("[]", provider) == .noToken(expected: "access_token", members: []))
  }

  @Test func `with a member twice is refused where it is used, and else not`() throws {
    let provider = try custom("")
    #expect(
      failure(#"{"access_token":"A","access_token":"B"}"#, provider)
        == .duplicateMember("access_token"))
    #expect(failure("access_token=A&access_token=B", provider) == .duplicateMember("access_token"))
    #expect(
      failure(#"{"access_token":"A","expires_in":1,"expires_in":2}"#, provider)
        == .duplicateMember("expires_in"))
    #expect(try read(#"{"access_token":"A","x":1,"x":2}"#, provider).accessToken == "A")
  }

  @Test func `that is too long or too deep is refused quickly`() throws {
    let provider = try custom("")
    #expect(
      failure(String(repeating: "[", count: 1 << 20), provider) == .tooLarge(limit: 262_144))
    let deep = String(repeating: "[", count: 100_000)
    guard case .malformed = failure(deep, provider) else {
      Issue.record("deep nesting was not refused as such")
      return
    }
    let padding = String(repeating: "x", count: 262_144)
    #expect(
      failure(#"{"access_token":"A","x":"\#(padding)"}"#, provider) == .tooLarge(limit: 262_144))
  }

  @Test func `with an error inside is a refusal, whatever else it holds`() throws {
    let rows: [(String, ErrorClass)] = [
      (#"{"error":"invalid_grant","access_token":"A"}"#, .invalid),
      (
        #"{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired."}"#,
        .invalid
      ),
      (
        "error=bad_verification_code&error_description=The+code+passed+is+incorrect+or+expired.",
        .invalid
      ),
      (#"{"ok":false,"error":"token_expired"}"#, .expired),
      (#"{"ok":false,"error":"invalid_refresh_token"}"#, .invalid),
      (#"{"ok":false,"error":"account_inactive"}"#, .invalid),
      (#"{"ok":false,"error":"never_heard_of"}"#, .config),
      (#"{"ok":false}"#, .config),
      (#"{"message":"Bad Request","error":400}"#, .config),
      (#"{"error":{"code":1}}"#, .config),
    ]
    let provider = try custom(
      #"""
      "error_body": {"code": "error", "ok": "ok"}, "errors": [
        {"code": ["bad_refresh_token", "bad_verification_code", "invalid_refresh_token",
          "account_inactive"], "class": "invalid"},
        {"code": "token_expired", "class": "expired"}]
      """#)
    for (body, expected) in rows {
      guard case .refused(let refusal) = failure(body, provider) else {
        Issue.record("\(body) was taken")
        continue
      }
      #expect(refusal.errorClass == expected, "\(body)")
    }
    #expect(try read(#"{"ok":true,"error":null,"access_token":"A"}"#, provider).accessToken == "A")
    #expect(try read(#"{"error":"","access_token":"A"}"#, provider).accessToken == "A")
  }

  @Test func `in the wrappers of other providers is read`() throws {
    let tencent = try custom(
      #"""
      "response": {"user_id": "openid", "username": "name"},
      "error_body": {"code": ["ret", "errorCode", "error"], "success_codes": [0]},
      "errors": [{"code": 100014, "class": "expired"}, {"code": 3, "class": "invalid"}]
      """#)
    let found = try read(
      "access_token=a&expires_in=604800&refresh_token=r&openid=OID&name=n&nick=%E5%90%8D", tencent)
    #expect(found.userID == "OID")
    #expect(found.refreshToken == "r")
    let wrapped = #"callback( {"error":100014,"error_description":"access token expired"} );"#
    guard case .refused(let refusal) = failure(wrapped, tencent) else {
      Issue.record("the wrapped error was taken")
      return
    }
    #expect(refusal.errorClass == .expired)
    #expect(
      meaning(tencent, 200, #"{"ret":3,"errcode":7,"msg":"m","data":null}"#)?.errorClass == .invalid
    )
    #expect(meaning(tencent, 200, #"{"ret":0,"msg":"ok"}"#) == nil)
    #expect(
      meaning(tencent, 200, "errorCode=7&errorMsg='made up'", from: .renewal)?.errorClass == .config
    )
  }

  @Test func `of each other provider is read`() throws {
    let plain = try custom("")
    let bodies = [
      #"{"token_type":"Bearer","scope":"User.Read Mail.Read","expires_in":4711,"ext_expires_in":4711,"access_token":"made-up","refresh_token":"new-one"}"#,
      #"{"access_token":"made-up","token_type":"bearer","expires_in":86400,"refresh_token":"keep-me","scope":"identity read"}"#,
      #"{"access_token":"ghu_x","expires_in":28800,"refresh_token":"ghr_y","refresh_token_expires_in":15897600,"scope":"","token_type":"bearer"}"#,
    ]
    for body in bodies {
      let found = try read(body, plain)
      #expect(found.refreshToken != nil)
      #expect(found.expiry != .unknown)
    }
    let mastodon = try custom(#""response": {"missing_expiry": "never"}"#)
    let found = try read(
      #"{"access_token":"made-up","token_type":"Bearer","scope":"read write:statuses","created_at":1755000000}"#,
      mastodon)
    #expect(found.expiry == .never)
    #expect(found.scopes == ["read", "write:statuses"])
  }

  @Test func `keeps the end of data access apart from the token's`() throws {
    let found = try read(
      #"{"access_token":"EAAxx","token_type":"bearer","expires_at":0,"data_access_expiration_time":1803000000}"#,
      builtIn("facebook"))
    #expect(found.expiry == .never)
    #expect(found.dataAccessEnd == Timestamp(seconds: 1_803_000_000))
  }

  @Test func `shows a name as it is and cannot be made to show another`() throws {
    let found = try read(
      "oauth_token=t&oauth_token_secret=s&user_id=1&screen_name=%E2%80%AEevil%0A",
      builtIn("twitter"))
    #expect(found.username == "\\u{202E}evil\\u{A}")
  }
}
