import AccountVault
import Accounts
import Faults
import Foundation
import Listener
import Providers
import TestSupport
import Testing
import Time

/// What a built-in provider is sent and answers, from the page to the account.
struct ProviderRow: Sendable, CustomTestStringConvertible {
  let base: String
  var permissions: [String] = []
  var client = "client-1"
  var secret: String? = "client-secret"
  var definition = ""
  var without: [String] = []

  /// The answer to the code, or to the verifier.
  let token: HTTPServer.Response
  /// The other addresses' answers, by name.
  var answers: [String: HTTPServer.Response] = [:]
  /// The same answer where the code is dead.
  let refused: HTTPServer.Response

  /// What the page gets beside the client and the state; nil for what must not be there.
  var page: [String: String?] = [:]
  /// How the client shows itself at the token endpoint; nil for its id and secret in the body.
  var authorization: String?
  var sendsVerifier = true

  let userID: String
  let username: String
  var granted: [String]?
  var declined: [String] = []
  let accessToken: String
  var expiry = Expiry.never
  var hasRefreshToken = false
  var refreshEnd: Int64?

  var testDescription: String { base }
}

private func after(_ seconds: Int64) -> Expiry { .at(Timestamp(seconds: 1_800_000_000 + seconds)) }

private let rows: [ProviderRow] = [
  ProviderRow(
    base: "facebook", permissions: ["email", "user_likes"],
    token: .json(#"{"access_token":"EAAB","token_type":"bearer","expires_in":5183944}"#),
    answers: [
      "userinfo": .json(#"{"id":"100","name":"Lestat"}"#),
      "permissions": .json(
        #"{"data":[{"permission":"email","status":"granted"},{"permission":"user_likes","status":"declined"}]}"#
      ),
    ],
    refused: .json(
      #"{"error":{"message":"m","type":"OAuthException","code":100,"error_subcode":36009}}"#,
      status: 400),
    page: ["scope": "email,user_likes", "code_challenge": nil], sendsVerifier: false,
    userID: "100", username: "Lestat", granted: ["email"], declined: ["user_likes"],
    accessToken: "EAAB", expiry: after(5_183_944)),
  ProviderRow(
    base: "twitter",
    token: .form("oauth_token=7-at&oauth_token_secret=as&user_id=7&screen_name=made_up"),
    answers: [
      "request_token": .form(
        "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true"),
      "userinfo": .json(
        #"{"id_str":"7","screen_name":"made_up"}"#, headers: [("x-access-level", "read-write")]),
    ],
    refused: .json(
      #"{"errors":[{"code":89,"message":"Invalid or expired token."}]}"#, status: 401),
    page: ["oauth_token": "rt", "scope": nil], sendsVerifier: false, userID: "7",
    username: "made_up", granted: ["read", "write"], accessToken: "7-at"),
  ProviderRow(
    base: "x", permissions: ["tweet.read", "users.read"],
    token: .json(
      #"{"token_type":"bearer","expires_in":7200,"access_token":"at","scope":"tweet.read users.read offline.access","refresh_token":"rt"}"#
    ),
    answers: ["userinfo": .json(#"{"data":{"id":"9","name":"L","username":"lestat"}}"#)],
    refused: .json(
      #"{"error":"invalid_request","error_description":"Value passed for the token was invalid."}"#,
      status: 400),
    page: ["scope": "offline.access tweet.read users.read", "code_challenge_method": "S256"],
    authorization: "client-1:client-secret", userID: "9", username: "lestat",
    granted: ["tweet.read", "users.read", "offline.access"], accessToken: "at",
    expiry: after(7200), hasRefreshToken: true),
  // Numbers come as text and text as numbers, and a token endpoint says nothing of scopes.
  ProviderRow(
    base: "weibo", permissions: ["email", "statuses_to_me_read"], client: "1352222456",
    token: .json(
      #"{"access_token":"2.00","remind_in":"798114","expires_in":798114,"uid":"1073880650"}"#),
    answers: [
      "userinfo": .json(#"{"uid":1073880650}"#),
      "introspect": .json(
        #"{"uid":1073880650,"appkey":1352222456,"scope":"email","create_at":1352267591,"expire_in":157679471}"#
      ),
    ],
    refused: .json(
      #"{"error":"invalid_grant","error_code":21325,"request":"/oauth2/access_token","error_uri":"/oauth2/access_token","error_description":"invalid authorization code:x"}"#,
      status: 400),
    page: ["scope": "email,statuses_to_me_read", "code_challenge": nil], sendsVerifier: false,
    userID: "1073880650", username: "1073880650", granted: ["email"],
    declined: ["statuses_to_me_read"], accessToken: "2.00", expiry: after(798_114)),
  ProviderRow(
    base: "weibo", permissions: ["email", "statuses_to_me_read"], client: "1352222456",
    token: .json(#"{"access_token":"2.00","remind_in":"798114","uid":1073880650}"#),
    answers: [
      "userinfo": .json(#"{"uid":1073880650}"#),
      // As before, where no scope is told: as asked.
      "introspect": .json(
        #"{"uid":1073880650,"appkey":1352222456,"scope":null,"create_at":1352267591,"expire_in":157679471}"#
      ),
    ],
    refused: .json(
      #"{"request":"/oauth2/access_token","error_code":"21325","error":"invalid_grant"}"#,
      status: 400),
    page: ["scope": "email,statuses_to_me_read"], sendsVerifier: false, userID: "1073880650",
    username: "1073880650", granted: ["email", "statuses_to_me_read"], accessToken: "2.00",
    expiry: after(798_114)),
  ProviderRow(
    base: "tencentweibo",
    token: .form(
      "access_token=a%2Bt&expires_in=8035200&refresh_token=rt&openid=0A1B&name=made_up&nick=Made+Up"
    ),
    // An error comes in the same form, with success's status.
    refused: .form("errorCode=100015&errorMsg='made up'"),
    page: ["scope": "get_user_info", "code_challenge": nil], sendsVerifier: false,
    userID: "0A1B", username: "made_up", granted: ["get_user_info"], accessToken: "a+t",
    expiry: after(8_035_200), hasRefreshToken: true),
  ProviderRow(
    base: "linkedin", permissions: ["email", "w_member_social"],
    token: .json(
      #"{"access_token":"AQX","expires_in":5184000,"refresh_token":"AQY","refresh_token_expires_in":31536000,"scope":"email,openid,profile,w_member_social"}"#
    ),
    answers: ["userinfo": .json(#"{"sub":"782bbtaQ","name":"M","email":"m@example.com"}"#)],
    refused: .json(
      #"{"error":"invalid_request","error_description":"Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists"}"#,
      status: 400),
    page: ["scope": "email w_member_social openid profile", "code_challenge": nil],
    sendsVerifier: false, userID: "782bbtaQ", username: "m@example.com",
    granted: ["email", "openid", "profile", "w_member_social"], accessToken: "AQX",
    expiry: after(5_184_000), hasRefreshToken: true, refreshEnd: 31_536_000),
  ProviderRow(
    base: "mastodon", permissions: ["write:statuses"],
    definition: #","variables":{"server":"127.0.0.1"}"#,
    token: .json(
      #"{"access_token":"ZA","token_type":"Bearer","scope":"write:statuses read:accounts","created_at":1573979017}"#
    ),
    answers: ["userinfo": .json(#"{"id":"14715","username":"trwnh","acct":"trwnh"}"#)],
    refused: .json(#"{"error":"invalid_grant","error_description":"made up"}"#, status: 400),
    page: ["scope": "write:statuses read:accounts", "code_challenge_method": "S256"],
    userID: "14715", username: "trwnh", granted: ["write:statuses", "read:accounts"],
    accessToken: "ZA"),
  ProviderRow(
    base: "github", permissions: ["read:user", "user:email"],
    token: .json(#"{"access_token":"gho_x","token_type":"bearer","scope":"read:user,user:email"}"#),
    answers: [
      "userinfo": .json(
        #"{"id":583231,"login":"octocat"}"#, headers: [("X-OAuth-Scopes", "read:user, user:email")])
    ],
    refused: .json(#"{"error":"bad_verification_code","error_description":"made up"}"#),
    page: ["scope": "read:user user:email", "code_challenge_method": "S256"], userID: "583231",
    username: "octocat", granted: ["read:user", "user:email"], accessToken: "gho_x"),
  ProviderRow(
    base: "github-app",
    token: .json(
      #"{"access_token":"ghu_x","expires_in":28800,"refresh_token":"ghr_y","refresh_token_expires_in":15897600,"scope":"","token_type":"bearer"}"#
    ),
    answers: [
      "userinfo": .json(#"{"id":583231,"login":"octocat"}"#),
      "permissions": .json(
        #"{"total_count":1,"installations":[{"id":1,"permissions":{"metadata":"read"}}]}"#),
    ],
    refused: .form("error=bad_verification_code&error_description=The+code+passed+is+incorrect"),
    page: ["scope": nil, "code_challenge_method": "S256"], userID: "583231",
    username: "octocat", granted: ["metadata:read"], accessToken: "ghu_x", expiry: after(28_800),
    hasRefreshToken: true, refreshEnd: 15_897_600),
  // A scope that comes back under its other name was not declined, and one that was unticked was.
  ProviderRow(
    base: "google", permissions: ["email", "https://www.googleapis.com/auth/drive.readonly"],
    token: .json(
      #"{"access_token":"ya29","expires_in":3599,"refresh_token":"1//0","scope":"openid https://www.googleapis.com/auth/userinfo.email","token_type":"Bearer"}"#
    ),
    answers: ["userinfo": .json(#"{"sub":"110","email":"m@example.com"}"#)],
    refused: .json(
      #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#,
      status: 400),
    page: [
      "scope": "email https://www.googleapis.com/auth/drive.readonly openid",
      "access_type": "offline", "prompt": "consent", "include_granted_scopes": "true",
      "code_challenge_method": "S256",
    ],
    userID: "110", username: "m@example.com",
    granted: ["openid", "https://www.googleapis.com/auth/userinfo.email"],
    declined: ["https://www.googleapis.com/auth/drive.readonly"], accessToken: "ya29",
    expiry: after(3599), hasRefreshToken: true),
  ProviderRow(
    base: "microsoft", permissions: ["Mail.Read"],
    token: .json(
      #"{"token_type":"Bearer","scope":"User.Read Mail.Read","expires_in":4711,"ext_expires_in":4711,"access_token":"made-up","refresh_token":"new-one"}"#
    ),
    answers: ["userinfo": .json(#"{"id":"u-1","userPrincipalName":"m@example.com"}"#)],
    refused: .json(
      #"{"error":"invalid_grant","error_description":"AADSTS54005: made up","error_codes":[54005]}"#,
      status: 400),
    page: ["scope": "offline_access Mail.Read User.Read", "code_challenge_method": "S256"],
    userID: "u-1", username: "m@example.com", granted: ["User.Read", "Mail.Read"],
    accessToken: "made-up", expiry: after(4711), hasRefreshToken: true),
  // The person's token, never the bot's beside it.
  ProviderRow(
    base: "slack", permissions: ["users:read", "chat:write"],
    token: .json(
      #"{"ok":true,"access_token":"xoxb-bot","token_type":"bot","scope":"commands","bot_user_id":"U0BOT","team":{"id":"T1","name":"made up"},"authed_user":{"id":"U1","scope":"chat:write","access_token":"xoxp-user","token_type":"user"}}"#
    ),
    answers: [
      "userinfo": .json(
        #"{"ok":true,"url":"https://made-up.slack.com/","team":"made up","user":"m","team_id":"T1","user_id":"U1"}"#,
        headers: [("x-oauth-scopes", "chat:write")])
    ],
    refused: .json(#"{"ok":false,"error":"code_already_used"}"#),
    page: [
      "user_scope": "users:read,chat:write", "scope": nil, "code_challenge_method": "S256",
    ],
    authorization: "client-1:client-secret", userID: "U1", username: "m", granted: ["chat:write"],
    declined: ["users:read"], accessToken: "xoxp-user"),
  // An installed app has no secret, and says so with an empty one.
  ProviderRow(
    base: "reddit", permissions: ["identity", "read"], secret: nil,
    token: .json(
      #"{"access_token":"made-up","token_type":"bearer","expires_in":86400,"refresh_token":"keep-me","scope":"identity read"}"#
    ),
    answers: ["userinfo": .json(#"{"id":"2f","name":"made_up"}"#)],
    refused: .json(#"{"error":"invalid_grant"}"#),
    page: ["scope": "identity read", "duration": "permanent", "code_challenge": nil],
    authorization: "client-1:", sendsVerifier: false, userID: "2f", username: "made_up",
    granted: ["identity", "read"], accessToken: "made-up", expiry: after(86_400),
    hasRefreshToken: true),
  ProviderRow(
    base: "bluesky", permissions: ["transition:generic"], client: "http://localhost", secret: nil,
    definition: #","issuer":null,"sends_issuer":false"#, without: ["par"],
    token: .json(
      #"{"access_token":"at","token_type":"DPoP","expires_in":1800,"refresh_token":"r2","scope":"atproto transition:generic","sub":"did:plc:madeup"}"#
    ),
    answers: ["userinfo": .json(#"{"did":"did:plc:madeup","handle":"lestat.example"}"#)],
    refused: .json(#"{"error":"invalid_grant"}"#, status: 400),
    page: ["scope": "atproto transition:generic", "code_challenge_method": "S256"],
    userID: "did:plc:madeup", username: "lestat.example",
    granted: ["atproto", "transition:generic"], accessToken: "at", expiry: after(1800),
    hasRefreshToken: true),
]

@Suite struct `A sign-in at each built-in provider` {
  @Test func `is in the table`() {
    #expect(Set(rows.map(\.base)) == Set(Provider.builtInIdentifiers))
  }

  /// The provider of a row, its page with the person who says yes.
  private func provider(_ row: ProviderRow) throws -> ScriptedProvider {
    let provider = try ScriptedProvider(row.base)
    for (name, answer) in row.answers { provider.on(name, answer) }
    if row.base == "twitter" {
      // The callback was told in the first step.
      provider.on("authorize") { [unowned provider] _, _ in
        let header = provider.requests("request_token").last?.header("Authorization") ?? ""
        let back = header.components(separatedBy: "oauth_callback=\"").last?.prefix { $0 != "\"" }
        return .redirect(
          (String(back ?? "").removingPercentEncoding ?? "") + "?oauth_token=rt&oauth_verifier=v")
      }
    } else {
      provider.consents()
    }
    return provider
  }

  private func request(_ row: ProviderRow, _ provider: ScriptedProvider) -> SignInRequest {
    var request = SignInRequest(.new(NewAccount(type: provider.id)))
    request.permissions = row.permissions
    return request
  }

  @Test(arguments: rows)
  func `asks in its words, and keeps all that it says`(_ row: ProviderRow) async throws {
    let place = try Place()
    let provider = try provider(row)
    provider.on("token", row.token)
    let session = try place.create()
    try session.add(
      provider, without: row.without, row.definition, client: row.client, secret: row.secret)
    let outcome = try await session.signIn(
      request(row, provider), over: .test(place.wall), at: Person().place())
    let page = try #require(provider.requests("authorize").first)
    for (name, value) in row.page {
      #expect(page.queryField(name) == value, "\(name)")
    }
    let exchange = try #require(provider.requests("token").first)
    #expect((exchange.field("code_verifier") != nil) == row.sendsVerifier)
    if row.base != "twitter" {
      #expect(page.queryField("client_id") == row.client)
      #expect(exchange.field("code") == "code-1")
      if let pair = row.authorization {
        let value = Data(pair.utf8).base64EncodedString()
        #expect(exchange.header("Authorization") == "Basic " + value)
        #expect(exchange.field("client_secret") == nil)
      } else {
        #expect(exchange.header("Authorization") == nil)
        #expect(exchange.field("client_id") == row.client)
        #expect(exchange.field("client_secret") == row.secret)
      }
    }
    #expect(outcome.isNew)
    #expect(outcome.account.userID == row.userID)
    #expect(outcome.account.username == row.username)
    #expect(outcome.granted == row.granted)
    #expect(outcome.declined == row.declined)
    #expect(outcome.notes == [])
    let (access, credential) = try session.access(
      to: outcome.account, clientID: row.client, over: .test(place.wall))
    #expect(access.accessToken.shown == row.accessToken)
    #expect(credential.expiry == row.expiry)
    #expect(credential.hasRefreshToken == row.hasRefreshToken)
    let end = row.refreshEnd.map { Timestamp(seconds: 1_800_000_000 + $0) }
    #expect(credential.refreshExpiresAt == end)
  }

  @Test(arguments: rows)
  func `with a code that is dead there adds nobody`(_ row: ProviderRow) async throws {
    let place = try Place()
    let provider = try provider(row)
    provider.on("token", row.refused)
    let session = try place.create()
    try session.add(
      provider, without: row.without, row.definition, client: row.client, secret: row.secret)
    let before = try place.bytes()
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        request(row, provider), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .signIn, "\(error)")
    #expect(provider.requests("token").count == 1)
    #expect(try place.bytes() == before)
  }
}
