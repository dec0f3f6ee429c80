package import AccountVault
internal import Dispatch
internal import Faults
internal import Synchronization
internal import Time

/// The agent's hold on one vault: locked, or unlocked with the sessions that requests borrow.
///
/// What does not wait takes turns: no more of it runs at once than sessions are kept open, so that many
/// callers find them open and warm, in the order in which they came, and memory stays as it is. What
/// waits for a provider is no part of that, and holds nobody up.
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

  /// When it locks by itself: seconds, nil for never.
  package struct Limits: Sendable, Equatable {
    /// Since it was used last.
    package var idle: Int64?
    /// Since it was unlocked.
    package var lifetime: Int64?

    package init(idle: Int64? = nil, lifetime: Int64? = nil) {
      self.idle = idle
      self.lifetime = lifetime
    }
  }

  /// What follows the vault's state, told in the order in which it changes: with the sessions where it
  /// was unlocked, nil where it was locked. It must not lock or unlock itself.
  package typealias Follower = @Sendable (SessionPool?, Standing) -> Void

  private struct State {
    var pool: SessionPool?
    var standing: Standing
    var limits = Limits()
    /// Nanoseconds since the machine started.
    var unlockedAt: Int64 = 0
    var usedAt: Int64 = 0
    /// How often it was locked, or would have been.
    var locks = 0
    var observers: [Int: @Sendable () -> Void] = [:]
    var nextObserver = 0
  }

  /// How many sessions are kept open, and run at once of what does not wait.
  private static let sessionLimit = 4

  /// The vault's file, resolved.
  package let path: String
  private let allowNetworkFileSystem: Bool
  private let options: Vault.UnlockOptions
  private let state: Mutex<State>
  /// As many as sessions are kept open.
  private let turns = DispatchSemaphore(value: Keeper.sessionLimit)
  /// Held while the state changes and those who follow it are told, so that they learn of it in order.
  private let change = Mutex<Follower?>(nil)
  /// Gives the key anew where it came from a file: nil where a person must.
  private let again: (@Sendable () throws(VaultError) -> Key?)?

  /// - Parameters:
  ///   - options: How it is unlocked, each time.
  ///   - again: Where the key comes from without a person, who could not unlock it after another
  ///     process gave the vault a new one.
  package init(
    path: String, allowNetworkFileSystem: Bool = false,
    options: Vault.UnlockOptions = Vault.UnlockOptions(),
    again: (@Sendable () throws(VaultError) -> Key?)? = nil
  ) {
    self.path = path
    self.allowNetworkFileSystem = allowNetworkFileSystem
    self.options = options
    self.again = again
    state = Mutex(
      State(standing: Standing(locked: .start, since: options.clock.now())))
  }

  package var standing: Standing { state.withLock { $0.standing } }

  package var clock: Clock { options.clock }

  /// Has `follower` told of each change from now on. There is one.
  package func follow(_ follower: @escaping Follower) { change.withLock { $0 = follower } }

  /// Unlocks the vault. One that is unlocked already is unlocked anew, which proves the key.
  ///
  /// - Parameter limits: When it locks by itself then.
  /// - Throws: ``VaultError``, as unlocking does: it is as it was before then. `locked` where it was
  ///   locked while this went on.
  package func unlock(with key: consuming Key, limits: Limits = Limits()) throws(VaultError) {
    let before = state.withLock { $0.locks }
    let vault = try Vault.open(at: path, allowNetworkFileSystem: allowNetworkFileSystem)
    let session = try vault.unlock(with: key, options: options)
    let pool = SessionPool(vault, session, idleLimit: Self.sessionLimit)
    let now = clock.now()
    let sinceBoot = clock.sinceBoot()
    let (isUnlocked, old) = change.withLock { follower -> (Bool, SessionPool?) in
      let standing = Standing(locked: nil, since: now)
      let (isUnlocked, old) = state.withLock { state -> (Bool, SessionPool?) in
        guard state.locks == before else { return (false, nil) }
        let old = state.pool
        state.pool = pool
        state.standing = standing
        state.limits = limits
        state.unlockedAt = sinceBoot
        state.usedAt = sinceBoot
        return (true, old)
      }
      if isUnlocked { follower?(pool, standing) }
      return (isUnlocked, old)
    }
    // Outside the lock: its end may write to the disk.
    _ = old
    if !isUnlocked {
      throw VaultError(.locked, "the vault was locked meanwhile", hint: "vault unlock")
    }
  }

  /// Locks the vault, and tells those who wait on it.
  package func lock(_ reason: LockReason) { lock(reason, where: { _ in true }) }

  private func lock(_ reason: LockReason, where holds: (State) -> Bool) {
    let now = clock.now()
    let old = change.withLock { follower -> SessionPool? in
      let standing = Standing(locked: reason, since: now)
      let (old, observers) = state.withLock {
        state -> (SessionPool?, [@Sendable () -> Void]) in
        guard holds(state) else { return (nil, []) }
        state.locks += 1
        guard let old = state.pool else { return (nil, []) }
        state.pool = nil
        state.standing = standing
        return (old, Array(state.observers.values))
      }
      guard old != nil else { return nil }
      for observer in observers { observer() }
      follower?(nil, standing)
      return old
    }
    _ = old
  }

  // MARK: Time

  /// When it locks by itself, in nanoseconds since the machine started, and why. Nil where it is locked
  /// or nothing makes it.
  package var deadline: (at: Int64, reason: LockReason)? {
    state.withLock { Self.deadline($0) }
  }

  /// When that is on the wall clock.
  package var locksAt: Timestamp? {
    guard let deadline else { return nil }
    return clock.now() + (deadline.at - clock.sinceBoot()) / 1_000_000_000
  }

  /// Locks it where its time has come.
  package func lockIfDue() {
    guard let deadline, deadline.at <= clock.sinceBoot() else { return }
    // It may have been used since: that is looked at again.
    let now = clock.sinceBoot()
    lock(deadline.reason) { Self.deadline($0).map { $0.at <= now } ?? false }
  }

  private static func deadline(_ state: State) -> (at: Int64, reason: LockReason)? {
    guard state.pool != nil else { return nil }
    let idle = state.limits.idle.map { state.usedAt + $0 * 1_000_000_000 }
    let end = state.limits.lifetime.map { state.unlockedAt + $0 * 1_000_000_000 }
    switch (idle, end) {
    case (let idle?, let end?): return idle < end ? (idle, .idle) : (end, .lifetime)
    case (let idle?, nil): return (idle, .idle)
    case (nil, let end?): return (end, .lifetime)
    case (nil, nil): return nil
    }
  }

  // MARK: Use

  /// The sessions of the unlocked vault, which counts as a use of it.
  ///
  /// - Throws: ``VaultError``: `locked`.
  package func pool() throws(VaultError) -> SessionPool {
    let now = clock.sinceBoot()
    let pool = state.withLock { state in
      if state.pool != nil { state.usedAt = now }
      return state.pool
    }
    guard let pool else { throw .agentIsLocked }
    return pool
  }

  /// The sessions of the unlocked vault, for what is no use of it, such as looking how it stands.
  package var poolUnused: SessionPool? { state.withLock { $0.pool } }

  /// Lends a session, as soon as it is the caller's turn. The body must not ask for another.
  ///
  /// - Throws: ``VaultError``: `locked`; what `body` throws.
  package func withSession<R: ~Copyable>(
    _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    turns.wait()
    defer { turns.signal() }
    do throws(VaultError) {
      return try pool().withSession(body)
    } catch {
      meet(error)
      throw error
    }
  }

  /// Lends a session to what says itself, by ``noteUse()``, whether that was a use of the vault: whoever
  /// shows no good key must not keep it unlocked. The body must not ask for another.
  ///
  /// - Throws: ``VaultError``: `locked`; what `body` throws.
  package func withUnusedSession<R: ~Copyable>(
    _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    turns.wait()
    defer { turns.signal() }
    guard let pool = poolUnused else { throw .agentIsLocked }
    do throws(VaultError) {
      return try pool.withSession(body)
    } catch {
      meet(error)
      throw error
    }
  }

  /// The vault was used.
  package func noteUse() {
    let now = clock.sinceBoot()
    state.withLock { $0.usedAt = now }
  }

  /// The same for what waits.
  package func withSession<R: ~Copyable>(
    _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    do throws(VaultError) {
      return try await pool().withSession(body)
    } catch {
      meet(error)
      throw error
    }
  }

  /// Looks at an error that a session of this vault met. Where another process gave the vault a new
  /// key, it is locked, and unlocked anew where no person is needed for that.
  package func meet(_ error: VaultError) {
    guard error.reason == .keysChanged else { return }
    let (hasPool, limits) = state.withLock { ($0.pool != nil, $0.limits) }
    lock(.keys)
    guard hasPool, let again else { return }
    do throws(VaultError) {
      guard let key = try again() else { return }
      try unlock(with: key, limits: limits)
    } catch {
      // It stays locked, which the standing tells.
    }
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

extension VaultError {
  package static var agentIsLocked: VaultError {
    VaultError(.locked, "the agent's vault is locked", hint: "vault unlock")
  }
}
