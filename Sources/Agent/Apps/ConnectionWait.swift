internal import Dispatch
internal import Faults
internal import Synchronization

/// Waits on a connection's thread for what is done in tasks: the one place where the agent's services,
/// which are called and return, meet what calls out.
///
/// It cannot deadlock. The thread is libmicrohttpd's own, one for each connection, and none of those on
/// which Swift runs tasks: so tasks go on while it is blocked, however many connections wait. It holds
/// no lock and no session meanwhile, so nothing that the task needs is held by it. And the work ends:
/// each of its requests has a limit of time, and it is cancelled when the vault is locked, which also
/// comes first when the agent ends.
enum ConnectionWait {
  private final class Box<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, VaultError>?>(nil)
  }

  /// The value of work that is done in a task of its own.
  ///
  /// - Throws: ``VaultError``: what the work throws; it decides what being cancelled means to it, and a
  ///   renewal that was sent is still written down.
  static func value<Value: Sendable>(
    of keeper: Keeper, _ work: @escaping @Sendable () async throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    let watch = LockWatch(keeper)
    defer { watch.forget() }
    let box = Box<Value>()
    let done = DispatchSemaphore(value: 0)
    let task = Task.detached {
      let result: Result<Value, VaultError>
      do throws(VaultError) { result = .success(try await work()) } catch {
        result = .failure(error)
      }
      box.result.withLock { $0 = result }
      done.signal()
    }
    watch.end(task)
    done.wait()
    guard let result = box.result.withLock({ $0 }) else {
      throw VaultError(.failed, "the work ended without a result")
    }
    return try result.get()
  }
}
