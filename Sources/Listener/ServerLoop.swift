internal import CMicroHTTPD
internal import Glibc
internal import Time

/// The server's one thread: it alone calls libmicrohttpd and the handler once it runs, so nothing in
/// here is locked.
@safe final class ServerLoop {
  private(set) var port: UInt16 = 0
  private let limits: HTTPServer.Limits
  private let wake: Wake
  private let handler: HTTPServer.Handler
  /// Owned; freed by `close`, which is called once.
  private var daemon: OpaquePointer?
  /// The open connections by their sockets.
  private var connections: [Int32: Connection] = [:]

  /// Whether a connection has ended since the last round.
  private var hasRoom = false

  @safe private struct Connection {
    /// libmicrohttpd's own, which tells of its end before it frees it.
    let pointer: OpaquePointer
    /// When it is cut off, in milliseconds since the start of the machine.
    var deadline: Int64
    /// Whether it has a request that is not whole yet, or none.
    var isReading = true
    /// Its request and when that goes on, while the answer is held back.
    var held: (exchange: Exchange, until: Int64)?
  }

  init(
    _ host: HTTPServer.Host, _ port: UInt16, _ limits: HTTPServer.Limits, _ wake: Wake,
    _ handler: @escaping HTTPServer.Handler
  ) throws(ListenerError) {
    self.limits = limits
    self.wake = wake
    self.handler = handler
    // The daemon holds no reference: this object outlives it, for `close` ends the daemon first.
    var listener = unsafe vault_listener(
      ipv6: host == .ipv6 ? 1 : 0, port: port, connections: UInt32(limits.connections),
      connections_per_address: UInt32(limits.connectionsPerAddress),
      connection_memory: limits.head, idle_seconds: UInt32(limits.idle),
      owner: Unmanaged.passUnretained(self).toOpaque(),
      answer: { loop, connection, _, method, _, piece, count, exchange in
        unsafe ServerLoop.of(loop).answer(
          connection!, method!, UnsafeRawBufferPointer(start: piece, count: count!.pointee), count!,
          Unmanaged<Exchange>.fromOpaque(exchange!.pointee!).takeUnretainedValue())
      },
      begin: { _, target, _ in
        unsafe Unmanaged.passRetained(Exchange(target: String(cString: target!))).toOpaque()
      },
      end: { loop, connection, exchange, _ in
        // The reference that `begin` made.
        guard let held = unsafe exchange!.pointee else { return }
        unsafe exchange!.pointee = nil
        unsafe ServerLoop.of(loop).end(
          connection!, Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue())
      },
      connection: { loop, connection, _, change in
        unsafe ServerLoop.of(loop).note(connection!, change)
      })
    var error: Int32 = 0
    unsafe daemon = vault_listener_start(&listener, &error)
    guard let daemon = unsafe daemon else { throw ListenerError(errno: error) }
    self.port = unsafe vault_listener_port(daemon)
  }

  /// The loop that C was given as a pointer; it lives while the daemon does.
  private static func of(_ pointer: UnsafeMutableRawPointer?) -> ServerLoop {
    unsafe Unmanaged<ServerLoop>.fromOpaque(pointer!).takeUnretainedValue()
  }

  private func milliseconds() -> Int64 { Clock.system.sinceBoot() / 1_000_000 }

  // MARK: The thread

  /// Answers until the wake is signalled, then closes everything.
  func run() {
    guard let daemon = unsafe daemon else { return }
    while true {
      hasRoom = false
      unsafe MHD_run(daemon)
      let now = milliseconds()
      // What was let go or cut off is work for the next MHD_run.
      // libmicrohttpd stops to listen when there are too many connections, and begins again in the
      // run after the one that closed some.
      var next: Int64 = release(now) || hasRoom ? 0 : .max
      for connection in connections.values {
        next = min(
          next, max(0, connection.deadline - now), max(0, (connection.held?.until ?? .max) - now))
      }
      var own: UInt64 = 0
      if unsafe MHD_get_timeout(daemon, &own) == .YES { next = min(next, Int64(clamping: own)) }
      var watched = [
        pollfd(fd: unsafe vault_listener_events(daemon), events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      // libmicrohttpd learns of a client's end only as news, and misses one that came with the bytes
      // before it: half a request would then keep its place until its time is over.
      for (socket, connection) in connections where connection.isReading {
        watched.append(pollfd(fd: socket, events: Int16(VAULT_HANGUP), revents: 0))
      }
      unsafe poll(&watched, UInt(watched.count), next > 60_000 ? 60_000 : Int32(next))
      if watched[1].revents != 0 { break }
      for ended in watched[2...] where ended.revents != 0 && vault_has_ended(ended.fd) != 0 {
        vault_cut(ended.fd)
      }
    }
    close()
  }

  /// Lets answers go whose delay is over, and cuts off connections whose time is. True where there was
  /// one.
  private func release(_ now: Int64) -> Bool {
    var any = false
    for (socket, connection) in connections {
      if let held = connection.held, held.until <= now {
        resume(socket)
        any = true
      } else if connection.deadline <= now {
        vault_cut(socket)
        connections[socket]?.deadline = now + limits.request
        any = true
      }
    }
    return any
  }

  private func resume(_ socket: Int32) {
    guard let connection = connections[socket], let held = connection.held else { return }
    held.exchange.isDue = true
    connections[socket]?.held = nil
    unsafe MHD_resume_connection(connection.pointer)
  }

  /// Ends the daemon. Called once, by the thread, or in its place where there is none.
  func close() {
    guard let daemon = unsafe daemon else { return }
    // libmicrohttpd may not be stopped while it holds a suspended connection; what is cut off gets no
    // answer.
    for socket in connections.keys {
      vault_cut(socket)
      resume(socket)
    }
    unsafe MHD_run(daemon)
    unsafe MHD_stop_daemon(daemon)
    unsafe self.daemon = nil
  }

  // MARK: What libmicrohttpd calls

  private func note(_ connection: OpaquePointer, _ change: MHD_ConnectionNotificationCode) {
    let socket = unsafe vault_connection_socket(connection)
    if change == .CONNECTION_NOTIFY_STARTED {
      connections[socket] = unsafe Connection(
        pointer: connection, deadline: milliseconds() + limits.request)
    } else {
      connections[socket] = nil
      hasRoom = true
    }
  }

  private func answer(
    _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ piece: UnsafeRawBufferPointer,
    _ count: UnsafeMutablePointer<Int>, _ exchange: Exchange
  ) -> MHD_Result {
    if !exchange.isBegun {
      let length = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length")
      let announced = unsafe length.map { unsafe String(cString: $0) }
      if exchange.begin(length: announced, limit: limits.body) { return .YES }
      return unsafe send(HTTPServer.Response(413), connection)
    }
    if unsafe !piece.isEmpty {
      // All of it is taken, whatever becomes of it.
      unsafe count.pointee = 0
      return unsafe exchange.receive(piece, limit: limits.body) ? .YES : .NO
    }
    if exchange.isTooLong(limits.body) { return unsafe send(HTTPServer.Response(413), connection) }
    if exchange.response == nil {
      exchange.response = unsafe handler(
        exchange.request(method: String(cString: method), headers: Headers.all(of: connection)))
    }
    guard let response = exchange.response, !response.isDropped else { return .NO }
    let now = milliseconds()
    let socket = unsafe vault_connection_socket(connection)
    connections[socket]?.deadline = now + max(0, response.delay) + limits.request
    connections[socket]?.isReading = false
    if response.delay > 0, !exchange.isDue {
      connections[socket]?.held = (exchange, now + response.delay)
      unsafe MHD_suspend_connection(connection)
      return .YES
    }
    return unsafe send(response, connection)
  }

  private func end(_ connection: OpaquePointer, _ exchange: Exchange) {
    let socket = unsafe vault_connection_socket(connection)
    connections[socket]?.deadline = milliseconds() + limits.request
    connections[socket]?.isReading = true
    exchange.response?.afterwards?()
  }

  /// Queues an answer. One that libmicrohttpd does not take, such as a header with a line break in it,
  /// is a 500.
  private func send(_ response: HTTPServer.Response, _ connection: OpaquePointer) -> MHD_Result {
    connections[unsafe vault_connection_socket(connection)]?.isReading = false
    // The bytes are copied before the call returns; the response is freed when it was sent.
    var body = response.body
    let made = unsafe body.withUnsafeMutableBytes { bytes in
      unsafe MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, .RESPMEM_MUST_COPY)
    }
    guard let made = unsafe made else { return .NO }
    defer { unsafe MHD_destroy_response(made) }
    for header in response.headers
    where unsafe MHD_add_response_header(made, header.name, header.value) != .YES {
      return unsafe send(HTTPServer.Response(500), connection)
    }
    return unsafe MHD_queue_response(connection, UInt32(clamping: response.status), made)
  }
}
