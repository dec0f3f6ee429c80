package import AccountVault
internal import Faults
internal import Synchronization
internal import Time

/// The agent's hold on one vault: locked, or unlocked with the sessions that requests borrow.
///
/// Locking drops the pool of sessions; what still runs on a borrowed one ends by itself, and the keys
/// are wiped with the last of them.
package final class Keeper: Sendable {
  /// Why the vault is locked.
  package enum LockReason: String, Sendable {
    /// Nobody has unlocked it since the agent began.
    case start
    /// `vault lock`.
    case owner
    /// Nothing was asked of it for so long.
    case idle
    /// It was open for as long as it may be.
    case lifetime
    /// SIGUSR1 or SIGHUP.
    case signal
    /// The login session from which the agent was started is over.
    case session
    /// Another process gave the vault a new key.
    case keys
    /// The agent ends.
    case end
  }

  /// What the owner is told of it.
  package struct Standing: Sendable {
    /// Nil where it is unlocked.
    package var locked: LockReason?
    /// Since when it is so.
    package var since: Timestamp
  }

  private struct State {
    var pool: SessionPool?
    var standing: Standing
    var observers: [Int: @Sendable () -> Void] = [:]
    var nextObserver = 0
  }

  /// The vault's file, resolved.
  package let path: String
  private let allowNetworkFileSystem: Bool
  private let options: Vault.UnlockOptions
  private let state: Mutex<State>

  /// - Parameter options: How it is unlocked, each time.
  package init(
    path: String, allowNetworkFileSystem: Bool = false,
    options: Vault.UnlockOptions = Vault.UnlockOptions()
  ) {
    self.path = path
    self.allowNetworkFileSystem = allowNetworkFileSystem
    self.options = options
    state = Mutex(
      State(standing: Standing(locked: .start, since: options.clock.now())))
  }

  package var standing: Standing { state.withLock { $0.standing } }

  package var clock: Clock { options.clock }

  /// Unlocks the vault. One that is unlocked already is unlocked anew, which proves the key.
  ///
  /// - Throws: ``VaultError``, as unlocking does: it is as it was before then.
  package func unlock(with key: consuming Key) throws(VaultError) {
    let vault = try Vault.open(at: path, allowNetworkFileSystem: allowNetworkFileSystem)
    let session = try vault.unlock(with: key, options: options)
    let pool = SessionPool(vault, session)
    let now = clock.now()
    let old = state.withLock { state in
      let old = state.pool
      state.pool = pool
      state.standing = Standing(locked: nil, since: now)
      return old
    }
    // Outside the lock: its end may write to the disk.
    _ = old
  }

  /// Locks the vault, and tells those who wait on it.
  package func lock(_ reason: LockReason) {
    let now = clock.now()
    let (old, observers) = state.withLock { state -> (SessionPool?, [@Sendable () -> Void]) in
      guard let old = state.pool else { return (nil, []) }
      state.pool = nil
      state.standing = Standing(locked: reason, since: now)
      return (old, Array(state.observers.values))
    }
    for observer in observers { observer() }
    _ = old
  }

  /// The sessions of the unlocked vault.
  ///
  /// - Throws: ``VaultError``: `locked`.
  package func pool() throws(VaultError) -> SessionPool {
    guard let pool = state.withLock({ $0.pool }) else {
      throw VaultError(.locked, "the agent's vault is locked", hint: "vault unlock")
    }
    return pool
  }

  /// Lends a session.
  ///
  /// - Throws: ``VaultError``: `locked`; what `body` throws.
  package func withSession<R: ~Copyable>(
    _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try pool().withSession(body)
  }

  /// The same for what waits.
  package func withSession<R: ~Copyable>(
    _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    try await pool().withSession(body)
  }

  /// Has `observer` called, on any thread, each time that the vault is locked, until it is forgotten.
  package func whenLocked(_ observer: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      return state.nextObserver
    }
  }

  package func forget(_ observer: Int) {
    state.withLock { $0.observers[observer] = nil }
  }
}
