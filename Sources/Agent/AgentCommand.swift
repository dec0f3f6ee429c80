internal import AccountVault
internal import AccountVaultNetwork
internal import CSystem
internal import Command
internal import Faults
internal import FileSystem
internal import Listener
internal import Sodium

/// `vault agent`: holds the unlocked vault and answers on two sockets until it is told to end.
enum AgentCommand {
  /// - Parameter background: Where this process is the one that stays after `--background`.
  static func run(
    _ context: inout Context, _ background: Background?
  ) throws(CommandFailure) -> ExitStatus {
    let options = try AgentOptions(context)
    if context.arguments.has("background"), background == nil {
      return try Background.start(context)
    }
    let manager = try ServiceManager(
      context.invocation.environment, process: RunningProcess.current)
    // Before anything is done that a signal must not cut off.
    var loop = try LifeLoop(leader: background?.takeLeader())
    let log = Log(
      limit: options.log.level, isJSON: options.log.isJSON, clock: context.invocation.clock,
      write: context.terminal.errorWriter)
    let vault = try context.openVault()
    let place = try RuntimePlace(
      vaultID: vault.id, vaultPath: vault.path, environment: context.invocation.environment)
    try place.index()
    defer { if manager.sockets.isEmpty { place.removeIndex() } }
    let sockets = try AgentSockets(place, options.apps, manager)
    let agent: ServingAgent
    do throws(CommandFailure) {
      agent = try ServingAgent(context, vault, options, place, sockets, log, loop.waker)
      try agent.unlockAtStart(context)
      context.invocation.forgetInheritedKey()
      try agent.listen()
      try background?.tellReady()
    } catch {
      sockets.remove()
      throw error
    }
    agent.sayReady(manager, watchesSession: loop.watchesSession)
    loop.run(agent.core.keeper, manager, log)
    manager.tell("STOPPING=1", "STATUS=ends")
    agent.end()
    return .ok
  }
}
