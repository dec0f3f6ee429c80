internal import Synchronization
internal import UnixSocket

/// The body of an answer, piece by piece as it comes. It can be read once.
public struct ResponseBody: AsyncSequence, Sendable {
  public typealias Element = [UInt8]
  public typealias Failure = AgentError

  let reader: BodyReader

  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: BodyReader

    /// The next piece, which is not empty; nil at the end.
    ///
    /// - Throws: ``AgentError`` where the connection breaks before the end: what came is not all.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AgentError) -> [UInt8]? {
      try await reader.next()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

  /// All that is left of it.
  ///
  /// - Throws: ``AgentError``: `usage` (``AgentError/Cause/answer``) where it has more bytes than `limit`.
  public func bytes(limit: Int = 16 << 20) async throws(AgentError) -> [UInt8] {
    var all: [UInt8] = []
    while let piece = try await reader.next() {
      guard all.count + piece.count <= limit else {
        reader.cut()
        throw AgentError(.usage, .answer, "the answer has more than \(limit) bytes")
      }
      all += piece
    }
    return all
  }
}

/// Reads a body from its connection, which it keeps from other calls until then.
final class BodyReader: Sendable {
  private let connection: AgentConnection
  private let pool: ConnectionPool
  private let body: Mutex<UnixConnection.Body>
  /// Whether the connection went back to the pool, or was cut.
  private let isDone = Mutex(false)

  init(_ connection: AgentConnection, _ body: UnixConnection.Body, _ pool: ConnectionPool) {
    self.connection = connection
    self.body = Mutex(body)
    self.pool = pool
    if body.isOver { finish(body) }
  }

  deinit { cut() }

  /// The next piece, which is not empty; nil at the end.
  func next() async throws(AgentError) -> [UInt8]? {
    if isDone.withLock({ $0 }) { return nil }
    let patience = pool.timeouts.pause.milliseconds
    let (piece, body): ([UInt8], UnixConnection.Body)
    do throws(SocketError) {
      (piece, body) = try await connection.use { (connection) throws(SocketError) in
        connection.patience = patience
        var body = self.body.withLock { $0 }
        var taken: [UInt8] = []
        while !body.isOver, taken.isEmpty {
          taken = try connection.receivePiece(of: &body)
        }
        self.body.withLock { $0 = body }
        return (taken, body)
      }
    } catch {
      cut()
      throw Task.isCancelled ? .cancelled : AgentError(error, at: pool.path)
    }
    if body.isOver { finish(body) }
    return piece.isEmpty ? nil : piece
  }

  private func finish(_ body: UnixConnection.Body) {
    let isFirst = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    guard isFirst else { return }
    if body.leavesConnection { pool.giveBack(connection) } else { connection.cut() }
  }

  /// Gives up what is left of it.
  func cut() {
    let isFirst = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    if isFirst { connection.cut() }
  }
}
