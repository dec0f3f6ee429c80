internal import Dispatch
internal import Synchronization
internal import UnixSocket

/// A connection to the agent. What waits on it holds a thread of its own, none of the cooperative pool.
///
/// One task uses it at a time. Where that task is cancelled the connection is cut.
final class AgentConnection: Sendable {
  private let queue: DispatchQueue
  private let connection: Mutex<UnixConnection>
  private let cutter: UnixConnection.Cutter

  private init(_ connection: consuming sending UnixConnection, _ queue: DispatchQueue) {
    self.queue = queue
    cutter = connection.cutter
    self.connection = Mutex(connection)
  }

  /// - Parameter writePatience: Milliseconds that connecting and each write may wait.
  static func open(
    _ path: String, writePatience: Int64
  ) async throws(SocketError) -> AgentConnection {
    let queue = DispatchQueue(label: "AccountVaultClient")
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<AgentConnection, SocketError>, Never>) in
      queue.async {
        do throws(SocketError) {
          let connection = try UnixConnection(path: path, writePatience: writePatience)
          continuation.resume(returning: .success(AgentConnection(connection, queue)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }

  /// Runs `body`, which may wait, on the connection's thread.
  func use<Value: Sendable>(
    _ body: @escaping @Sendable (inout UnixConnection) throws(SocketError) -> Value
  ) async throws(SocketError) -> Value {
    let cutter = cutter
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation {
        (continuation: CheckedContinuation<Result<Value, SocketError>, Never>) in
        queue.async {
          continuation.resume(
            returning: self.connection.withLock { connection in
              do throws(SocketError) { return .success(try body(&connection)) } catch {
                return .failure(error)
              }
            })
        }
      }
    } onCancel: {
      cutter.cut()
    }
    return try result.get()
  }

  /// Whether it can take a further request. No task uses it.
  var isQuiet: Bool { connection.withLock { $0.isQuiet } }

  /// Ends it.
  func cut() { cutter.cut() }
}
