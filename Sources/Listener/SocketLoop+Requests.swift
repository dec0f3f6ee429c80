internal import CMicroHTTPD
internal import Sodium
internal import Synchronization
internal import Time

/// What libmicrohttpd calls on a connection's thread.
extension SocketLoop {
  /// Called for a request's head, for each piece of its body, and at its end.
  func answer(
    _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ piece: UnsafeRawBufferPointer,
    _ count: UnsafeMutablePointer<Int>, _ exchange: SocketExchange
  ) -> MHD_Result {
    if !exchange.isBegun { return unsafe begin(connection, method, exchange) }
    if unsafe !piece.isEmpty {
      // All of it is taken, whatever becomes of it.
      unsafe count.pointee = 0
      if let streamed = exchange.streamed {
        return unsafe receive(piece.bytes, of: streamed, connection, exchange)
      }
      return unsafe exchange.receive(piece.bytes, limit: limits.body) ? .YES : .NO
    }
    if let streamed = exchange.streamed {
      unsafe setDeadline(.max, of: connection)
      streamed.body?.finish(isWhole: true)
      return unsafe finish(streamed, connection, exchange, isHead: false)
    }
    if exchange.isTooLong(limits.body) { return unsafe send(limits.tooLong, connection) }
    guard
      let request = unsafe request(connection, method, exchange, body: exchange.takeBody())
    else { return .NO }
    // The service has its own limits; from here the client waits for us.
    unsafe setDeadline(.max, of: connection)
    let reply = service(request)
    exchange.afterwards = reply.afterwards
    unsafe vault_connection_touch(connection, UInt32(limits.idle))
    return unsafe send(reply, connection)
  }

  /// The head is there.
  private func begin(
    _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ exchange: SocketExchange
  ) -> MHD_Result {
    exchange.begin()
    let socket = unsafe vault_connection_socket(connection)
    connections.withLock { $0[socket]?.free = nil }
    guard unsafe Framing.isClear(of: connection) else {
      var refusal = limits.unclear
      // What stands behind the head is nobody's next request.
      refusal.headers.append(("Connection", "close"))
      return unsafe send(refusal, connection)
    }
    let announced = unsafe header("Content-Length", of: connection)
    if let entrance {
      let empty = SharedSecret(SecretBytes(count: 0))
      guard let request = unsafe request(connection, method, exchange, body: empty) else {
        return .NO
      }
      switch entrance(request) {
      case .whole: break
      case .answered(let reply):
        exchange.afterwards = reply.afterwards
        return unsafe send(reply, connection)
      case .streamed(let serve):
        return unsafe begin(serve, request, announced: announced, connection, exchange)
      }
    }
    if exchange.begin(length: announced, limit: limits.body) { return .YES }
    return unsafe send(limits.tooLong, connection)
  }

  private func begin(
    _ serve: @Sendable (StreamedRequest) -> Void, _ request: SocketServer.Request,
    announced: String?, _ connection: OpaquePointer, _ exchange: SocketExchange
  ) -> MHD_Result {
    // libmicrohttpd has refused what is no number.
    let length = announced.map { UInt64($0) ?? .max }
    if let length, length > UInt64(limits.streamedBody) {
      return unsafe send(limits.tooLong, connection)
    }
    let isChunked = unsafe header("Transfer-Encoding", of: connection) != nil
    let streamed: StreamedRequest
    do throws(ListenerError) {
      streamed = try StreamedRequest(
        request, hasBody: isChunked || (length ?? 0) > 0,
        length: isChunked ? nil : length.map { Int64($0) })
    } catch {
      return unsafe send(.unavailable, connection)
    }
    exchange.streamed = streamed
    unsafe setDeadline(.max, of: connection)
    serve(streamed)
    // What has no body is whole at once, and answered then.
    guard streamed.body != nil else { return .YES }
    return unsafe finish(streamed, connection, exchange, isHead: true)
  }

  /// Takes a piece of a body that is read while it comes.
  private func receive(
    _ piece: RawSpan, of streamed: StreamedRequest, _ connection: OpaquePointer,
    _ exchange: SocketExchange
  ) -> MHD_Result {
    exchange.streamedCount += Int64(piece.byteCount)
    guard exchange.streamedCount <= limits.streamedBody else { return .NO }
    let isDropped = streamed.body?.isDropped == true
    // Waiting for room is not the client's fault.
    if !isDropped { unsafe setDeadline(.max, of: connection) }
    let socket = unsafe vault_connection_socket(connection)
    guard streamed.receive(piece, socket, patience: limits.stall) else { return .NO }
    unsafe vault_connection_touch(connection, UInt32(limits.idle))
    if !isDropped { unsafe setDeadline(milliseconds() + limits.stall, of: connection) }
    return .YES
  }

  /// Waits for the answer, and sends it; at the head also for whoever reads the body.
  private func finish(
    _ streamed: StreamedRequest, _ connection: OpaquePointer, _ exchange: SocketExchange,
    isHead: Bool
  ) -> MHD_Result {
    let socket = unsafe vault_connection_socket(connection)
    let turn = streamed.wait(socket, isHead: isHead)
    unsafe vault_connection_touch(connection, UInt32(limits.idle))
    switch turn {
    case .hungUp: return .NO
    case .body:
      unsafe setDeadline(milliseconds() + limits.stall, of: connection)
      return .YES
    case .answer(let reply):
      exchange.afterwards = reply.afterwards
      return unsafe send(reply, connection)
    }
  }

  private func header(_ name: String, of connection: OpaquePointer) -> String? {
    let value = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name)
    return unsafe value.map { unsafe String(cString: $0) }
  }

  /// Nil for a connection that is over.
  private func request(
    _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ exchange: SocketExchange,
    body: SharedSecret
  ) -> SocketServer.Request? {
    let socket = unsafe vault_connection_socket(connection)
    guard let peer = connections.withLock({ $0[socket]?.peer }) else { return nil }
    let shown = unsafe exchange.headers ?? Headers.take(of: connection)
    exchange.headers = shown
    return unsafe SocketServer.Request(
      peer: peer,
      message: HTTPServer.Request(
        method: String(cString: method), target: exchange.target, headers: shown.headers, body: []),
      authorization: shown.authorization, body: body)
  }

  private func setDeadline(_ deadline: Int64, of connection: OpaquePointer) {
    let socket = unsafe vault_connection_socket(connection)
    connections.withLock { $0[socket]?.deadline = deadline }
  }

  func end(
    _ connection: OpaquePointer, _ exchange: SocketExchange, isAnswered: Bool
  ) {
    let socket = unsafe vault_connection_socket(connection)
    let now = milliseconds()
    connections.withLock { connections in
      connections[socket]?.deadline = now + limits.request
      connections[socket]?.free = Clock.system.sinceBoot()
    }
    exchange.streamed?.end(isAnswered: isAnswered)
    exchange.afterwards?()
  }

  /// Queues an answer. One that libmicrohttpd does not take, such as a header with a line break in it,
  /// is a 500.
  private func send(_ reply: SocketServer.Reply, _ connection: OpaquePointer) -> MHD_Result {
    let source = unsafe PieceSource(reply.body, connection, idle: UInt32(limits.idle))
    // The response owns the reference; `release` gives it up when the response is freed.
    let owned = unsafe Unmanaged.passRetained(source).toOpaque()
    let made = unsafe MHD_create_response_from_callback(
      source.count.map { UInt64($0) } ?? .max, 16_384,
      { source, _, buffer, room in
        unsafe Unmanaged<PieceSource>.fromOpaque(source!).takeUnretainedValue().fill(
          UnsafeMutableRawBufferPointer(start: buffer, count: room))
      }, owned,
      { source in
        let source = unsafe Unmanaged<PieceSource>.fromOpaque(source!).takeRetainedValue()
        source.wipe()
      })
    guard let made = unsafe made else {
      unsafe Unmanaged<PieceSource>.fromOpaque(owned).release()
      return .NO
    }
    defer { unsafe MHD_destroy_response(made) }
    for header in reply.headers
    where unsafe MHD_add_response_header(made, header.name, header.value) != .YES {
      return unsafe send(
        SocketServer.Reply(500, body: .bytes(SharedSecret(SecretBytes(count: 0)))), connection)
    }
    return unsafe MHD_queue_response(connection, UInt32(clamping: reply.status), made)
  }
}

extension SocketServer.Reply {
  fileprivate static var unavailable: SocketServer.Reply { empty(503) }

  private static func empty(_ status: Int) -> SocketServer.Reply {
    SocketServer.Reply(status, body: .bytes(SharedSecret(SecretBytes(count: 0))))
  }
}
