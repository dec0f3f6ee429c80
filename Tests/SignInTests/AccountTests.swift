import AccountVault
import Faults
import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

@Suite struct `A sign-in of a known account` {
  let place: Place
  let provider: ScriptedProvider

  init() throws {
    place = try Place()
    provider = try ScriptedProvider("x")
    provider.consents()
    answers("9", token: "at-2")
  }

  private func answers(_ id: String, token: String, scope: String? = nil) {
    let scopes = scope.map { #","scope":"\#($0)""# } ?? ""
    provider.on(
      "token",
      .json(
        #"{"token_type":"bearer","expires_in":7200,"access_token":"\#(token)","refresh_token":"r-\#(token)"\#(scopes)}"#
      ))
    provider.on("userinfo", .json(#"{"data":{"id":"\#(id)","username":"lestat"}}"#))
    provider.on("revoke", .json("{}"))
  }

  /// An account of user 9 with a token, and an app that may read and write.
  private func account(_ session: borrowing Session, id: String? = "9") throws -> Account {
    try session.add(provider)
    let account = try session.addAccount(
      NewAccount(type: "x-test", username: "lestat", userID: id),
      credential: .response(
        .text(
          #"{"access_token":"at-1","token_type":"bearer","expires_in":7200,"refresh_token":"r","scope":"tweet.read tweet.write"}"#
        )))
    _ = try session.grant(
      Decision(
        app: "123", permissions: ["tweet.read", "tweet.write"], account: account.id.text,
        audience: .everyone))
    return account
  }

  @Test func `puts the whole credential in the old one's place; the grants stay`() async throws {
    let session = try place.create()
    let account = try account(session)
    #expect(try session.tokenText(account: account) == "at-1")
    let outcome = try await session.signIn(
      SignInRequest(.account("x-test:lestat")), over: .test(place.wall), at: Person().place())
    #expect(!outcome.isNew)
    #expect(outcome.account.id == account.id)
    #expect(outcome.generation == 2)
    #expect(try session.tokenText(account: account) == "at-2")
    // What it had is what was asked for; a silence means as asked.
    let asked = try #require(provider.requests("authorize").first?.queryField("scope"))
    #expect(asked == "offline.access tweet.read tweet.write users.read")
    let credential = try #require(try session.credential(of: account))
    #expect(credential.scopes == ["offline.access", "tweet.read", "tweet.write", "users.read"])
    #expect(try session.entries(.signedIn).last?.detail("generation") == "2")
    #expect(try session.access(app: "123").map(\.state) == [.granted, .granted])
  }

  @Test func `records what was declined, and takes it back from the apps`() async throws {
    let session = try place.create()
    let account = try account(session)
    answers("9", token: "at-2", scope: "tweet.read users.read offline.access bookmark.read")
    let outcome = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    #expect(outcome.declined == ["tweet.write"])
    let entry = try #require(try session.entries(.signedIn).last)
    #expect(entry.detail("declined") == "tweet.write")
    #expect(entry.detail("scopes_added") == "bookmark.read")
    let states = try session.access(app: "123").map { ($0.permission, $0.state) }
    #expect(states.map(\.0) == ["tweet.read", "tweet.write"])
    #expect(states.map(\.1) == [.granted, .revoked])
    #expect(try session.entries(.narrowed).last?.permissions == ["tweet.write"])
    let credential = try #require(try session.credential(of: account))
    #expect(
      credential.askedScopes == ["offline.access", "tweet.read", "tweet.write", "users.read"])
  }

  @Test func `gives nothing where the provider says that nothing was granted`() async throws {
    let session = try place.create()
    let account = try account(session)
    answers("9", token: "at-2", scope: "")
    let outcome = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    #expect(outcome.granted == [])
    #expect(try session.access(app: "123").map(\.state) == [.revoked, .revoked])
  }

  @Test func `changes nothing where somebody else came back`() async throws {
    let session = try place.create()
    let account = try account(session)
    answers("200", token: "at-of-200")
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .wrongUser)
    #expect(error.message.contains("200"))
    #expect(try session.credential(of: account)?.generation == 1)
    #expect(try session.tokenText(account: account) == "at-1")
    let entry = try #require(try session.entries(.failed).last)
    #expect(entry.reason == "wrong user")
    #expect(entry.detail("expected") == "9")
    #expect(entry.detail("found") == "200")
    // The token that nobody wants was given back, by its refresh token.
    let revoked = try #require(provider.requests("revoke").first)
    #expect(revoked.field("token") == "r-at-of-200")
    #expect(revoked.field("token_type_hint") == "refresh_token")
    #expect(!"\(error)".contains("at-of-200"))
  }

  @Test func `gives somebody else's token back later where the provider cannot be told now`()
    async throws
  {
    let session = try place.create()
    let account = try account(session)
    answers("200", token: "at-of-200")
    provider.on("revoke", .text("", status: 503))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .wrongUser)
    let waiting = try #require(try session.pendingRevocations().first)
    #expect(waiting.cause == .wrongUser && waiting.userID == "200" && waiting.attempts == 1)
    #expect(try place.bytes().range(of: Data("at-of-200".utf8)) == nil)
    provider.on("revoke", .json("{}"))
    place.wall.advance(3600)
    let outcomes = try await session.sendRevocations(over: .test(place.wall))
    #expect(outcomes.map(\.state) == [.sent])
    #expect(provider.requests("revoke").last?.field("token") == "at-of-200")
    #expect(try session.entries(.revocationSent).last?.detail("cause") == "wrong_user")
    #expect(try session.tokenText(account: account) == "at-1")
  }

  @Test func `takes the older token back, where the provider ends one token with it`() async throws
  {
    let session = try place.create()
    let account = try account(session)
    _ = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    let waiting = try session.pendingRevocations()
    #expect(waiting.map(\.cause) == [.replaced] && waiting.map(\.generation) == [1])
    let outcomes = try await session.sendRevocations(over: .test(place.wall))
    #expect(outcomes.map(\.state) == [.sent])
    #expect(provider.requests("revoke").map { $0.field("token") } == ["r", "at-1"])
    #expect(try session.tokenText(account: account) == "at-2")
    // The same token again is no other one.
    _ = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `leaves the older token alone, where the provider would end both`() async throws {
    let session = try place.create()
    try session.add(provider, #","revocation_reach":"grant""#)
    let account = try session.addAccount(
      NewAccount(type: "x-test", username: "lestat", userID: "9"),
      credential: .response(
        .text(#"{"access_token":"at-1","token_type":"bearer","refresh_token":"r"}"#)))
    _ = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    #expect(try session.credential(of: account)?.generation == 2)
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `gives no token back that may share its end with another account's`() async throws {
    let session = try place.create()
    let account = try account(session)
    _ = try session.addAccount(
      NewAccount(type: "x-test", username: "armand", userID: "200"),
      credential: .response(.text(#"{"access_token":"at-200","token_type":"bearer"}"#)))
    answers("200", token: "second-of-200")
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .wrongUser)
    #expect(provider.requests("revoke").isEmpty)
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `learns who an account is, and takes no other account's user`() async throws {
    let session = try place.create()
    let account = try account(session, id: nil)
    let outcome = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
    #expect(outcome.account.userID == "9")
    #expect(try session.account("x-test:9").id == account.id)
    let other = try session.addAccount(
      NewAccount(type: "x-test", username: "armand"), credential: .none)
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        SignInRequest(.account(other.id.text)), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .wrongUser)
    #expect(try session.account(other.id.text).userID == nil)
  }

  @Test func `is what adding a known user comes to`() async throws {
    let session = try place.create()
    let account = try account(session)
    let outcome = try await session.signIn(
      SignInRequest(.new(NewAccount(type: "x-test"))), over: .test(place.wall),
      at: Person().place())
    #expect(!outcome.isNew)
    #expect(outcome.account.id == account.id)
    #expect(outcome.generation == 2)
    var new = NewAccount(type: "x-test")
    new.userID = "10"
    let wanted = SignInRequest(.new(new))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(wanted, over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .wrongUser)
  }

  @Test func `is of the app's own client, and asks for what the app was granted`() async throws {
    let session = try place.create()
    let account = try account(session)
    _ = try session.addClient(type: "x-test", clientID: "own", secret: nil)
    _ = try session.addApp("bot", name: "Bot", clients: ["x-test:own"])
    _ = try session.grant(
      Decision(
        app: "bot", permissions: ["like.write"], account: account.id.text, audience: .everyone))
    var request = SignInRequest(.account(account.id.text))
    request.app = "bot"
    let outcome = try await session.signIn(
      request, over: .test(place.wall), at: Person().place())
    #expect(outcome.clientID == "own")
    #expect(outcome.generation == 1)
    let page = try #require(provider.requests("authorize").first)
    #expect(page.queryField("client_id") == "own")
    #expect(page.queryField("scope") == "offline.access like.write tweet.read users.read")
    // A public client shows no secret.
    #expect(provider.requests("token").first?.header("Authorization") == nil)
    #expect(provider.requests("token").first?.field("client_id") == "own")
    // Both credentials live side by side.
    #expect(try session.standing(of: outcome.account).credentials.count == 2)
  }

  @Test func `is not taken where the provider does not tell whose token it is`() async throws {
    let session = try place.create()
    let account = try account(session)
    let before = try session.entries().count
    for (answer, code) in [
      (HTTPServer.Response.json("{}", status: 503), VaultError.Code.tryAgain),
      (.json(#"{"title":"Forbidden","status":403,"type":"about:blank"}"#, status: 403), .config),
    ] {
      provider.on("userinfo", answer)
      let error = await refusal { () async throws(VaultError) in
        try await session.signIn(
          SignInRequest(.account(account.id.text)), over: .test(place.wall), at: Person().place())
      }
      #expect(error.code == code, "\(error)")
      #expect(try session.credential(of: account)?.generation == 1)
      #expect(try session.entries().count == before)
    }
  }

  @Test func `shows no secret in what it says, records or leaves in the file`() async throws {
    let session = try place.create()
    let account = try account(session)
    answers("9", token: "CANARY-TOKEN-1234567890")
    let person = Person()
    let outcome = try await session.signIn(
      SignInRequest(.account(account.id.text)), over: .test(place.wall), at: person.place())
    let canaries = [
      "CANARY-TOKEN-1234567890", "client-secret", "code-1",
      try #require(provider.requests("token").first?.field("code_verifier")),
    ]
    let entries = try session.entries().map { "\($0)" }.joined()
    let bytes = try place.bytes()
    for canary in canaries {
      #expect(!"\(outcome)".contains(canary))
      #expect(!person.prompts.contains { $0.address.contains(canary) })
      #expect(!entries.contains(canary))
      #expect(bytes.range(of: Data(canary.utf8)) == nil)
    }
  }
}
