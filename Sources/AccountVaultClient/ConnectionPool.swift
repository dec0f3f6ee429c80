internal import Synchronization
internal import UnixSocket

/// What every call of a client shares: the socket, the key, and connections that wait for a further
/// request.
final class ConnectionPool: Sendable {
  let path: String
  let key: AppKey
  let timeouts: AgentClient.Timeouts
  /// The one that was used last is the last.
  private let kept = Mutex<[AgentConnection]>([])
  /// More would count against what the agent lets one user have.
  private static let limit = 4

  init(path: String, key: consuming AppKey, timeouts: AgentClient.Timeouts) {
    self.path = path
    self.key = key
    self.timeouts = timeouts
  }

  /// A connection that can take a request, and whether it has served one before.
  ///
  /// - Parameter isFresh: Whether none that was kept will do.
  func take(isFresh: Bool = false) async throws(SocketError) -> (AgentConnection, isKept: Bool) {
    while !isFresh, let connection = kept.withLock({ $0.popLast() }) {
      if connection.isQuiet { return (connection, true) }
    }
    return (
      try await AgentConnection.open(path, writePatience: timeouts.write.milliseconds), false
    )
  }

  /// Keeps a connection whose answer was read to its end.
  func giveBack(_ connection: AgentConnection) {
    kept.withLock { kept in
      if kept.count == Self.limit { kept.removeFirst() }
      kept.append(connection)
    }
  }
}

extension Duration {
  /// At least one.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 40 else { return 1 << 50 }
    return max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }
}
