import AccountVault
import Accounts
import HTTPTypes
import Listener
import TestSupport
import Testing

@Suite struct `A look-up of a token` {
  private func account(
    _ session: borrowing Session, _ provider: TestProvider
  ) throws -> Account {
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    return try session.account(provider.type, token: "A1")
  }

  @Test func `of RFC 7662 is sent as the client, and one that is alive stays`() async throws {
    let provider = try TestProvider("x", more: #","introspection":"rfc7662""#) { _, _ in
      .json(#"{"active":true,"client_id":"c1"}"#)
    }
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let found = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(found.standing == .active && found.evidence?.status == 200)
    let request = try #require(provider.server.requests.first)
    #expect(request.path == "/introspect" && request.field("token") == "A1")
    #expect(request.header("Authorization") == "Basic YzE6czE=")
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `of RFC 7662 that came to another client's token says nothing`() async throws {
    let provider = try TestProvider("x", more: #","introspection":"rfc7662""#) { _, _ in
      .json(#"{"active":true,"client_id":"c2"}"#)
    }
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let found = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(found.standing == .notPossible)
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `of GitHub names the token in JSON, and a busy server rejects nothing`() async throws {
    let provider = try TestProvider("github") { _, _ in .text("", status: 503) }
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let found = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(found.standing == .unanswered && found.errorClass == "transient")
    let request = try #require(provider.server.requests.first)
    #expect(request.method == "POST" && request.path == "/applications/c1/token")
    #expect(request.text == #"{"access_token":"A1"}"#)
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `of Facebook is asked by the client's own token`() async throws {
    let provider = try TestProvider("facebook") { _, _ in
      .json(#"{"data":{"app_id":"c1","is_valid":true,"scopes":["email"],"user_id":"100"}}"#)
    }
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let found = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(found.standing == .active && found.scopes == ["email"])
    let request = try #require(provider.server.requests.first)
    #expect(request.queryField("input_token") == "A1")
    #expect(request.queryField("access_token") == "c1|s1")
  }

  @Test func `of Weibo is a form with the token, and a dead one is rejected`() async throws {
    let provider = try TestProvider("weibo") { _, number in
      number == 0
        ? .json(
          #"{"uid":1073880650,"appkey":"c1","scope":"email","create_at":1352267591,"expire_in":157679471}"#
        )
        : .json(
          #"{"error":"token_revoked","error_code":21316,"request":"/oauth2/get_token_info"}"#,
          status: 400)
    }
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let found = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(found.standing == .active && found.scopes == ["email"])
    let request = try #require(provider.server.requests.first)
    #expect(request.method == "POST" && request.path == "/introspect")
    #expect(request.field("access_token") == "A1")
    let gone = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(gone.standing == .refused && gone.errorClass == "revoked")
    #expect(try session.state(of: account) == .rejected)
  }

  @Test func `of Google is asked with the token, and a dead one is no longer used`() async throws {
    let provider = try TestProvider("google") { _, number in
      number == 0
        ? .json(#"{"aud":"c1","scope":"openid","expires_in":"3599"}"#)
        : .json(#"{"error":"invalid_token","error_description":"Invalid Value"}"#, status: 400)
    }
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let found = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(found.standing == .active && found.scopes == ["openid"])
    #expect(provider.server.requests.first?.queryField("access_token") == "A1")
    let gone = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(gone.standing == .refused && gone.errorClass == "expired")
  }
}

@Suite struct `What was granted` {
  private func granted(
    _ base: String, _ answer: @escaping @Sendable (HTTPServer.Request, Int) -> HTTPServer.Response
  ) async throws -> [String]? {
    let provider = try TestProvider(base, answer)
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    let account = try session.account(provider.type, token: "A1")
    let (access, _) = try session.access(to: account, clientID: "c1", over: place.network())
    return try await place.network().granted(
      to: access, try session.provider(provider.type))?.granted.sorted()
  }

  @Test func `is read from a header of GitHub`() async throws {
    let names = try await granted("github") { request, _ in
      request.header("Authorization") == "Bearer A1"
        ? HTTPServer.Response(
          200, headers: [("X-OAuth-Scopes", "repo, gist")], body: Array(#"{"id":1}"#.utf8))
        : .text("", status: 401)
    }
    #expect(names == ["gist", "repo"])
  }

  @Test func `is read from the installations of an app of GitHub`() async throws {
    let names = try await granted("github-app") { request, _ in
      request.path == "/permissions" && request.header("Authorization") == "Bearer A1"
        ? .json(
          #"{"total_count":1,"installations":[{"id":1,"permissions":{"contents":"write","metadata":"read"}}]}"#
        ) : .text("", status: 404)
    }
    #expect(names?.contains("contents:write") == true && names?.contains("metadata:read") == true)
  }

  @Test func `is read from what Weibo tells of the token`() async throws {
    let names = try await granted("weibo") { request, _ in
      request.path == "/introspect" && request.field("access_token") == "A1"
        ? .json(#"{"uid":1,"appkey":"c1","scope":"email,all","expire_in":100}"#)
        : .text("", status: 404)
    }
    #expect(names == ["all", "email"])
  }

  @Test func `is nothing that a provider has a way to ask, where it has none`() async throws {
    let names = try await granted("google") { _, _ in .text("", status: 500) }
    #expect(names == nil)
  }
}
