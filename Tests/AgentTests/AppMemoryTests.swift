import Foundation
import TestSupport
import Testing

/// What apps sent and were answered, as it lies in the agent's memory.
@Suite(.timeLimit(.minutes(5))) struct `The memory of an agent that apps have asked` {
  @Test func `holds neither their keys nor what they were handed, once it is locked`() throws {
    guard geteuid() == 0 else { return }
    let token = "EAAcanary-of-memory-5f81b0c2d7"
    let agent = try RunningAgent.withBot(token: token)
    let key = try String(contentsOfFile: agent.directory("app.key"), encoding: .utf8)
    try agent.start()
    for _ in 0..<20 {
      #expect(try agent.ask("GET", "/v1/app", key: key).status == 200)
      #expect(
        try agent.ask("POST", "/v1/token", key: key, body: #"{"permissions":["email"]}"#).body
          .contains(token))
      #expect(
        try agent.ask(
          "POST", "/v1/sign", key: key,
          body: #"{"permissions":["email"],"method":"GET","url":"https://graph.facebook.com/me"}"#
        ).body.contains(token))
      // Refused, after its key was read.
      #expect(
        try agent.ask(
          "GET", "/v1/request", key: key, headers: ["Vault-URL: https://example.com/"]
        ).status == 400)
    }
    agent.signal(SIGUSR1)
    for (name, secret) in [("key", key), ("token", token)] {
      var left = 0
      #expect(
        try waits(20) {
          left = try MemorySearch.occurrences(
            of: Array(secret.utf8), in: agent.processIdentifier)
          return left == 0
        }, "\(name): \(left)")
    }
    let shown = try agent.ask("GET", "/v1/app", key: key)
    #expect(shown.code == "locked")
  }
}
