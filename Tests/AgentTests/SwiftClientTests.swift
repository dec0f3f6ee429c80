import AccountVaultClient
import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

/// ``AccountVaultClient`` against a real agent. What an agent does not do when it is asked to is in
/// ClientTests.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `A program in Swift` {
  /// An app that may have tokens, beside the place's own, which may not.
  private static func bot(_ place: SendPlace) throws -> AgentClient {
    let key = try place.agent.addApp("bot")
    try place.agent.vault("grant --app bot --perms profile --account lestat")
    return try client(place.agent, key)
  }

  static func client(_ agent: RunningAgent, _ key: String) throws -> AgentClient {
    if agent.processIdentifier == 0 { try agent.start() }
    var bytes = Array(key.utf8)
    return AgentClient(
      socket: AgentSocket(path: try agent.socket("apps")), key: try AppKey(wiping: &bytes))
  }

  /// The error that `body` ends with.
  private func error<Value: ~Copyable>(
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws(AgentError) -> Value
  ) async throws -> AgentError {
    do throws(AgentError) { _ = try await body() } catch { return error }
    return try #require(nil as AgentError?, "no error", sourceLocation: sourceLocation)
  }

  @Test func `is told who it is, its accounts and its permissions`() async throws {
    let place = try SendPlace()
    let client = try Self.bot(place)
    let app = try await client.app()
    #expect(app.id == "bot" && app.name == "App bot" && !app.isSignOnly && app.clients == [])
    let accounts = try await client.accounts()
    let account = try #require(accounts.first)
    #expect(accounts.count == 1)
    #expect(account.type == "own" && account.username == "lestat" && account.userID == nil)
    #expect(account.id.count == 26)
    let all = try await client.access()
    #expect(all.map(\.permission) == ["profile"])
    #expect(all[0].state == .granted && all[0].account == account.id && all[0].group == "read")
    let two = try await client.access(account: "own:lestat", permissions: ["post", "profile"])
    #expect(two.map(\.permission) == ["post", "profile"])
    #expect(two.map(\.state) == [.never, .granted])
    let sender = try await Self.client(place.agent, place.key).app()
    #expect(sender.id == "123" && sender.isSignOnly)
  }

  @Test func `asks for access, and the owner decides`() async throws {
    let place = try SendPlace()
    let client = try Self.bot(place)
    let pending = try await client.requestAccess(
      type: "own", permissions: ["post"], group: .write, audience: .friends)
    #expect(pending.decision == .pending && pending.granted.isEmpty && pending.type == "own")
    try place.agent.vault("grant --app bot --perms post --audience friends --account lestat")
    let granted = try await client.requestAccess(
      type: "own", permissions: ["post"], audience: .friends)
    #expect(granted.decision == .granted && granted.granted == ["post"])
    #expect(try await granted.account == client.accounts().first?.id)
    try place.agent.vault("deny --app bot --perms profile --account lestat")
    let denied = try await client.requestAccess(type: "own", permissions: ["profile"])
    #expect(denied.decision == .denied && denied.declined == ["profile"])
    #expect(
      try await client.requestAccess(type: "weibo", permissions: ["email"]).decision == .noAccount)
  }

  @Test func `gets a token, which is renewed when it is asked to be`() async throws {
    let place = try SendPlace()
    place.renews()
    let client = try Self.bot(place)
    func compare(_ token: borrowing Token, _ text: String) throws {
      #expect(token.text == text)
      #expect(token.withBytes { $0.count } == text.utf8.count)
      #expect(token.type.lowercased() == "bearer" && token.clientID == "client-1")
      #expect(token.expiresAt?.hasSuffix("Z") == true && token.secretText == nil)
    }
    try compare(await client.token(), SendPlace.token)
    try compare(await client.token(account: "lestat", permissions: ["profile"]), SendPlace.token)
    try compare(await client.token(renew: true), SendPlace.next)
    #expect(try place.agent.history("--app", "bot", "--event", "token_used").count >= 1)
  }

  @Test func `gets the headers that sign a request, and an OAuth 1.0a token with its secret`()
    async throws
  {
    let place = try SendPlace()
    let client = try Self.bot(place)
    let url = place.server.url + "/api?a=b%20c"
    let signature = try await client.sign(method: "GET", url: url, permissions: ["profile"])
    #expect(signature.url == url && signature.query == nil)
    #expect(signature.headers == [Header("Authorization", "Bearer \(SendPlace.token)")])
    #expect(try await signature.account == client.accounts().first?.id)

    let filled = try FilledAgent()
    let key = try filled.agent.addApp("bird")
    try filled.agent.vault("grant --app bird --perms write --account \(filled.ids["bird"] ?? "")")
    let bird = try Self.client(filled.agent, key)
    let token = try await bird.token()
    #expect(token.text == "12-bird" && token.secretText == FilledAgent.tokenSecret)
    let signed = try await bird.sign(
      method: "POST", url: "https://api.twitter.com/1.1/statuses/update.json",
      form: "status=Hello%20world")
    #expect(signed.headers.count == 1 && signed.headers[0].name == "Authorization")
    #expect(signed.headers[0].value.hasPrefix("OAuth "))
  }

  @Test func `has a request sent, streamed both ways, and never sees the token`() async throws {
    let count = 24 << 20
    let received = Mutex((count: 0, isRight: true))
    let provider = try StreamProvider { call in
      guard call.headers["authorization"] == "Bearer \(SendPlace.token)" else { return false }
      // The answer begins once the body did, and comes while that goes on.
      var isBegun = false
      let isWhole = call.body { piece in
        received.withLock { state in
          state.isRight = state.isRight && Pattern.isRight(piece, at: state.count)
          state.count += piece.count
        }
        if !isBegun {
          isBegun = true
          call.write("HTTP/1.1 201 Created\r\nX-Own: 7\r\nTransfer-Encoding: chunked\r\n\r\n")
          call.write("5\r\nbegun\r\n")
        }
      }
      guard isWhole else { return false }
      var place = 0
      while place < count {
        let piece = Pattern.piece(place, count - place)
        call.write("\(String(piece.count, radix: 16))\r\n")
        call.write(piece)
        call.write("\r\n")
        place += piece.count
      }
      return call.write("0\r\n\r\n")
    }
    let place = try SendPlace(hosts: ["127.0.0.1:\(provider.port)"])
    let client = try Self.client(place.agent, place.key)
    for length in [nil, count] {
      received.withLock { $0 = (0, true) }
      let sent = Mutex(0)
      let pieces = AsyncStream<[UInt8]>(unfolding: {
        sent.withLock { sent in
          guard sent < count else { return nil }
          defer { sent = min(sent + (1 << 16), count) }
          return Array(Pattern.piece(sent, count - sent))
        }
      })
      let response = try await client.send(
        ProviderRequest(
          "POST", provider.url + "/upload", headers: [Header("Content-Type", "image/x-own")],
          body: .stream(pieces, length: length), permissions: ["post"]))
      #expect(response.status == 201 && response.header("X-Own") == "7")
      #expect(response.header("vault-source") == "provider")
      var got = 0
      var isRight = true
      for try await piece in response.body {
        var piece = piece[...]
        if got == 0 {
          isRight = isRight && piece.prefix(5).elementsEqual("begun".utf8)
          piece = piece.dropFirst(5)
          got = 5
        }
        if !piece.isEmpty { isRight = isRight && Pattern.isRight(piece, at: got - 5) }
        got += piece.count
      }
      #expect(got == count + 5 && isRight)
      #expect(received.withLock { $0.count == count && $0.isRight })
    }
    #expect(place.server.requests.isEmpty)
  }

  @Test func `gets the provider's own answer whatever its status, and the agent's as an error`()
    async throws
  {
    let place = try SendPlace()
    place.on("/api", .json(#"{"error":"bad"}"#, status: 422))
    let client = try Self.client(place.agent, place.key)
    let response = try await client.send(
      ProviderRequest("GET", place.server.url + "/api", permissions: ["profile"]))
    #expect(response.status == 422)
    #expect(try await response.body.bytes() == Array(#"{"error":"bad"}"#.utf8))
    let elsewhere = try await error { () throws(AgentError) in
      try await client.send(ProviderRequest("GET", "https://elsewhere.test/"))
    }
    #expect(elsewhere.cause == .agent && elsewhere.code == .config && elsewhere.status == 400)
    place.server.stop()
    let away = try await error { () throws(AgentError) in
      try await client.send(ProviderRequest("GET", place.server.url + "/api"))
    }
    #expect(away.cause == .agent && away.code == .tryAgain && away.status == 503)
  }
}
