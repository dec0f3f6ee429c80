internal import AccountVault
internal import Accounts
internal import Command
internal import Dispatch
internal import Faults
internal import NetworkCommand
internal import Synchronization
internal import Time

/// Renews what is due and tells providers of the tokens that are over, for as long as the vault is
/// unlocked.
///
/// What goes wrong ends neither it nor the agent: it is logged, and tried again after a while.
final class RenewalEngine: Sendable {
  private let network: Network
  private let log: Log
  private let metrics: Metrics
  private let hooks: HookQueue
  /// Told of errors, so that the vault is locked where its keys changed.
  private let met: @Sendable (VaultError) -> Void

  private struct State {
    var running: Task<Void, Never>?
    var nextLook: Timestamp?
    /// Engines that are not over yet: one that was told to stop writes what had been sent.
    let ending = DispatchGroup()
  }
  private let state = Mutex(State())

  /// Seconds between two attempts after errors that concern no provider.
  private static let pauses: [Int64] = [1, 2, 5, 15, 60]

  init(
    _ network: Network, _ log: Log, _ metrics: Metrics, _ hooks: HookQueue,
    met: @escaping @Sendable (VaultError) -> Void
  ) {
    self.network = network
    self.log = log
    self.metrics = metrics
    self.hooks = hooks
    self.met = met
  }

  /// When something is due next; nil where nothing is known to be.
  var nextLook: Timestamp? { state.withLock { $0.nextLook } }

  /// Begins on these sessions, in place of what ran before.
  func start(_ pool: SessionPool) {
    state.withLock { state in
      state.running?.cancel()
      state.nextLook = nil
      let ending = state.ending
      ending.enter()
      state.running = Task.detached { [self] in
        await run(pool)
        ending.leave()
      }
    }
  }

  /// Begins nothing more. What was sent is waited for and written meanwhile.
  func stop() {
    state.withLock { state in
      state.running?.cancel()
      state.running = nil
      state.nextLook = nil
    }
  }

  /// Waits until what was sent is written; false where that takes longer.
  func isOver(withinSeconds limit: Int) -> Bool {
    let ending = state.withLock { $0.ending }
    return ending.wait(timeout: .now() + .seconds(limit)) == .success
  }

  private func run(_ pool: SessionPool) async {
    var failures = 0
    while !Task.isCancelled {
      do throws(VaultError) {
        _ = try await pool.withSession { (session) async throws(VaultError) in
          try await session.renewForever(
            over: network, revocations: { tell($0) }
          ) { renewal, next in
            if let renewal {
              tell(renewal)
            } else {
              failures = 0
              note(next)
            }
          }
        }
        return
      } catch {
        if Task.isCancelled { return }
        metrics.count(.engineFailure)
        let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
        failures += 1
        log.error(
          "renewing stopped, and begins again",
          ["code": error.code.rawValue, "reason": error.message, "seconds": "\(pause)"])
        if error.reason == .keysChanged {
          met(error)
          return
        }
        guard await network.wait(seconds: pause) else { return }
      }
    }
  }

  private func note(_ next: Timestamp?) {
    state.withLock { state in
      // One that was stopped has nothing more to say.
      if !Task.isCancelled { state.nextLook = next }
    }
  }

  private func tell(_ renewal: Renewal) {
    let hook = RenewalLine.hook(renewal)
    if renewal.wasSent || renewal.outcome != .notDue {
      metrics.count(.renewal(renewal.outcome))
      let values = [
        ("account", renewal.account.id.text), ("client", renewal.clientID),
        ("outcome", renewal.outcome.rawValue), ("class", renewal.errorClass ?? ""),
        ("reason", renewal.reason ?? ""), ("generation", "\(renewal.generation)"),
      ].filter { !$0.1.isEmpty }
      log.write(renewal.outcome == .renewed ? .info : .warning, "renewal", values)
    }
    if let hook { hooks.run(hook, RenewalLine.object(renewal, label: false).line) }
  }

  private func tell(_ outcomes: [RevocationOutcome]) {
    for outcome in outcomes {
      metrics.count(.revocation(outcome.state))
      let values = [
        ("type", outcome.revocation.type), ("client", outcome.revocation.clientID),
        ("state", outcome.state.rawValue), ("reason", outcome.reason ?? ""),
      ].filter { !$0.1.isEmpty }
      log.write(
        outcome.state == .later || outcome.state == .givenUp ? .warning : .info, "revocation",
        values)
    }
  }
}
