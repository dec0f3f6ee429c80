import Foundation
import Synchronization
import TestSupport
import Testing
import UnixSocket

/// A key that was good when a request began, and is not when it is served.
@Suite(.timeLimit(.minutes(5)), .serialized) struct `A key that is over` {
  /// With an app `bot` that holds `profile` on the first of two accounts.
  private func place() throws -> (place: SendPlace, key: String) {
    let place = try SendPlace()
    try place.addAccount("louis", token: "canary-token-of-louis-0123456789")
    let key = try place.agent.addApp("bot")
    try place.agent.vault("grant --app bot --perms profile --account lestat")
    place.on("/api/me", .json("{}"))
    return (place, key)
  }

  /// The id goes to another program, which holds `profile` on the second.
  private func giveIdAway(_ place: SendPlace) throws -> String {
    try place.agent.vault("remove-app bot")
    let key = try place.agent.addApp("bot")
    try place.agent.vault("grant --app bot --perms profile --account louis")
    return key
  }

  @Test func `sends no request whose body was still coming`() throws {
    for isRemoved in [false, true] {
      let (place, key) = try place()
      try place.agent.start()
      var connection = try place.connect()
      let head = [
        "POST /v1/request HTTP/1.1", "Host: vault", "Authorization: Bearer \(key)",
        "Vault-URL: \(place.server.url)/api/me", "Content-Type: application/json",
        "Content-Length: 10",
      ]
      try connection.send(head.joined(separator: "\r\n") + "\r\n\r\n01234")
      usleep(200_000)
      _ = isRemoved ? try giveIdAway(place) : try place.agent.newKey(of: "bot")
      try connection.send("56789")
      let reply = try connection.receiveHead()
      #expect(reply.status == 401)
      #expect(reply.header("vault-source") == "agent")
      #expect(place.requests.isEmpty)
    }
  }

  @Test func `gets neither a token nor a signature that was renewed meanwhile`() throws {
    for (path, body) in [
      ("/v1/token", #"{"permissions":["profile"],"renew":true}"#),
      ("/v1/token", #"{"permissions":["profile"]}"#),
      ("/v1/sign", #"{"permissions":["profile"],"method":"GET","url":"URL/api/me"}"#),
    ] {
      for isRemoved in [false, true] {
        let isEarly = body.contains("renew")
        let place = try SendPlace(expiresIn: isEarly ? 86_400 : 1)
        try place.addAccount("louis", token: "canary-token-of-louis-0123456789")
        let key = try place.agent.addApp("bot")
        try place.agent.vault("grant --app bot --perms profile --account lestat")
        place.renews(after: 8000)
        if !isEarly { sleep(2) }
        // Where it has expired the agent renews by itself too, and the app waits for that.
        try place.agent.start()
        let agent = place.agent
        let asked = body.replacing("URL", with: place.server.url)
        let reply = Meanwhile { try agent.ask("POST", path, key: key, body: asked) }
        try #require(waits { place.server.requests.contains { $0.path == "/token" } })
        usleep(500_000)
        _ = isRemoved ? try giveIdAway(place) : try agent.newKey(of: "bot")
        let answer = try reply.value()
        #expect(answer.status == 401, "\(path) \(answer.body)")
        #expect(!answer.body.contains("canary"))
      }
    }
  }

  /// Here each agent's session decides for both keys.
  @Test func `is not answered from what was decided for another`() throws {
    let (place, key) = try place()
    try place.agent.start()
    let body = #"{"permissions":["profile"]}"#
    for _ in 0..<8 {
      #expect(try place.agent.ask("POST", "/v1/token", key: key, body: body).status == 200)
    }
    let next = try giveIdAway(place)
    for _ in 0..<8 {
      #expect(
        try place.agent.ask("POST", "/v1/token", key: next, body: body).body.contains("louis"))
      #expect(try place.agent.ask("POST", "/v1/token", key: key, body: body).status == 401)
    }
  }

  @Test func `hands on nothing of what it saw: the next program's events are its own`() throws {
    let (place, key) = try place()
    let other = try place.agent.addApp("other")
    try place.agent.start()
    let before = try events(place, key, until: "event: granted")
    #expect(before.contains("event: app_added"))
    let next = try giveIdAway(place)
    try place.agent.vault("new-app-key other")
    #expect(try place.agent.ask("GET", "/v1/app", key: other).status == 401)
    let after = try events(place, next, until: "event: granted")
    let names = after.split(separator: "\n").filter { $0.hasPrefix("event: ") }
    #expect(names == ["event: app_added", "event: granted"], "\(after)")
    // Where a grant recorded the app before it was added, that is its own.
    try place.agent.vault("grant --app early --perms profile --account louis")
    let early = try place.agent.addApp("early")
    #expect(try events(place, early, until: "event: granted").contains("permissions"))
  }

  /// What an app's stream holds from the ledger's beginning to some text.
  private func events(_ place: SendPlace, _ key: String, until text: String) throws -> String {
    var connection = try place.connect()
    try connection.send(
      "GET /v1/events HTTP/1.1\r\nHost: vault\r\nAuthorization: Bearer \(key)\r\n"
        + "Last-Event-ID: 0\r\n\r\n")
    let head = try connection.receiveHead()
    try #require(head.status == 200)
    var body = UnixConnection.Body(head)
    var all = ""
    while !all.contains(text) {
      let piece = try connection.receivePiece(of: &body)
      try #require(!piece.isEmpty, "\(all)")
      all += String(decoding: piece, as: UTF8.self)
    }
    return all
  }
}

/// What is done on a thread of its own until somebody wants its value.
final class Meanwhile<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let done = DispatchSemaphore(value: 0)

  init(_ work: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread { [self] in
      let result = Result { try work() }
      self.result.withLock { $0 = result }
      done.signal()
    }
  }

  /// To be called once.
  func value() throws -> Value {
    done.wait()
    return try #require(result.withLock { $0 }).get()
  }
}
