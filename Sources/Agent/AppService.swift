internal import AccountVault
internal import Faults
package import Listener

/// What a program with an app key may ask of the agent, on `apps.sock`.
package struct AppService: Sendable {
  private let core: AgentCore
  private let gate: AppGate

  /// - Parameter rate: Requests that one app may make in a second.
  package init(_ core: AgentCore, rate: Int = 1000) {
    self.core = core
    gate = AppGate(rate: rate)
  }

  /// Answers one request, on its connection's thread.
  package func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    do throws(VaultError) {
      return try core.keeper.withSession { (session) throws(VaultError) in
        let app = try gate.app(of: request, in: session)
        switch (request.message.method, request.message.path) {
        case ("GET", "/v1/app"): return .json(200, AppObjects.app(app))
        default: throw VaultError(.notFound, "nothing is there")
        }
      }
    } catch {
      return .error(error)
    }
  }
}
