internal import FileSystem
internal import Synchronization
package import Time

/// What stays the same while one agent runs, for the owner.
package final class AgentFacts: Sendable {
  let vault: String
  let process: Int32
  let appsSocket: String
  let started: Timestamp
  /// When the vault locks by itself after it was unlocked so.
  let limits: @Sendable (_ isUnattended: Bool) -> Keeper.Limits
  /// When something is to be renewed next.
  let nextRenewal = Mutex<@Sendable () -> Timestamp?>({ nil })
  /// How many connections each server has.
  let connections = Mutex<[Metrics.Door: [@Sendable () -> Int]]>([:])

  let census = Census()

  package init(
    vault: String = "", appsSocket: String = "", started: Timestamp = Clock.system.now(),
    limits: @escaping @Sendable (_ isUnattended: Bool) -> Keeper.Limits = { _ in Keeper.Limits() }
  ) {
    self.vault = vault
    self.appsSocket = appsSocket
    self.started = started
    self.limits = limits
    process = RunningProcess.current
  }
}
