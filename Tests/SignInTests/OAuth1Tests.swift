import AccountVault
import Faults
import Foundation
import Listener
import TestSupport
import Testing

@Suite struct `A sign-in by OAuth 1.0a` {
  let place: Place
  let provider: ScriptedProvider

  init() throws {
    place = try Place()
    provider = try ScriptedProvider("twitter")
    provider.on(
      "request_token",
      .form("oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true"))
    provider.on(
      "token", .form("oauth_token=7-at&oauth_token_secret=as&user_id=7&screen_name=made_up"))
    provider.on(
      "userinfo",
      .json(
        #"{"id_str":"7","screen_name":"made_up"}"#, headers: [("x-access-level", "read-write")]))
  }

  private func callback(_ address: String) -> String {
    // The callback was sent in the first step, and is not in the address.
    let header = provider.requests("request_token").last?.header("Authorization") ?? ""
    let value = header.split(separator: "oauth_callback=\"")[1].prefix { $0 != "\"" }
    return String(value).removingPercentEncoding ?? ""
  }

  private func person(_ query: @escaping @Sendable (String) -> [String]) -> Person {
    Person { person, address in
      let back = self.callback(address)
      for query in query(back) { await person.follow(back + query) }
    }
  }

  @Test func `comes back with the verifier for the token that was asked for`() async throws {
    let session = try place.create()
    try session.add(provider)
    let person = person { _ in
      [
        "", "?oauth_token=other&oauth_verifier=v", "?oauth_token=rt", "?denied=other",
        "?oauth_token=rt&oauth_verifier=v1", "?oauth_token=rt&oauth_verifier=v2",
      ]
    }
    let outcome = try await session.signIn(
      SignInRequest(.new(NewAccount(type: "twitter-test"))), over: .test(place.wall),
      at: person.place())
    #expect(outcome.account.username == "made_up")
    #expect(outcome.account.userID == "7")
    #expect(outcome.granted == ["read", "write"])
    #expect(person.statuses.prefix(5) == [400, 400, 400, 400, 303])
    #expect(person.prompts.first?.address == provider.server.url + "/authorize?oauth_token=rt")
    let header = try #require(provider.requests("token").first?.header("Authorization"))
    #expect(header.contains("oauth_verifier=\"v1\""))
    #expect(header.contains("oauth_token=\"rt\""))
    let credential = try #require(try session.credential(of: outcome.account))
    #expect(credential.kind == .oauth1)
    #expect(credential.expiry == .never)
  }

  @Test(
    arguments: [
      ([], nil), (["read"], "read"), (["read", "write"], "write"), (["read", "dm"], nil),
    ] as [([String], String?)])
  func `asks for no more than what is named`(
    _ permissions: [String], _ type: String?
  ) async throws {
    let session = try place.create()
    try session.add(provider)
    var request = SignInRequest(.new(NewAccount(type: "twitter-test")))
    request.permissions = permissions
    request.way = .pin
    let wanted = request
    _ = try await session.signIn(
      wanted, over: .test(place.wall), at: Person().place(pin: "1234567"))
    let first = try #require(provider.requests("request_token").first)
    #expect(first.field("x_auth_access_type") == type)
  }

  @Test func `takes the number that the person typed`() async throws {
    let session = try place.create()
    try session.add(provider)
    var request = SignInRequest(.new(NewAccount(type: "twitter-test")))
    request.way = .pin
    let person = Person()
    _ = try await session.signIn(
      request, over: .test(place.wall), at: person.place(pin: " 1234567 "))
    let first = try #require(provider.requests("request_token").first?.header("Authorization"))
    #expect(first.contains("oauth_callback=\"oob\""))
    let header = try #require(provider.requests("token").first?.header("Authorization"))
    #expect(header.contains("oauth_verifier=\"1234567\""))
    #expect(person.prompts.first?.way == .pin)
  }

  @Test func `asks for no number where nobody can type one`() async throws {
    let session = try place.create()
    try session.add(provider)
    var request = SignInRequest(.new(NewAccount(type: "twitter-test")))
    request.way = .pin
    let wanted = request
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(wanted, over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .locked)
    #expect(provider.server.requests.isEmpty)
  }

  @Test func `ends where the person says no`() async throws {
    let session = try place.create()
    try session.add(provider)
    let before = try place.bytes()
    let person = person { _ in ["?denied=rt"] }
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        SignInRequest(.new(NewAccount(type: "twitter-test"))), over: .test(place.wall),
        at: person.place())
    }
    #expect(error.code == .denied)
    #expect(try place.bytes() == before)
  }

  @Test func `goes no further with a server that does not confirm the callback`() async throws {
    let session = try place.create()
    try session.add(provider)
    for body in [
      "oauth_token=rt&oauth_token_secret=rs",
      "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=false",
      "oauth_callback_confirmed=true", "<html>",
    ] {
      provider.on("request_token", .form(body))
      let error = await refusal { () async throws(VaultError) in
        try await session.signIn(
          SignInRequest(.new(NewAccount(type: "twitter-test"))), over: .test(place.wall),
          at: Person().place())
      }
      #expect(error.code == .config)
    }
    #expect(provider.requests("token").isEmpty)
  }
}
