internal import UnixSocket

/// One request to the agent: what stands in its head, but for the key.
struct Call: Sendable {
  enum Payload: Sendable {
    case nothing
    case bytes([UInt8])
    case stream(RequestBody.Stream)
  }

  var method: String
  /// Path and query, encoded.
  var target: String
  var headers: [(name: String, value: String)] = []
  var payload = Payload.nothing
  /// Whether it does no harm if the agent gets it twice.
  var isRepeatable = true
  /// Milliseconds until the answer begins.
  var patience: Int64?

  /// Sent once. The agent asks for a stream before it begins (`100 Continue`), so that none is begun in
  /// vain.
  func begin(
    on connection: AgentConnection, _ pool: ConnectionPool
  ) async throws(AgentError) -> UnixConnection.Head {
    var head = "\(method) \(target) HTTP/1.1\r\nHost: vault\r\n"
    for header in headers { head += "\(header.name): \(header.value)\r\n" }
    switch payload {
    // RFC 9110 section 8.6: these have a body, if an empty one.
    case .nothing: if ["POST", "PUT", "PATCH"].contains(method) { head += "Content-Length: 0\r\n" }
    case .bytes(let bytes): head += "Content-Length: \(bytes.count)\r\n"
    case .stream(let stream):
      head += stream.length.map { "Content-Length: \($0)\r\n" } ?? "Transfer-Encoding: chunked\r\n"
      head += "Expect: 100-continue\r\n"
    }
    head += "Authorization: Bearer "
    let start = head
    let payload = payload
    let patience = patience ?? pool.timeouts.answer.milliseconds
    var answer: UnixConnection.Head
    do throws(SocketError) {
      answer = try await connection.use { (connection) throws(SocketError) in
        connection.patience = patience
        guard try connection.send(start), try connection.send(pool.key.bytes),
          try connection.send("\r\n\r\n")
        else { return try connection.receiveHead() }
        if case .bytes(let bytes) = payload { try connection.send(bytes) }
        if case .stream = payload { return try connection.receiveAnyHead() }
        return try connection.receiveHead()
      }
    } catch {
      throw Task.isCancelled ? .cancelled : AgentError(error, at: pool.path)
    }
    guard case .stream(let stream) = payload else { return answer }
    guard answer.status < 200 else {
      // The agent still waits for a body, or thinks that it does.
      answer.isLast = true
      return answer
    }
    let upload = Upload(connection, isChunked: stream.length == nil, path: pool.path)
    let isWhole = try await stream.send(to: upload)
    do throws(SocketError) {
      answer = try await connection.use { (connection) throws(SocketError) in
        try connection.receiveHead()
      }
    } catch {
      throw Task.isCancelled ? .cancelled : AgentError(error, at: pool.path)
    }
    answer.isLast = !isWhole
    return answer
  }
}

extension ConnectionPool {
  /// Sends a call and waits for the head of its answer. A kept connection that died meanwhile is replaced
  /// where the call may be repeated.
  func begin(
    _ call: Call
  ) async throws(AgentError) -> (AgentConnection, UnixConnection.Head) {
    var isFresh = false
    while true {
      if Task.isCancelled { throw .cancelled }
      let connection: AgentConnection
      let isKept: Bool
      do throws(SocketError) {
        (connection, isKept) = try await take(isFresh: isFresh)
      } catch {
        throw AgentError(error, at: path)
      }
      do throws(AgentError) {
        return (connection, try await call.begin(on: connection, self))
      } catch {
        connection.cut()
        guard error.cause == .connectionLost, isKept, call.isRepeatable, !isFresh else {
          throw error
        }
        isFresh = true
      }
    }
  }

  /// Sends a call and reads its whole answer.
  ///
  /// - Throws: ``AgentError``, also for an answer that is an error.
  func finish<Value: Decodable & Sendable>(
    _ call: Call, _ type: Value.Type
  ) async throws(AgentError) -> Value {
    let (connection, head) = try await begin(call)
    let answer = try await whole(connection, head)
    guard (200..<300).contains(head.status) else { throw AgentError(head, answer.bytes) }
    do { return try JSONAnswer.decode(type, answer.bytes) } catch {
      throw AgentError.notUnderstood("what \(call.target.prefix { $0 != "?" }) answers")
    }
  }

  /// Bytes that go from thread to thread.
  final class Whole: Sendable {
    let bytes: WipedBytes

    init(_ bytes: consuming WipedBytes) { self.bytes = bytes }
  }

  /// Most bytes of an answer that is read whole.
  private static let answerLimit = 64 << 20

  func whole(
    _ connection: AgentConnection, _ head: UnixConnection.Head
  ) async throws(AgentError) -> Whole {
    let whole: Whole
    let isKept: Bool
    do throws(SocketError) {
      (whole, isKept) = try await connection.use { (connection) throws(SocketError) in
        var body = UnixConnection.Body(head)
        var bytes = WipedBytes()
        while !body.isOver {
          try connection.receivePiece(of: &body) { bytes.append($0) }
          guard bytes.count <= Self.answerLimit else { throw .broken }
        }
        return (Whole(bytes), body.leavesConnection)
      }
    } catch {
      connection.cut()
      throw Task.isCancelled ? .cancelled : AgentError(error, at: path)
    }
    if isKept { giveBack(connection) }
    return whole
  }
}
