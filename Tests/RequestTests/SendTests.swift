import AccountVault
import Accounts
import Faults
import Foundation
import Ledger
import Listener
import Providers
import Synchronization
import TestSupport
import Testing
import Time

@Suite struct `A signed request` {
  @Test func `goes out with the token and never shows it to the app`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/2/users/me", .json(#"{"data":{"id":"7"}}"#, headers: [("X-Trace", "t1")]))
    let response = try await session.send(
      SignedRequest(.get, stage.url("/2/users/me")), app: "123", permissions: ["tweet.read"],
      over: stage.network)
    #expect(response.status == 200 && response.error == nil && response.errorClass == nil)
    #expect(String(decoding: response.body, as: UTF8.self) == #"{"data":{"id":"7"}}"#)
    #expect(response.header("x-trace") == "t1" && response.account.id == account.id)
    let sent = try #require(stage.server.requests.first)
    #expect(sent.method == "GET" && sent.target == "/2/users/me")
    #expect(sent.header("Authorization") == "Bearer token-at-first")
    #expect(!"\(response)".contains("token-at-first"))
  }

  @Test func `is in the ledger before it is sent, with method and host`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    let path = stage.place.path
    let place = stage.place
    // The server looks into the file while it answers.
    let noted = Noted()
    stage.on("/api") { _ in
      do {
        let looking = try place.look()
        let entries = try looking.entries(.tokenUsed)
        noted.add(entries.map { $0.reason ?? "" })
      } catch {
        noted.add(["\(path): \(error)"])
      }
      return .json("{}")
    }
    _ = try await session.send(
      SignedRequest(.post, stage.url("/api/1")), app: "123", permissions: ["tweet.write"],
      over: stage.network)
    #expect(noted.all == [["request: POST \(stage.server.url)"]])
    let entry = try #require(try session.entries(.tokenUsed).first)
    #expect(entry.app == "123" && entry.permissions == ["tweet.write"])
    #expect(entry.accountID == account.id.text && entry.detail("generation") == "1")
    #expect(!"\(entry)".contains("token-at-first"))
  }

  final class Noted: Sendable {
    private let notes = Mutex<[[String]]>([])
    var all: [[String]] { notes.withLock { $0 } }
    func add(_ note: [String]) { notes.withLock { $0.append(note) } }
  }

  @Test func `of one kind is written once a minute and counted`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/api", .json("{}"))
    func send(_ method: SignedRequest.Method = .get, strictly: Bool = false) async throws {
      _ = try await session.send(
        SignedRequest(method, stage.url("/api")), app: "123", strictly: strictly,
        over: stage.network)
    }
    for _ in 0..<5 { try await send() }
    try await send(.delete)
    #expect(try session.entries(.tokenUsed).count == 2)
    try await send(strictly: true)
    #expect(try session.entries(.tokenUsed).count == 3)
    try session.flush()
    let counts = try session.entries(.tokenUsed).filter { $0.detail("count") != nil }
    #expect(counts.map { $0.detail("count") } == ["4"])
    #expect(counts.first?.reason == "request: GET \(stage.server.url)")
    #expect(stage.server.requests.count == 7)
  }

  @Test func `is refused like a token, recorded, and no byte of it is sent`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage, scope: "tweet.read")
    _ = try session.addApp("456", name: "Other")
    func code(_ app: String, _ permissions: [String]) async -> VaultError.Code {
      await refusal {
        try await session.send(
          SignedRequest(.get, stage.url("/api")), app: app, account: account.id.text,
          permissions: permissions, over: stage.network)
      }.code
    }
    #expect(await code("456", ["tweet.read"]) == .neverAsked)
    _ = try session.deny(Decision(app: "456", permissions: ["tweet.read"]))
    #expect(await code("456", ["tweet.read"]) == .denied)
    _ = try session.revoke(Decision(app: "123", permissions: ["tweet.read"]))
    #expect(await code("123", ["tweet.read"]) == .revoked)
    // Granted here, and not among the token's scopes.
    #expect(await code("123", ["tweet.write"]) == .revoked)
    #expect(await code("123", ["no such permission"]) == .usage)
    #expect(await code("789", ["tweet.read"]) == .notFound)
    #expect(
      try session.entries(.useRefused).map(\.reason) == [
        "never_asked", "denied", "revoked", "revoked",
      ])
    #expect(stage.server.requests.isEmpty)
    #expect(try session.entries(.tokenUsed).isEmpty)
  }

  @Test func `of an app that is never handed a token is sent`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    _ = try session.addApp("bot", name: "Bot", signOnly: true)
    _ = try session.grant(
      Decision(app: "bot", permissions: ["tweet.read"], account: account.id.text))
    stage.on("/api", .json("{}"))
    let token = await refusal { _ = try session.token(app: "bot", permissions: ["tweet.read"]) }
    #expect(token.reason == .signOnly)
    let response = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "bot", permissions: ["tweet.read"],
      over: stage.network)
    #expect(response.error == nil && stage.server.requests.count == 1)
    // A provider that says the token back would say it in pieces, none of which is covered.
    for name in ["Range", "range"] {
      var part = SignedRequest(.get, stage.url("/api"))
      part.headers = [(name, "bytes=0-9")]
      let request = part
      let error = await refusal {
        try await session.send(request, app: "bot", over: stage.network)
      }
      #expect(error.code == .usage)
      _ = try await session.send(request, app: "123", over: stage.network)
    }
    #expect(stage.server.requests.count == 3)
  }

  @Test func `goes only to hosts of the definition, and the refusal names them`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.playX(stage)
    for url in [
      "https://evil.example/2/users/me", "http://api.x.com/", "https://api.x.com.evil.example/",
      "http://[::1]:\(stage.server.port)/api",
    ] {
      let error = await refusal {
        try await session.send(SignedRequest(.get, url), app: "123", over: stage.network)
      }
      #expect(error.code == .config && error.reason == .foreignHost, "\(url)")
      #expect(error.message.contains("127.0.0.1"), "\(error.message)")
    }
    let entries = try session.entries(.useRefused)
    #expect(entries.first?.detail("host") == "https://evil.example")
    // One of a kind in a minute.
    #expect(entries.count == 1)
    #expect(stage.server.requests.isEmpty)
  }

  @Test func `is not sent on by a redirect`() async throws {
    let stage = try Stage()
    let other = try ScriptedServer { _, _ in .json("{}") }
    let session = try stage.place.create()
    let account = try session.playX(stage)
    for status in [301, 302, 303, 307, 308] {
      stage.on(
        "/api",
        HTTPServer.Response(status, headers: [("Location", other.url + "/stolen")], body: [0x2D]))
      let response = try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
      #expect(response.status == status && response.error?.code == .config)
      #expect(response.body == [0x2D])
      #expect(response.notes.contains { $0.contains(other.url) && $0.contains("not followed") })
    }
    #expect(other.requests.isEmpty)
    #expect(try session.state(account) == .valid)
  }

  @Test func `that asks for what changed takes 304 for an answer`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/api", HTTPServer.Response(304))
    var request = SignedRequest(.get, stage.url("/api"))
    let plain = try await session.send(request, app: "123", over: stage.network)
    #expect(plain.error?.code == .config)
    request.headers = [("If-None-Match", "\"1\"")]
    let conditional = try await session.send(request, app: "123", over: stage.network)
    #expect(conditional.error == nil && conditional.status == 304)
    #expect(stage.server.requests.last?.header("If-None-Match") == "\"1\"")
  }

  @Test func `meets a network that is down with try again, and keeps the account`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.server.stop()
    let get = await refusal {
      try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    }
    #expect(get.code == .tryAgain)
    #expect(try session.state(account) == .valid)
  }

  @Test func `says of a post that broke that it may have been carried out`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/api", .drop)
    func error(_ method: SignedRequest.Method) async -> VaultError {
      await refusal {
        try await session.send(
          SignedRequest(method, stage.url("/api")), app: "123", over: stage.network)
      }
    }
    let post = await error(.post)
    #expect(post.code == .tryAgain && post.message.contains("whether POST was carried out"))
    #expect(await !error(.get).message.contains("carried out"))
    #expect(stage.requests("/api").filter { $0.method == "POST" }.count == 1)
  }

  @Test func `waits as the provider says where it may, and no longer`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    let busy = HTTPServer.Response.json(
      #"{"errors":[{"code":88,"message":"m"}]}"#, status: 429, headers: [("Retry-After", "20")])
    stage.on("/api", inTurn: [busy, .json("{}"), busy])
    var request = SignedRequest(.get, stage.url("/api"))
    request.limits.waitSeconds = 30
    let waited = try await session.send(request, app: "123", over: stage.network)
    #expect(waited.error == nil && stage.waits.all == [20])
    request.limits.waitSeconds = 10
    let busyAgain = try await session.send(request, app: "123", over: stage.network)
    #expect(busyAgain.error?.code == .tryAgain && busyAgain.errorClass == .throttled)
    let time = stage.place.clock.now + 20
    #expect(busyAgain.error?.message.contains(time.description) == true)
    // The provider's word is kept: nothing is sent before that time, for any account of the client.
    let sent = stage.server.requests.count
    let held = await refusal {
      try await session.send(request, app: "123", over: stage.network)
    }
    #expect(held.code == .tryAgain && held.message.contains(time.description))
    #expect(stage.server.requests.count == sent)
    stage.on("/api", .json("{}"))
    stage.place.clock.advance(20)
    #expect(
      try await session.send(request, app: "123", over: stage.network).error == nil)
    #expect(try session.state(account) == .valid)
  }

  @Test func `looks at nothing in a session that only looks`() async throws {
    let stage = try Stage()
    do {
      let session = try stage.place.create()
      try session.playX(stage)
    }
    let session = try stage.place.look()
    let error = await refusal {
      try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    }
    #expect(error.code == .usage && stage.server.requests.isEmpty)
  }

  @Test func `may be one of a hundred that are under way at once`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/api") { .json(#"{"path":"\#($0.path)"}"#).after(milliseconds: 5) }
    var attempts: [RequestAttempt] = []
    for number in 0..<100 {
      attempts.append(
        try session.attempt(
          SignedRequest(.get, stage.url("/api/\(number)")), app: "123", account: nil,
          permissions: [], over: stage.network))
    }
    let network = stage.network
    let replies = await withTaskGroup(of: (Int, RequestReply).self) { group in
      for (number, attempt) in attempts.enumerated() {
        group.addTask { (number, await attempt.send(over: network, to: Silent())) }
      }
      var replies: [(Int, RequestReply)] = []
      for await reply in group { replies.append(reply) }
      return replies
    }
    #expect(replies.count == 100)
    for (number, reply) in replies {
      var tries = RequestTries()
      let step = try await session.settle(reply, of: attempts[number], &tries, over: network)
      guard case .done(let answer) = step else {
        Issue.record("\(number) was not settled")
        continue
      }
      #expect(answer.error == nil)
    }
    #expect(Set(stage.requests("/api").map(\.path)).count == 100)
    #expect(try session.state(account) == .valid)
    try session.flush()
    #expect(
      try session.entries(.tokenUsed).compactMap { $0.detail("count") } == ["99"])
  }

  struct Silent: ResponseReceiver {
    func begin(status: Int, headers: [(name: String, value: String)]) {}
    func receive(_ piece: RawSpan) -> Bool { true }
  }
}

extension Place {
  func look() throws -> Session {
    var options = Vault.UnlockOptions()
    options.headDirectory = directory("state")
    options.clock = clock.clock
    options.isLooking = true
    return try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
  }
}
