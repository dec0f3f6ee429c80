internal import AccountVault
internal import AccountVaultNetwork
internal import CSystem
internal import Command
internal import Dispatch
internal import Faults
internal import Listener
internal import Sodium
internal import Synchronization

/// The agent between its start and its end: what answers, and what follows the vault's state.
final class ServingAgent: Sendable {
  let core: AgentCore
  private let options: AgentOptions
  private let sockets: AgentSockets
  private let engine: RenewalEngine
  private let vaultID: String
  private let servers = Mutex<[SocketServer]>([])

  /// Seconds that the end waits for answers under way, and for renewals that were sent: a renewed
  /// token that is not written is lost.
  private static let answerLimit = 3
  private static let renewalLimit = 10

  init(
    _ context: Context, _ vault: Vault, _ options: AgentOptions, _ place: RuntimePlace,
    _ sockets: AgentSockets, _ log: Log, _ wake: @escaping @Sendable () -> Void
  ) throws(CommandFailure) {
    let invocation = context.invocation
    let arguments = context.arguments
    let isUnattended = try context.secrets.isUnattended()
    let again: @Sendable () throws(VaultError) -> Key? = { () throws(VaultError) in
      do throws(CommandFailure) {
        return try SecretSource.givenAgain(invocation, arguments)
      } catch {
        throw VaultError(.locked, error.message)
      }
    }
    let keeper = Keeper(
      path: vault.path, allowNetworkFileSystem: arguments.has("network-fs"),
      options: try context.unlockOptions(), again: isUnattended ? again : nil)
    let metrics = Metrics()
    let network = Network.system(version: Release.version)
    var core = AgentCore(
      keeper: keeper, network: network, log: log, metrics: metrics,
      facts: AgentFacts(
        vault: vault.id, appsSocket: sockets.appsPath, limits: { options.limits(isUnattended: $0) })
    )
    core.keepsKey = arguments.has("keep-key")
    self.core = core
    self.options = options
    self.sockets = sockets
    vaultID = vault.id
    let engine = RenewalEngine(
      network, log, metrics, HookQueue(invocation, log, metrics), met: { keeper.meet($0) })
    self.engine = engine
    core.facts.nextRenewal.withLock { $0 = { engine.nextLook } }
    let census = core.facts.census
    keeper.follow { pool, standing in
      census.forget()
      if let pool {
        // The vault's file may be another than before.
        do throws(CommandFailure) { try place.index() } catch { log.warning(error.message) }
        log.info("unlocked")
        if !SecureMemory.isLocked {
          log.warning(
            "memory is not locked, and keys can reach the swap device",
            ["hint": "raise the limit on locked memory (ulimit -l, LimitMEMLOCK=)"])
        }
        engine.start(pool)
      } else {
        engine.stop()
        log.info("locked", ["reason": standing.locked?.rawValue ?? ""])
      }
      wake()
    }
  }

  /// Unlocks with what was given; nothing given leaves it locked.
  func unlockAtStart(_ context: Context) throws(CommandFailure) {
    guard let key = try context.secrets.givenKey() else { return }
    let isUnattended = try context.secrets.isUnattended()
    do throws(VaultError) {
      try core.keeper.unlock(with: key, limits: options.limits(isUnattended: isUnattended))
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Begins to answer.
  func listen() throws(CommandFailure) {
    let user = vault_effective_user()
    let owner = OwnerService(core)
    let apps = AppService(core, rate: options.appRate)
    for socket in sockets.owner {
      try listen(socket, .owner, limits: OwnerService.limits, admits: { $0.user == user }) {
        owner.reply(to: $0)
      }
    }
    for socket in sockets.apps {
      try listen(
        socket, .apps, limits: AppService.limits, admits: { _ in true },
        entry: { apps.entry(for: $0, answered: $1) }
      ) { apps.reply(to: $0) }
    }
  }

  private func listen(
    _ socket: ListeningSocket, _ door: Metrics.Door,
    limits: SocketServer.Limits,
    admits: @escaping @Sendable (SocketServer.Peer) -> Bool,
    entry:
      @escaping @Sendable (SocketServer.Request, @escaping @Sendable (Int) -> Void) ->
      SocketServer.Entry = { _, _ in .whole },
    _ service: @escaping SocketServer.Service
  ) throws(CommandFailure) {
    let core = core
    let note: @Sendable (SocketServer.Request, Int) -> Void = { request, status in
      let path = Metrics.known(request.message.path)
      core.metrics.count(.request(door, path: path, status: status))
      core.log.debug(
        "request",
        [
          "socket": door.rawValue, "method": Metrics.known(method: request.message.method),
          "path": path, "status": "\(status)", "uid": "\(request.peer.user)",
        ])
    }
    do {
      let server = try SocketServer(listening: socket.descriptor, limits: limits) { peer in
        let isAdmitted = admits(peer)
        core.metrics.count(.connection(door, isAdmitted: isAdmitted))
        if !isAdmitted {
          core.log.warning(
            "a connection of another user was refused",
            ["socket": door.rawValue, "uid": "\(peer.user)", "pid": "\(peer.process)"])
        }
        return isAdmitted
      } entrance: { request in
        entry(request) { note(request, $0) }
      } service: { request in
        let reply = service(request)
        note(request, reply.status)
        return reply
      }
      core.facts.connections.withLock { $0[door, default: []].append { server.connectionCount } }
      servers.withLock { $0.append(server) }
    } catch {
      throw CommandFailure(.io, "\(socket.path): cannot be listened on")
    }
  }

  func sayReady(_ manager: ServiceManager, watchesSession: Bool) {
    let isLocked = core.keeper.standing.locked != nil
    core.log.info(
      "ready",
      [
        "vault": vaultID, "pid": "\(core.facts.process)", "state": isLocked ? "locked" : "unlocked",
        "apps_socket": sockets.appsPath, "locks_with_session": watchesSession ? "yes" : "no",
      ])
    manager.tell("READY=1", "STATUS=\(isLocked ? "locked" : "unlocked")")
  }

  /// Ends: nothing new is taken, what is being answered or committed is finished within seconds.
  func end() {
    core.log.info("ends")
    sockets.remove()
    core.keeper.lock(.end)
    let servers = self.servers.withLock { servers in
      let all = servers
      servers = []
      return all
    }
    let stopped = DispatchGroup()
    for server in servers {
      DispatchQueue.global().async(group: stopped) { server.stop() }
    }
    if stopped.wait(timeout: .now() + .seconds(Self.answerLimit)) != .success {
      core.log.warning("answers that took too long were cut off")
    }
    if !engine.isOver(withinSeconds: Self.renewalLimit) {
      core.log.warning("renewals that took too long were cut off")
    }
  }
}
