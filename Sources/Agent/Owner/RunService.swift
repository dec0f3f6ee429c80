internal import AccountVault
internal import Command
internal import Faults
internal import Listener
internal import Sodium

/// `POST /v1/run`: does a command of the owner's with the agent's own sessions, and answers with what it
/// wrote (``OutputRecord``) and its exit code in `Vault-Exit`.
///
/// Whoever reaches this socket may do all that the owner may. Any status but 200 means that nothing was
/// done, and `vault` does it itself.
struct RunService {
  private let core: AgentCore

  init(_ core: AgentCore) { self.core = core }

  func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    // No secret: a command line may hold none.
    let body = request.body.withBytes { bytes in
      // The body lends its memory for the call, and a copy outlives it.
      unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
    guard let run = RunRequest(body) else {
      return .error(VaultError(.usage, "the body is no command"))
    }
    // What a change writes is what it was given, which so fits into the record.
    guard run.version == Release.version, body.count <= RunRequest.limit else {
      return Self.declined
    }
    let record = OutputRecord(limit: RunRequest.recordLimit)
    do throws(VaultError) {
      let keeper = core.keeper
      let pool = try keeper.pool()
      let hosting = Hosting(
        pool.openedVault, record: record, isColored: run.isColored, key: { pool.lentKey() }
      ) { (body) throws(VaultError) in try keeper.withSession(body) }
      guard let status = Command.run(run.arguments, vault: run.vault, on: hosting)
      else { return Self.declined }
      core.log.debug("command run", ["exit": String(status.code)])
      return SocketServer.Reply(
        200,
        headers: [
          ("Content-Type", "application/octet-stream"), ("Cache-Control", "no-store"),
          ("Vault-Exit", String(status.code)),
        ], body: .bytes(SharedSecret(record.take())))
    } catch {
      return .error(error)
    }
  }

  private static var declined: SocketServer.Reply {
    .error(VaultError(.failed, "left to the caller"), status: 409)
  }
}
