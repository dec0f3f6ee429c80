import Encoding
import Faults
import FileSystem
import Store
import Time

/// The lock under which one credential is renewed, across threads and processes.
///
/// One byte of a file beside the vault: the byte is a part of the credential's keyed row key, so it
/// names nobody. The kernel frees it when its holder dies, however it dies; the file's content means
/// nothing and is never read (DESIGN section 6, SECURITY section 4.1).
final class RenewalLock: Sendable {
  private let lock: FileLock

  private init(_ lock: consuming FileLock) { self.lock = lock }

  /// Keeps the lock until here.
  func hold() { withExtendedLifetime(lock) {} }

  /// Milliseconds after which a waiter gives up: longer than any exchange may take, its repetitions for
  /// a nonce and a clock included.
  static let patience: Int64 = 110_000

  /// Takes the lock, or gives nil where another holds it.
  static func take(_ key: Key16, of store: Store) throws(VaultError) -> RenewalLock? {
    do throws(FileError) {
      let byte = Int64(key.low >> 2)
      guard let lock = try FileLock.acquire(store.path + ".lock", byte: byte, wait: false) else {
        return nil
      }
      return RenewalLock(lock)
    } catch {
      throw .file(error, "locking a credential")
    }
  }

  /// Takes the lock, waiting for whoever holds it. The thread is free meanwhile.
  ///
  /// - Throws: ``VaultError`` with reason `busy` after ``patience``, or where the task is cancelled.
  static func wait(
    for key: Key16, of store: Store, _ network: Network
  ) async throws(VaultError) -> RenewalLock {
    let end = network.clock.sinceBoot() + patience * 1_000_000
    var pause: Int64 = 2_000_000
    while true {
      if let lock = try take(key, of: store) { return lock }
      let now = network.clock.sinceBoot()
      guard now < end, await network.wait(now + network.random(pause / 2...pause)) else {
        throw VaultError(
          .tryAgain, "another process is renewing this credential", hint: "vault renew",
          reason: .busy)
      }
      pause = min(pause * 2, 100_000_000)
    }
  }
}
