internal import AccountVault
internal import AccountVaultNetwork
package import Command
internal import Faults
internal import CSystem
internal import FileSystem
internal import Listener
internal import UnixSocket

/// `vault agent`: holds the unlocked vault and answers on two sockets until it is told to end.
package enum AgentCommand {
  package static func run(_ context: inout Context) async throws(CommandFailure) -> ExitStatus {
    let vault = try context.openVault()
    guard let runtime = try context.invocation.environment.value("XDG_RUNTIME_DIR") else {
      throw CommandFailure(.config, "$XDG_RUNTIME_DIR is not set, and the sockets stand there")
    }
    let directory = "\(runtime)/vault/\(vault.id)"
    do throws(FileError) {
      try Files.makeDirectories(directory)
    } catch {
      throw CommandFailure(.io, "\(directory): cannot be made")
    }
    let keeper = Keeper(path: vault.path, options: try context.unlockOptions())
    if let key = try context.secrets.givenKey() {
      do throws(VaultError) { try keeper.unlock(with: key) } catch { throw CommandFailure(error) }
    }
    let core = AgentCore(
      keeper: keeper, network: .system(version: Release.version),
      log: Log(write: context.terminal.errorWriter))
    let user = vault_effective_user()
    let owner = OwnerService(core)
    let apps = AppService(core)
    let servers = [
      try server(directory + "/owner.sock", admits: { $0.user == user }) { owner.reply(to: $0) },
      try server(directory + "/apps.sock", admits: { _ in true }) { apps.reply(to: $0) },
    ]
    core.log.info("ready", ["vault": vault.id])
    EndSignal.note()
    while !EndSignal.wasAsked { try? await Task.sleep(nanoseconds: 100_000_000) }
    for server in servers { server.stop() }
    keeper.lock(.end)
    return .ok
  }

  private static func server(
    _ path: String, admits: @escaping @Sendable (SocketServer.Peer) -> Bool,
    _ service: @escaping SocketServer.Service
  ) throws(CommandFailure) -> SocketServer {
    do {
      let socket = try UnixListener.open(path: path, mode: 0o600)
      return try SocketServer(listening: socket, admits: admits, service: service)
    } catch {
      throw CommandFailure(.io, "\(path): cannot be listened on")
    }
  }
}
