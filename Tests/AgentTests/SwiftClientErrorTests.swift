import AccountVaultClient
import Foundation
import TestSupport
import Testing

/// Each refusal of a real agent as the error that a program in Swift tells apart.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `An error that a program in Swift gets` {
  private func code<Value: ~Copyable>(
    _ body: () async throws(AgentError) -> Value
  ) async -> (AgentError.Code, Int?)? {
    do throws(AgentError) { _ = try await body() } catch { return (error.code, error.status) }
    return nil
  }

  @Test func `has the code of what it is refused for`() async throws {
    let filled = try FilledAgent()
    let agent = filled.agent
    func client(_ app: String) throws -> AgentClient {
      try `A program in Swift`.client(agent, filled.keys[app] ?? "")
    }
    let ann = filled.ids["ann"] ?? ""
    let one = try client("one")
    let signer = try client("signer")
    let found: [(String, AgentError.Code, Int, (AgentError.Code, Int?)?)] = [
      (
        "usage", .usage, 400,
        await code { () throws(AgentError) in
          try await one.access(account: ann, permissions: ["no_such"])
        }
      ),
      (
        "rules", .usage, 400,
        await code { () throws(AgentError) in
          try await one.requestAccess(
            type: "facebook", permissions: ["email", "publish_actions"], audience: .friends)
        }
      ),
      (
        "no provider", .notFound, 404,
        await code { () throws(AgentError) in
          try await one.requestAccess(type: "nowhere", permissions: ["email"])
        }
      ),
      (
        "denied", .denied, 403,
        await code { () throws(AgentError) in
          try await one.token(account: ann, permissions: ["user_birthday"])
        }
      ),
      (
        "never asked", .neverAsked, 403,
        await code { () throws(AgentError) in
          try await one.token(account: ann, permissions: ["user_photos"])
        }
      ),
      (
        "no account", .neverAsked, 403,
        await code { () throws(AgentError) in try await one.token(account: "nobody") }
      ),
      (
        "sign-only", .denied, 403,
        await code { () throws(AgentError) in
          try await signer.token(account: ann, permissions: ["email"])
        }
      ),
      (
        "another host", .config, 400,
        await code { () throws(AgentError) in
          try await one.sign(method: "GET", url: "https://elsewhere.test/", account: ann)
        }
      ),
    ]
    for (what, code, status, got) in found {
      #expect(got?.0 == code && got?.1 == status, "\(what): \(String(describing: got))")
    }
    try agent.vault("revoke --app one --perms email --account \(ann)")
    let revoked = await code { () throws(AgentError) in
      try await one.token(account: ann, permissions: ["email"])
    }
    #expect(revoked?.0 == .revoked && revoked?.1 == 403)
    do {
      _ = try await client("both").token(permissions: ["email"])
      Issue.record("a token")
    } catch let error as AgentError {
      #expect(error.code == .ambiguous && error.status == 409 && error.cause == .agent)
      #expect(Set(error.candidates) == [ann, filled.ids["bob"] ?? ""])
    }
    let stranger = try `A program in Swift`.client(
      agent, "vapp_" + String(repeating: "a", count: 56))
    let unknown = await code { () throws(AgentError) in try await stranger.app() }
    #expect(unknown?.0 == .wrongKey && unknown?.1 == 401)
  }

  @Test func `says that somebody must sign in`() async throws {
    let place = try SendPlace()
    try place.agent.vault("add-account --type own --username louis")
    try place.agent.vault("grant --app 123 --perms profile --account louis")
    let client = try `A program in Swift`.client(place.agent, place.key)
    let found = await code { () throws(AgentError) in
      try await client.send(
        ProviderRequest("GET", place.server.url + "/api", account: "louis"))
    }
    #expect(found?.0 == .signIn && found?.1 == 409, "\(String(describing: found))")
  }

  @Test func `says that the vault is locked, that it asks too often, and when to try again`()
    async throws
  {
    let agent = try RunningAgent()
    let key = try agent.addApp("123")
    try agent.start("--app-rate", "1")
    let client = try `A program in Swift`.client(agent, key)
    var refused: AgentError?
    for _ in 0..<20 where refused == nil {
      do throws(AgentError) { _ = try await client.app() } catch { refused = error }
    }
    #expect(refused?.code == .tryAgain && refused?.status == 429 && refused?.retryAfter == 1)
    agent.signal(SIGUSR1)
    var locked: AgentError?
    while locked?.code != .locked {
      do throws(AgentError) { _ = try await client.app() } catch { locked = error }
    }
    #expect(locked?.status == 503 && locked?.cause == .agent)
    agent.stop()
    do throws(AgentError) {
      _ = try await client.app()
      Issue.record("an answer")
    } catch {
      #expect(error.code == .tryAgain && error.cause == .unreachable)
    }
  }
}

@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `The events that a program in Swift follows` {
  @Test func `go on where they were after the agent was started again`() async throws {
    let filled = try FilledAgent()
    let agent = filled.agent
    let client = try `A program in Swift`.client(agent, filled.keys["none"] ?? "")
    let bob = filled.ids["bob"] ?? ""
    func owner(_ command: String, _ permission: String) throws {
      try agent.vault("\(command) --app none --perms \(permission) --account \(bob)")
    }
    var events = client.events(after: 0).makeAsyncIterator()
    let first = try #require(try await events.next())
    #expect(first.name == "app_added" && first.account == nil)
    try owner("grant", "email")
    let second = try #require(try await events.next())
    #expect(second.name == "granted" && second.permissions == ["email"] && second.account == bob)
    #expect(second.entry > first.entry && second.time.hasSuffix("Z"))
    let entry = try JSONSerialization.jsonObject(with: Data(second.json)) as? [String: Any]
    #expect(entry?["actor"] as? String == "owner" && entry?["app"] as? String == "none")
    // In order, killed, and locked for a while: what was written meanwhile is told, once each.
    agent.stop()
    try owner("grant", "user_likes")
    try agent.start()
    #expect(try await events.next()?.permissions == ["user_likes"])
    agent.signal(SIGKILL)
    agent.stop()
    try owner("revoke", "user_likes")
    try agent.start(unlocked: false)
    try owner("deny", "user_photos")
    agent.stop()
    try agent.start()
    let third = try #require(try await events.next())
    let fourth = try #require(try await events.next())
    #expect(third.name == "revoked" && third.permissions == ["user_likes"])
    #expect(fourth.name == "denied" && fourth.permissions == ["user_photos"])
    // Another one begins behind an entry that it knows.
    var later = client.events(after: third.entry).makeAsyncIterator()
    #expect(try await later.next() == fourth)
    // A new key ends it.
    _ = try agent.newKey(of: "none")
    #expect(try await events.next()?.name == "app_key_changed")
    do throws(AgentError) {
      _ = try await events.next()
      Issue.record("an event")
    } catch {
      #expect(error.code == .wrongKey)
    }
  }
}
