internal import Faults
package import Listener

/// What a program with an app key may ask of the agent, on `apps.sock`.
package struct AppService: Sendable {
  private let core: AgentCore

  package init(_ core: AgentCore) { self.core = core }

  /// Answers one request, on its connection's thread.
  package func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    .error(VaultError(.notFound, "nothing is there"), status: 404)
  }
}
