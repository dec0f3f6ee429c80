import Foundation
import Synchronization
import Testing

@testable import Agent

@Suite struct `An app shows its key` {
  @Test func `and is told who it is`() throws {
    let agent = try RunningAgent()
    let key = try agent.addApp("123", "--sign-only")
    try agent.start()
    let reply = try agent.ask("GET", "/v1/app", key: key)
    #expect(reply.status == 200)
    #expect(reply.body == #"{"id":"123","name":"App 123","sign_only":true,"clients":[]}"# + "\n")
    #expect(reply.header("content-type") == "application/json")
    #expect(reply.header("cache-control") == "no-store")
  }

  @Test func `and without one of an app it gets one answer, whatever was wrong`() throws {
    let agent = try RunningAgent()
    let key = try agent.addApp("123")
    let pinned = try agent.addApp("bound", "--uid", "\(getuid() + 1)")
    let removed = try agent.addApp("gone")
    try agent.vault("remove-app gone")
    try agent.start()
    let none = try agent.ask("GET", "/v1/app")
    #expect(none.status == 401)
    #expect(none.code == "wrong_key")
    #expect(none.header("www-authenticate") == "Bearer")
    for wrong in [
      "", "x", removed, pinned, String(key.dropLast()), key + "a", key.uppercased(),
      String(repeating: "a", count: 5000),
    ] {
      let reply = try agent.ask("GET", "/v1/app", key: wrong)
      #expect(reply.status == 401, "\(wrong)")
      #expect(reply.body == none.body)
      #expect(reply.header("www-authenticate") == "Bearer")
    }
    for header in ["Basic \(key)", key, "Bearer\(key)", "Bearer \(key) \(key)"] {
      let reply = try agent.ask("GET", "/v1/app", headers: ["Authorization: \(header)"])
      #expect(reply.status == 401, "\(header.prefix(8))")
    }
    let twice = try agent.ask("GET", "/v1/app", key: key, headers: ["Authorization: Bearer \(key)"])
    #expect(twice.status == 401)
    #expect(
      try agent.ask("GET", "/v1/app", headers: ["authorization: bearer  \(key)"]).status == 200)
    // Another user's showing of a key is recorded, once in a minute.
    #expect(try agent.ask("GET", "/v1/app", key: pinned).status == 401)
    let refused = try agent.history("--app", "bound", "--event", "use_refused")
    #expect(refused.count == 1)
    #expect(refused.first?["reason"] as? String == "its key was shown by user \(getuid())")
  }

  @Test func `which is worth nothing once it has a new one, or is removed`() throws {
    let agent = try RunningAgent()
    let old = try agent.addApp("123")
    try agent.start()
    for _ in 0..<3 { #expect(try agent.ask("GET", "/v1/app", key: old).status == 200) }
    let new = try agent.newKey(of: "123")
    #expect(try agent.ask("GET", "/v1/app", key: old).status == 401)
    #expect(try agent.ask("GET", "/v1/app", key: new).status == 200)
    try agent.vault("remove-app 123")
    #expect(try agent.ask("GET", "/v1/app", key: new).status == 401)
  }

  @Test func `and a locked vault knows no key`() throws {
    let agent = try RunningAgent()
    let key = try agent.addApp("123")
    try agent.start(unlocked: false)
    for shown in [key, "x", nil] {
      let reply = try agent.ask("GET", "/v1/app", key: shown)
      #expect(reply.status == 503)
      #expect(reply.code == "locked")
    }
  }
}

@Suite struct `How often an app may ask` {
  private final class Hands: Sendable {
    let now = Atomic<Int64>(5)
    func move(_ nanoseconds: Int64) { now.add(nanoseconds, ordering: .relaxed) }
  }

  @Test func `is a steady rate, with twice as many at once`() {
    let hands = Hands()
    let rates = AppRates(perSecond: 10, clock: { hands.now.load(ordering: .relaxed) })
    #expect((0..<30).count { _ in rates.admits("a") } == 20)
    #expect(rates.admits("b"))
    hands.move(100_000_000)
    #expect((0..<5).count { _ in rates.admits("a") } == 1)
    hands.move(1_000_000_000)
    #expect((0..<30).count { _ in rates.admits("a") } == 10)
    hands.move(.max / 2)
    #expect((0..<30).count { _ in rates.admits("a") } == 20)
    // A clock that goes back gives nothing.
    hands.move(-1_000_000_000)
    #expect(!rates.admits("a"))
  }
}
