internal import Synchronization

/// Ends a task where the vault is locked.
///
/// It is made before the vault is looked at for that task, so that no lock falls between: a task that is
/// given to it after one is cancelled at once.
final class LockWatch: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isOver = false
  }

  private final class Watched: Sendable {
    let state = Mutex(State())
  }

  private let keeper: Keeper
  private let observer: Int
  private let watched = Watched()

  /// - Parameter ends: Whether a lock for this reason ends the task.
  init(_ keeper: Keeper, ends: @escaping @Sendable (Keeper.LockReason) -> Bool = { _ in true }) {
    self.keeper = keeper
    let watched = watched
    observer = keeper.whenLocked {
      // Unlocked anew already: whichever it was is not known any more.
      if let reason = keeper.standing.locked, !ends(reason) { return }
      let task = watched.state.withLock { state in
        state.isOver = true
        return state.task
      }
      task?.cancel()
    }
  }

  func end(_ task: Task<Void, Never>) {
    let isLate = watched.state.withLock { state in
      state.task = task
      return state.isOver
    }
    if isLate { task.cancel() }
  }

  /// The task is over.
  func forget() { keeper.forget(observer) }
}
