internal import Faults
internal import FileSystem
package import Listener

/// What the owner may ask of the agent, on `owner.sock`.
package struct OwnerService: Sendable {
  let core: AgentCore

  package init(_ core: AgentCore) { self.core = core }

  /// What a connection of the owner's may cost.
  static var limits: SocketServer.Limits {
    var limits = SocketServer.Limits()
    limits.unclear = .unclear
    return limits
  }

  /// Answers one request, on its connection's thread. `HEAD` is served as `GET`.
  package func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    // The link of a file that is gone may lead a program of the owner's here that means another vault,
    // whose file has the number of that one.
    if let file = request.message.header("vault-file"),
      file != (try? Files.target(of: core.keeper.path))?.identity
    {
      return .error(VaultError(.notFound, "that is not this agent's vault"), status: 421)
    }
    let method = request.message.method == "HEAD" ? "GET" : request.message.method
    switch (method, request.message.path) {
    case ("GET", "/v1/status"): return status()
    case ("POST", "/v1/lock"): return lock()
    case ("POST", "/v1/unlock"): return unlock(request)
    case ("POST", "/v1/key"): return KeyService(core).reply()
    case ("POST", "/v1/run"): return RunService(core).reply(to: request)
    case ("GET", "/v1/metrics"): return metrics()
    case (_, "/v1/status"), (_, "/v1/metrics"): return .otherMethod(["GET", "HEAD"])
    case (_, "/v1/lock"), (_, "/v1/unlock"), (_, "/v1/key"), (_, "/v1/run"):
      return .otherMethod(["POST"])
    default:
      return .error(VaultError(.notFound, "nothing is there"), status: 404)
    }
  }
}
