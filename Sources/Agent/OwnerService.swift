internal import Faults
package import Listener

/// What the owner may ask of the agent, on `owner.sock`.
package struct OwnerService: Sendable {
  let core: AgentCore

  package init(_ core: AgentCore) { self.core = core }

  /// Answers one request, on its connection's thread.
  package func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    switch (request.message.method, request.message.path) {
    case ("GET", "/v1/status"): return status()
    case ("POST", "/v1/lock"): return lock()
    case ("POST", "/v1/unlock"): return unlock(request)
    case ("POST", "/v1/key"): return KeyService(core).reply()
    case ("GET", "/v1/metrics"): return metrics()
    default:
      return .error(VaultError(.notFound, "nothing is there"), status: 404)
    }
  }
}
