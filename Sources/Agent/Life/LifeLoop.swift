internal import CSystem
internal import Command
internal import FileSystem
internal import Time

/// What the agent's first thread does: it stands in the kernel until a signal comes, a login session
/// ends, the vault's time is over, or the service manager waits for a sign of life.
struct LifeLoop: ~Copyable {
  /// Numbers of `signal(7)` on Linux, the same on every machine that Swift runs on.
  private enum Signal {
    static let hangup: Int32 = 1
    static let interrupt: Int32 = 2
    static let user1: Int32 = 10
    static let terminate: Int32 = 15
  }

  private let signals: Descriptor
  /// Can be read once the session's leader has ended.
  private var leader: Descriptor?
  /// Can be read when the vault's state has changed, and with it the next deadline.
  private let wakes: Descriptor
  private let wake: Descriptor

  /// From now on signals end nothing by themselves.
  ///
  /// - Parameter leader: The process whose end locks the vault, as a descriptor; the session's own
  ///   where it is nil.
  init(leader given: consuming Descriptor?) throws(CommandFailure) {
    var ends: [Int32] = [-1, -1]
    let number = vault_signals_open()
    guard number >= 0, unsafe vault_open_wake(&ends) == 0 else {
      throw CommandFailure(.failed, "signals: \(SystemText.of(vault_errno()))")
    }
    signals = Descriptor(adopting: number, path: "signals")
    wakes = Descriptor(adopting: ends[0], path: "wakes")
    wake = Descriptor(adopting: ends[1], path: "wake")
    if let given = consume given {
      leader = consume given
    } else {
      leader = Self.sessionLeader()
    }
  }

  /// The leader of this process's session, where that is another process and alive.
  static func sessionLeader() -> Descriptor? {
    let process = vault_session_leader()
    guard process > 0 else { return nil }
    let number = vault_process_descriptor(process)
    return number < 0 ? nil : Descriptor(adopting: number, path: "session leader")
  }

  var watchesSession: Bool { leader != nil }

  /// Has the loop look at the vault's deadline again. From any thread, while the loop lives.
  var waker: @Sendable () -> Void {
    let number = wake.rawValue
    return { vault_wake_up(number) }
  }

  /// Returns when the agent is to end.
  mutating func run(_ keeper: Keeper, _ manager: ServiceManager, _ log: Log) {
    var nextSign = manager.watchdog.map { _ in keeper.clock.sinceBoot() }
    while true {
      let now = keeper.clock.sinceBoot()
      if let interval = manager.watchdog, let due = nextSign, due <= now {
        // The standing is behind the lock that every request needs: who cannot have it is not alive.
        _ = keeper.standing
        manager.tell("WATCHDOG=1")
        nextSign = now + interval
      }
      keeper.lockIfDue()
      let deadlines = [nextSign, keeper.deadline?.at].compactMap { $0 }
      let wait = deadlines.min().map { max(0, ($0 - keeper.clock.sinceBoot()) / 1_000_000 + 1) }
      let watched = [signals.rawValue, wakes.rawValue, leader?.rawValue ?? -1]
      // Our own array, lent for the call.
      let ready = unsafe vault_wait_readable(watched, 3, wait ?? -1)
      if ready & 2 != 0 { while vault_signals_next(wakes.rawValue) != 0 {} }
      if ready & 4 != 0 {
        leader = nil
        log.info("the login session is over")
        keeper.lock(.session)
      }
      if ready & 1 != 0, takeSignals(keeper) { return }
    }
  }

  /// Does what the signals that came ask for; whether one of them ends the agent.
  private func takeSignals(_ keeper: Keeper) -> Bool {
    while true {
      switch vault_signals_next(signals.rawValue) {
      case Signal.hangup, Signal.user1: keeper.lock(.signal)
      case Signal.terminate, Signal.interrupt: return true
      default: return false
      }
    }
  }
}
