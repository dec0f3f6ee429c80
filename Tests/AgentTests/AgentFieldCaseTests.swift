import Foundation
import TestSupport
import Testing

/// Field cases as far as they concern the agent. B65 is in SendTests, B85 in PlaceTests and
/// OtherUserTests, B86 in LockTests, B98 in EngineTests.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `An ask through the agent` {
  private static let ask =
    #"{"type":"facebook","permissions":["user_likes"],"account":"facebook:4"}"#

  @Test func `B59 that was cut off blocks no later one, and is no denial`() throws {
    let agent = try RunningAgent.withBot(token: "EAAB0asktoken")
    let key = try String(contentsOfFile: agent.directory("app.key"), encoding: .utf8)
    func ask() throws -> RunningAgent.Reply {
      try agent.ask("POST", "/v1/access", key: key, body: Self.ask)
    }
    try agent.start()
    // The app goes away without waiting for the answer, and then the agent is killed.
    let head =
      "POST /v1/access HTTP/1.1\r\nHost: v\r\nAuthorization: Bearer \(key)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(Self.ask.utf8.count)\r\n\r\n"
    for bytes in [head, head + Self.ask.dropLast(3)] {
      let connection = try RawUnix(agent.socket("apps"))
      connection.write(bytes)
    }
    let asking = try RawUnix(agent.socket("apps"))
    asking.write(head + Self.ask)
    #expect(try waits(10) { try !agent.history("--event", "access_requested").isEmpty })
    agent.signal(SIGKILL)
    _ = agent.stop()
    try agent.start()
    for _ in 0..<3 {
      let reply = try ask()
      #expect(reply.status == 202 && reply.object["decision"] as? String == "pending", "\(reply)")
    }
    // One is waiting, however often it was asked.
    #expect(try agent.vault(["asks", "--json"]).split(separator: "\n").count == 1)
    #expect(try agent.history("--event", "denied").isEmpty)
    try agent.vault("grant --app bot --perms user_likes --account facebook:4")
    #expect(try ask().object["decision"] as? String == "granted")
    // After a no, another permission can be asked for.
    try agent.vault("deny --app bot --perms user_photos --account facebook:4")
    let denied = try agent.ask(
      "POST", "/v1/access", key: key,
      body: Self.ask.replacing("user_likes", with: "user_photos"))
    #expect(denied.object["decision"] as? String == "denied", "\(denied)")
    let other = try agent.ask(
      "POST", "/v1/access", key: key,
      body: Self.ask.replacing("user_likes", with: "user_birthday"))
    #expect(other.status == 202, "\(other)")
  }

  @Test func `B64 of an app that was made anew under its id finds none of the old one's grants`()
    throws
  {
    let agent = try RunningAgent.withBot(token: "EAAB0asktoken")
    let old = try String(contentsOfFile: agent.directory("app.key"), encoding: .utf8)
    try agent.start()
    func token(_ key: String) throws -> RunningAgent.Reply {
      try agent.ask("POST", "/v1/token", key: key, body: #"{"permissions":["email"]}"#)
    }
    #expect(try token(old).status == 200)
    try agent.vault("remove-app bot")
    let new = try agent.addApp("bot")
    #expect(try token(old).status == 401)
    let refused = try token(new)
    #expect(refused.status == 403 && !refused.body.contains("asktoken"), "\(refused)")
    #expect(try agent.ask("GET", "/v1/accounts", key: new).body == "{\"accounts\":[]}\n")
    let asked = try agent.ask(
      "POST", "/v1/access", key: new, body: Self.ask.replacing("user_likes", with: "email"))
    #expect(asked.status == 202 && asked.object["decision"] as? String == "pending", "\(asked)")
    // The owner's own change of the key keeps what he granted, and is an entry.
    try agent.vault("grant --app bot --perms email --account facebook:4")
    let changed = try agent.newKey(of: "bot")
    #expect(try token(new).status == 401)
    #expect(try token(changed).status == 200)
    #expect(try agent.history("--event", "app_key_changed").count == 1)
  }
}
