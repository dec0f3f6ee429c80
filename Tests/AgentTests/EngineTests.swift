import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

/// What the agent does while nobody asks it.
@Suite(.serialized) struct `The agent's engine` {
  /// Answers renewals, and revocations as the test says.
  private final class Provider: Sendable {
    let server: ScriptedServer
    private let shared: Shared

    private final class Shared: Sendable {
      let isUp = Mutex(true)
      let number = Mutex(1)
    }

    init() throws {
      let shared = Shared()
      self.shared = shared
      server = try ScriptedServer { request, _ in
        guard shared.isUp.withLock({ $0 }) else {
          return .json("{}", status: 503, headers: [("Retry-After", "2")])
        }
        if request.path == "/revoke" { return .json("{}") }
        let number = shared.number.withLock { number in
          number += 1
          return number
        }
        return .json(
          #"{"access_token":"A\#(number)","token_type":"bearer","expires_in":3600,"#
            + #""refresh_token":"R\#(number)"}"#)
      }
    }

    func turn(on: Bool) { shared.isUp.withLock { $0 = on } }

    func count(_ path: String) -> Int { server.requests.count { $0.path == path } }
  }

  @Test func `renews what is due while it is unlocked, and not while it is locked`() throws {
    let home = try AgentHome()
    let provider = try Provider()
    try home.addAccount(url: provider.server.url, expiresIn: 1)
    let agent = try home.startReady()
    #expect(try agent.status()["next_renewal_at"] is NSNull)
    #expect(provider.count("/token") == 0)
    #expect(try agent.unlock(AgentHome.passphrase).status == 200)
    #expect(waits { agent.log.contains("renewal account=") }, "\(agent.log)")
    #expect(provider.count("/token") == 1)
    #expect(agent.log.contains("outcome=renewed"))
    #expect(!agent.log.contains("lestat"))
    #expect(try waits { try agent.status()["next_renewal_at"] is String })
    let shown = try home.vault(["show-account", "own:lestat", "--json"])
    #expect(shown.contains(#""generation":2"#), "\(shown)")
    let metrics = try agent.ask("GET", "/v1/metrics").text
    #expect(metrics.contains("vault_agent_renewals_total{outcome=\"renewed\"} 1\n"), "\(metrics)")
    agent.signal(SIGUSR1)
    #expect(try agent.lockReason() == "signal")
    #expect(try agent.status()["next_renewal_at"] is NSNull)
    // What falls due meanwhile waits.
    try home.addAccount(account: "armand", access: "B1", refresh: "R-armand", expiresIn: 1)
    #expect(provider.count("/token") == 1)
    #expect(try agent.unlock(AgentHome.passphrase).status == 200)
    #expect(
      waits { agent.log.components(separatedBy: "renewal account=").count == 3 }, "\(agent.log)")
    #expect(provider.count("/token") == 2)
    let end = try #require(agent.log.range(of: " unlocked\n", options: .backwards))
    #expect(agent.log[end.upperBound...].contains("renewal account="), "\(agent.log)")
    #expect(try waits { try agent.ask("GET", "/v1/metrics").text.contains("} 2\n") })
  }

  /// B98: what is queued while the agent runs counts here at once, is tried again until the provider
  /// knows, and is told once.
  @Test func `sends a revocation that another process queued once the provider is there`() throws {
    let home = try AgentHome()
    let provider = try Provider()
    try home.addAccount(
      url: provider.server.url, access: "access-canary", refresh: "refresh-canary")
    try home.vault(["add-app", "1", "--name", "One"])
    try home.vault(["grant", "--app", "1", "--perms", "tweet.read"])
    let agent = try home.startReady(home.withKeyFile)
    #expect(try waits { try agent.status()["next_renewal_at"] is String })
    #expect(try home.vault(["token", "--app", "1"]) == "access-canary\n")
    provider.turn(on: false)
    let told = try home.vault(["remove-account", "own:lestat"], status: 75)
    #expect(!told.contains("-canary"), "\(told)")
    let failed = provider.count("/revoke")
    #expect(failed > 0)
    try home.vault(["token", "--app", "1"], status: 80)
    // The agent's own tries fail as well, and are not shown as done.
    #expect(waits(150) { agent.log.contains("state=later") }, "\(agent.log)")
    #expect(!agent.log.contains("state=sent"))
    provider.turn(on: true)
    #expect(waits(150) { agent.log.contains("state=sent") }, "\(agent.log)")
    let sent = provider.count("/revoke")
    #expect(sent > failed)
    let metrics = try agent.ask("GET", "/v1/metrics").text
    #expect(metrics.contains("vault_agent_revocations_total{state=\"sent\"} "), "\(metrics)")
    // Nothing is left to be told, to an engine that begins anew either.
    agent.signal(SIGUSR1)
    #expect(try agent.lockReason() == "signal")
    #expect(try agent.unlock(AgentHome.passphrase).status == 200)
    #expect(
      try waits { try agent.ask("GET", "/v1/metrics").text.contains("vault_agent_unlocked 1") })
    #expect(provider.count("/revoke") == sent)
  }

  @Test func `goes on after an error that concerns no provider`() throws {
    let home = try AgentHome()
    let provider = try Provider()
    try home.addAccount(url: provider.server.url, expiresIn: 1)
    provider.turn(on: false)
    let agent = try home.startReady(home.withKeyFile)
    #expect(waits { agent.log.contains("outcome=failed") }, "\(agent.log)")
    #expect(agent.isRunning)
    #expect(try agent.status()["state"] as? String == "unlocked")
  }
}
