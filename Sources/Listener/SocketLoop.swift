internal import CMicroHTTPD
internal import Glibc
internal import Sodium
internal import Synchronization
internal import Time

/// The accepting thread of a ``SocketServer``, and what libmicrohttpd calls on the connections' threads.
@safe final class SocketLoop: @unchecked Sendable {
  private let listener: Int32
  let limits: SocketServer.Limits
  private let wake: Wake
  private let admits: @Sendable (SocketServer.Peer) -> Bool
  let entrance: SocketServer.Entrance?
  let service: SocketServer.Service
  /// Owned; written before the thread starts and by `close`, which is called once, at its end.
  private var daemon: OpaquePointer?

  struct Connection {
    var peer: SocketServer.Peer
    /// When it is cut off, in milliseconds since the start of the machine.
    var deadline: Int64
    /// Since when nothing of it is served, in nanoseconds since the start of the machine: two may come free
    /// in one millisecond. Nil from the head of a request to the end of its answer.
    var free: Int64?
    /// It was cut off, and is there until its thread has seen that.
    var isCut = false
  }

  /// The open connections by their sockets.
  let connections = Mutex<[Int32: Connection]>([:])

  /// Most connections that are cut off and not closed yet.
  private static let ending = 64

  var connectionCount: Int { connections.withLock { $0.count } }

  /// How many of them are open and serve nothing.
  var freeCount: Int {
    connections.withLock { $0.values.count { $0.free != nil && !$0.isCut } }
  }

  init(
    _ listener: Int32, _ limits: SocketServer.Limits, _ wake: Wake,
    _ admits: @escaping @Sendable (SocketServer.Peer) -> Bool,
    _ entrance: SocketServer.Entrance?, _ service: @escaping SocketServer.Service
  ) throws(ListenerError) {
    self.listener = listener
    self.limits = limits
    self.wake = wake
    self.admits = admits
    self.entrance = entrance
    self.service = service
    // The daemon holds no reference: this object outlives it, for `close` ends the daemon first.
    var wanted = unsafe vault_service(
      connections: UInt32(limits.connections + Self.ending), connection_memory: limits.head,
      idle_seconds: UInt32(limits.idle), thread_stack: 1 << 20,
      owner: Unmanaged.passUnretained(self).toOpaque(),
      answer: { loop, connection, _, method, _, piece, count, exchange in
        unsafe SocketLoop.of(loop).answer(
          connection!, method!, UnsafeRawBufferPointer(start: piece, count: count!.pointee), count!,
          Unmanaged<SocketExchange>.fromOpaque(exchange!.pointee!).takeUnretainedValue())
      },
      begin: { _, target, _ in
        unsafe Unmanaged.passRetained(SocketExchange(target: String(cString: target!))).toOpaque()
      },
      end: { loop, connection, exchange, code in
        // The reference that `begin` made.
        guard let held = unsafe exchange!.pointee else { return }
        unsafe exchange!.pointee = nil
        unsafe SocketLoop.of(loop).end(
          connection!, Unmanaged<SocketExchange>.fromOpaque(held).takeRetainedValue(),
          isAnswered: code == .REQUEST_TERMINATED_COMPLETED_OK)
      },
      connection: { loop, connection, _, change in
        guard change == .CONNECTION_NOTIFY_CLOSED else { return }
        let socket = unsafe vault_connection_socket(connection!)
        unsafe SocketLoop.of(loop).connections.withLock { $0[socket] = nil }
      })
    var error: Int32 = 0
    unsafe daemon = vault_service_start(&wanted, &error)
    guard unsafe daemon != nil else {
      Glibc.close(listener)
      throw .system(error)
    }
  }

  /// The loop that C was given as a pointer; it lives while the daemon does.
  private static func of(_ pointer: UnsafeMutableRawPointer?) -> SocketLoop {
    unsafe Unmanaged<SocketLoop>.fromOpaque(pointer!).takeUnretainedValue()
  }

  func milliseconds() -> Int64 { Clock.system.sinceBoot() / 1_000_000 }

  // MARK: The accepting thread

  func run() {
    while true {
      let now = milliseconds()
      let next = connections.withLock { connections in
        // A deadline may come nearer while this thread sleeps, by no more than that.
        var next = connections.isEmpty ? 60_000 : min(60_000, limits.request, limits.stall)
        for (socket, connection) in connections {
          if connection.deadline <= now {
            vault_cut(socket)
            connections[socket]?.deadline = now + limits.request
          } else {
            next = min(next, connection.deadline - now)
          }
        }
        return next
      }
      var watched = [
        pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      unsafe poll(&watched, 2, Int32(next))
      if watched[1].revents != 0 { break }
      if watched[0].revents != 0 { accept() }
    }
    close()
  }

  private func accept() {
    let socket = vault_accept(listener)
    guard socket >= 0 else {
      // Out of descriptors: wait for some instead of spinning.
      if errno == EMFILE || errno == ENFILE { usleep(20_000) }
      return
    }
    var user: UInt32 = 0
    var group: UInt32 = 0
    var process: Int32 = 0
    // The kernel writes into our own variables.
    guard unsafe vault_peer(socket, &user, &group, &process) == 0 else {
      Glibc.close(socket)
      return
    }
    let peer = SocketServer.Peer(user: user, group: group, process: process)
    var room = Room.later
    if admits(peer) {
      // Those that were cut off end within moments; whoever connects meanwhile waits in the queue.
      for _ in 0..<1000 {
        room = self.room(for: peer)
        guard room == .later else { break }
        usleep(1000)
      }
    }
    guard room == .free, let daemon = unsafe daemon else {
      Glibc.close(socket)
      return
    }
    let now = milliseconds()
    connections.withLock {
      $0[socket] = Connection(
        peer: peer, deadline: now + limits.request, free: Clock.system.sinceBoot())
    }
    // libmicrohttpd closes it where it fails.
    if unsafe vault_serve(daemon, socket) != 0 { connections.withLock { $0[socket] = nil } }
  }

  private enum Room {
    case free
    case none
    /// Too many are about to end.
    case later
  }

  /// Whether another connection of `peer` may be served. Where there are too many, the one that has
  /// been free for the longest time makes room: of the same user, or else of the one who has most. So
  /// connections that only wait keep nobody out.
  private func room(for peer: SocketServer.Peer) -> Room {
    connections.withLock { connections in
      var counts: [UInt32: Int] = [:]
      for connection in connections.values where !connection.isCut {
        counts[connection.peer.user, default: 0] += 1
      }
      let user: UInt32
      if counts[peer.user, default: 0] >= limits.connectionsPerUser {
        user = peer.user
      } else if counts.values.reduce(0, +) >= limits.connections {
        user = counts.max { $0.value < $1.value }?.key ?? peer.user
      } else {
        return .free
      }
      guard connections.values.count(where: { $0.isCut }) < Self.ending else { return .later }
      let oldest = connections.filter { _, connection in
        connection.peer.user == user && !connection.isCut && connection.free != nil
      }.min { ($0.value.free ?? .max) < ($1.value.free ?? .max) }
      guard let socket = oldest?.key else { return .none }
      connections[socket]?.isCut = true
      vault_cut(socket)
      return .free
    }
  }

  /// Ends the daemon. Called once: by the thread, or in its place where there is none.
  func close() {
    Glibc.close(listener)
    guard let daemon = unsafe daemon else { return }
    for socket in connections.withLock({ Array($0.keys) }) { vault_cut(socket) }
    // Joins the connections' threads.
    unsafe MHD_stop_daemon(daemon)
    unsafe self.daemon = nil
  }
}
