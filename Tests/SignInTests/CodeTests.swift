import AccountVault
import Faults
import Foundation
import HTTPTypes
import Listener
import Synchronization
import TestSupport
import Testing

/// X's reply to a code.
private let xToken =
  #"{"token_type":"bearer","expires_in":7200,"access_token":"at-1","scope":"tweet.read users.read offline.access","refresh_token":"rt-1"}"#

@Suite struct `A sign-in with a code` {
  let place: Place
  let provider: ScriptedProvider

  init() throws {
    place = try Place()
    provider = try ScriptedProvider("x")
    provider.consents()
    provider.on("token", .json(xToken))
    provider.on("userinfo", .json(#"{"data":{"id":"9","name":"L","username":"lestat"}}"#))
  }

  func request(_ permissions: String...) -> SignInRequest {
    var request = SignInRequest(.new(NewAccount(type: "x-test")))
    request.permissions = permissions
    return request
  }

  @Test func `adds the account that the provider names, with all that was given`() async throws {
    let session = try place.create()
    try session.add(provider)
    let person = Person()
    let outcome = try await session.signIn(
      request("tweet.read", "users.read"), over: .test(place.wall), at: person.place())
    #expect(outcome.isNew)
    #expect(outcome.account.username == "lestat")
    #expect(outcome.account.userID == "9")
    #expect(outcome.declined == [])
    let credential = try #require(try session.credential(of: outcome.account))
    #expect(credential.generation == 1)
    #expect(credential.source == .signIn)
    #expect(credential.hasRefreshToken)
    #expect(credential.scopes == ["tweet.read", "users.read", "offline.access"])
    #expect(credential.askedScopes == ["offline.access", "tweet.read", "users.read"])
    #expect(credential.expiry == .at(Timestamp(seconds: 1_800_007_200)))
    // The page was opened once, with S256 and the client, and the browser came back.
    let page = try #require(provider.requests("authorize").first)
    #expect(page.queryField("response_type") == "code")
    #expect(page.queryField("client_id") == "client-1")
    #expect(page.queryField("code_challenge_method") == "S256")
    #expect(page.queryField("scope") == "offline.access tweet.read users.read")
    #expect(page.queryField("state")?.utf8.count == 43)
    #expect(Array(person.statuses.prefix(2)) == [302, 303])
    // The code was exchanged once, with the verifier of that challenge and the same redirect.
    let exchange = try #require(provider.requests("token").first)
    #expect(provider.requests("token").count == 1)
    #expect(exchange.field("grant_type") == "authorization_code")
    #expect(exchange.field("code") == "code-1")
    #expect(exchange.field("redirect_uri") == page.queryField("redirect_uri"))
    #expect(exchange.field("code_verifier")?.utf8.count == 43)
    #expect(exchange.field("code_verifier") != page.queryField("code_challenge"))
    let entries = try session.entries()
    #expect(entries.suffix(2).map(\.event) == [.accountAdded, .signedIn])
    #expect(entries.last?.detail("way") == "browser")
    // The person was told before: who, what, where.
    let prompt = try #require(person.prompts.first)
    #expect(prompt.providerName == "X (OAuth 2.0)")
    #expect(prompt.clientName == "client-1")
    #expect(prompt.scopes == ["offline.access", "tweet.read", "users.read"])
    #expect(prompt.port != nil)
  }

  @Test func `goes on after anything else that comes to its port, and takes the first answer`()
    async throws
  {
    let session = try place.create()
    try session.add(provider)
    let person = Person { person, address in
      let state = String(address.split(separator: "state=")[1].prefix(43))
      let redirect = Self.redirect(of: address)
      for query in [
        "", "?", "?code=stolen", "?code=stolen&state=", "?code=stolen&state=" + state.dropLast(),
        "?code=stolen&state=\(state)x", "?code=a&code=b&state=\(state)",
        "?state=\(state)&state=\(state)&code=a", "?state=\(state)", "?code=&state=\(state)",
        "?code=a&error=access_denied&state=\(state)", "?code=%zz&state=\(state)",
      ] { await person.follow(redirect + query) }
      await person.follow(redirect + "favicon.ico")
      await person.follow(redirect + "?code=code-1&state=\(state)")
      // The answer was taken: a second one is nobody's.
      await person.follow(redirect + "?code=code-2&state=\(state)")
    }
    _ = try await session.signIn(request(), over: .test(place.wall), at: person.place())
    let codes = provider.requests("token").map { $0.field("code") }
    #expect(codes == ["code-1"])
    #expect(Array(person.statuses.prefix(14)) == Array(repeating: 400, count: 12) + [404, 303])
  }

  static func redirect(of address: String) -> String {
    let text = address.split(separator: "redirect_uri=")[1].prefix { $0 != "&" }
    return String(text).removingPercentEncoding ?? ""
  }

  @Test func `takes no answer of another server where this one is known`() async throws {
    let session = try place.create()
    try session.add(provider, #","issuer":"https://as.example","sends_issuer":true"#)
    let person = Person { person, address in
      let state = String(address.split(separator: "state=")[1].prefix(43))
      let answer = Self.redirect(of: address) + "?code=code-1&state=\(state)"
      await person.follow(answer)
      await person.follow(answer + "&iss=https%3A%2F%2Fevil.example")
      await person.follow(answer + "&iss=https%3A%2F%2Fas.example%2F")
      await person.follow(answer + "&iss=https%3A%2F%2Fas.example")
    }
    _ = try await session.signIn(request(), over: .test(place.wall), at: person.place())
    #expect(Array(person.statuses.prefix(4)) == [400, 400, 400, 303])
  }

  @Test(arguments: [
    ("error=access_denied", VaultError.Code.denied),
    ("error=access_denied&error_reason=user_denied&error_description=x", .denied),
    ("error=server_error", .tryAgain), ("error=temporarily_unavailable", .tryAgain),
    ("error=invalid_scope", .config), ("error=unauthorized_client", .config),
    ("error=login_required", .signIn), ("error=what_is_this", .config),
  ])
  func `ends with what the redirect says, and nothing is written`(
    _ query: String, _ code: VaultError.Code
  ) async throws {
    let session = try place.create()
    try session.add(provider)
    let before = try session.entries().count
    provider.on("authorize") { request, _ in
      .redirect(
        (request.queryField("redirect_uri") ?? "")
          + "?\(query)&state=\(request.queryField("state") ?? "")")
    }
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(request(), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == code)
    #expect(try session.entries().count == before)
    #expect(provider.requests("token").isEmpty)
  }

  @Test(arguments: [
    (400, #"{"error":"invalid_grant"}"#, VaultError.Code.signIn),
    (
      400,
      #"{"error":"invalid_request","error_description":"Value passed for the token was invalid."}"#,
      .signIn
    ),
    (401, #"{"error":"invalid_client"}"#, .config), (429, "", .tryAgain),
    (503, "<html>", .tryAgain),
    (200, #"{"error":"invalid_grant"}"#, .signIn), (200, "", .config), (200, "<html>", .config),
    (200, #"{"access_token":"","token_type":"bearer"}"#, .config),
    (200, #"{"access_token":"A","access_token":"B"}"#, .config),
    (200, #"{"access_token":"A","token_type":"mac"}"#, .config),
  ])
  func `ends with what the token endpoint says, and nothing is written`(
    _ status: Int, _ body: String, _ code: VaultError.Code
  ) async throws {
    let session = try place.create()
    try session.add(provider)
    let before = try session.entries().count
    provider.on("token", .json(body, status: status))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(request(), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == code, "\(error)")
    #expect(try session.entries().count == before)
    var count = 0
    try session.forEachAccount { (_) throws(VaultError) in
      count += 1
      return true
    }
    #expect(count == 0)
  }

  @Test func `follows no redirect with the code`() async throws {
    let session = try place.create()
    try session.add(provider)
    let other = try ScriptedServer { _, _ in .json(xToken) }
    for status in [301, 302, 307, 308] {
      provider.on(
        "token",
        HTTPServer.Response(
          status, headers: [("Location", other.url + "/token?secret-in-location=1")]))
      let error = await refusal { () async throws(VaultError) in
        try await session.signIn(request(), over: .test(place.wall), at: Person().place())
      }
      #expect(error.code == .config)
      #expect(error.message.contains("redirect"))
      #expect(error.message.contains(other.url))
      #expect(!error.message.contains("secret-in-location"))
    }
    #expect(other.requests.isEmpty)
  }

  @Test func `waits no longer than it was told, and leaves nothing behind`() async throws {
    let session = try place.create()
    try session.add(provider)
    let before = try place.bytes()
    let person = Person { _, _ in }
    var request = request()
    request.seconds = 1
    let network = Network.test(place.wall)
    let wanted = request
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(wanted, over: network, at: person.place())
    }
    #expect(error.code == .tryAgain)
    #expect(error.reason == .interrupted)
    #expect(try place.bytes() == before)
    // Nobody listens any more.
    let port = try #require(person.prompts.first?.port)
    #expect(throws: (any Error).self) { try RawConnection(UInt16(port)) }
  }

  @Test(arguments: ["authorize", "token", "userinfo"])
  func `leaves nothing behind where it is cut off`(_ step: String) async throws {
    do {
      let session = try place.create()
      try session.add(provider)
    }
    let before = try place.bytes()
    let reached = Flag()
    let body = step == "token" ? xToken : #"{"data":{"id":"9","username":"lestat"}}"#
    provider.on(step) { _, _ in
      reached.set()
      return .json(body).after(milliseconds: 30_000)
    }
    let (place, wanted) = (place, request())
    let task = Task {
      let session = try place.open()
      return await refusal { () async throws(VaultError) in
        try await session.signIn(wanted, over: .test(place.wall), at: Person().place())
      }
    }
    await reached.wait()
    task.cancel()
    let error = try await task.value
    #expect(error.reason == .interrupted, "\(error)")
    #expect(error.message.contains("interrupted"))
    #expect(try place.bytes() == before)
  }

  @Test func `is not begun without a client, and says how to add one`() async throws {
    let session = try place.create()
    try session.addProvider(try provider.definition())
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(request(), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .notFound)
    #expect(error.hint == "vault add-client --type x-test --client-id ID --client-secret-stdin")
    var named = request()
    named.client = "nobody"
    let wanted = named
    let unknown = await refusal { () async throws(VaultError) in
      try await session.signIn(wanted, over: .test(place.wall), at: Person().place())
    }
    #expect(unknown.code == .notFound)
    #expect(provider.server.requests.isEmpty)
  }

  @Test func `asks for no permission that the provider does not know`() async throws {
    let session = try place.create()
    try session.add(provider)
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(request("tweet.reed"), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .usage)
    #expect(provider.server.requests.isEmpty)
  }
}
