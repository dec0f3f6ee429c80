internal import Command
internal import Faults
package import Listener

/// What the owner may ask of the agent, on `owner.sock`.
package struct OwnerService: Sendable {
  private let core: AgentCore

  package init(_ core: AgentCore) { self.core = core }

  /// Answers one request, on its connection's thread.
  package func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    switch (request.message.method, request.message.path) {
    case ("GET", "/v1/status"): return status()
    case ("POST", "/v1/lock"):
      core.keeper.lock(.owner)
      return status()
    default:
      return .error(VaultError(.notFound, "nothing is there"), status: 404)
    }
  }

  private func status() -> SocketServer.Reply {
    let standing = core.keeper.standing
    var object = JSONObject()
    object.add("path", core.keeper.path)
    object.add("state", standing.locked == nil ? "unlocked" : "locked")
    object.add("reason", standing.locked?.rawValue)
    object.add("since", standing.since)
    return .json(200, object)
  }
}
