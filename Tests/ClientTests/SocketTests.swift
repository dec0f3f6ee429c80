import AccountVaultClient
import Testing

@Suite struct `The agent's socket` {
  @Test func `keeps its path`() {
    #expect(AgentSocket(path: "/run/vault/apps.sock").path == "/run/vault/apps.sock")
  }
}
