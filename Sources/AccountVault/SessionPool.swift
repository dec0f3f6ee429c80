public import Faults
import Store
import Synchronization

/// An unlocked vault for many tasks at once: a session serves one at a time, so each borrows one of
/// its own, and the pool opens another where none is free.
///
/// Dropping the pool, and every session that is lent, wipes the keys.
public final class SessionPool: Sendable {
  private let vault: Vault
  private let options: Vault.UnlockOptions
  private let idle: Mutex<[Held]>
  private let limit: Int
  /// Opens the others; wiped with the pool.
  private let key: UnlockedKey
  private let pauses: RequestPauses

  /// A session in a place that can be handed between threads. Whoever holds the reference is the only
  /// one that uses it.
  private final class Held: @unchecked Sendable {
    let session: Session
    init(_ session: consuming Session) { self.session = session }
  }

  /// - Parameters:
  ///   - first: Already unlocked; its key opens the others.
  ///   - idleLimit: How many are kept open while nobody needs them.
  public init(
    _ vault: Vault, _ first: consuming sending Session, idleLimit: Int = 4
  ) {
    self.vault = vault
    options = first.options
    limit = max(1, idleLimit)
    key = first.store.unlockedKey
    path = first.store.path
    pauses = first.pauses
    idle = Mutex([Held(first)])
  }

  /// Lends a session.
  ///
  /// - Throws: ``VaultError``: what `body` throws; where another session must be opened, as
  ///   ``Vault/unlock(with:options:)``.
  public func withSession<R: ~Copyable>(
    _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let held = try take()
    defer { give(held) }
    return try body(held.session)
  }

  /// The same for what waits: the session is the body's until it returns.
  public func withSession<R: ~Copyable>(
    _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    let held = try take()
    defer { give(held) }
    return try await body(held.session)
  }

  /// Writes the counts of uses that idle sessions still hold.
  public func flush() throws(VaultError) {
    let all = idle.withLock { idle in
      let all = idle
      idle = []
      return all
    }
    defer { for held in all { give(held) } }
    for held in all { try held.session.flush() }
  }

  /// The key of the vault, for another process of the same owner. It is worth as much as the vault.
  package func lentKey() -> Key { .lent(Secret(key.bytes)) }

  /// The vault as it was opened first.
  package var openedVault: Vault { vault }

  /// Where heads are kept outside vault files, as the pool's sessions have it.
  package var headDirectory: String? { options.headDirectory }

  /// The vault's file, resolved.
  let path: String

  /// The one that was used last, whose memory is warm; else a new one.
  private func take() throws(VaultError) -> Held {
    if let held = idle.withLock({ $0.popLast() }) { return held }
    let store = try vault.takeFile().unlock(with: key)
    return Held(try Session(store, options: options, pauses: pauses))
  }

  private func give(_ held: Held) {
    let dropped = idle.withLock { idle -> Held? in
      if idle.count < limit {
        idle.append(held)
        return nil
      }
      return held
    }
    // Outside the lock: its end may write to the disk.
    _ = dropped
  }
}
