internal import Glibc
internal import Synchronization

/// An HTTP/1.1 server on the loopback address of this machine, on one thread of its own.
///
/// It knows nothing of what is asked: the handler makes every answer. Anybody on the machine can
/// connect, so it bounds what a connection costs and refuses what is no HTTP; who may have which
/// answer is the handler's question.
package final class HTTPServer: Sendable {
  /// The literal loopback addresses. No name is resolved, and no other address is ever bound.
  package enum Host: Sendable {
    /// `127.0.0.1`
    case ipv4
    /// `[::1]`
    case ipv6
  }

  /// What all connections together, and each of them, may cost.
  package struct Limits: Sendable {
    /// At once; further ones wait.
    package var connections = 32
    /// At once from one address. On loopback everybody has the same.
    package var connectionsPerAddress = 32
    /// Bytes of a request's body; more is answered 413.
    package var body = 1 << 20
    /// Bytes for a request's line and headers; more is answered 414 or 431.
    package var head = 32 << 10
    /// Seconds without a byte, after which a connection is closed.
    package var idle = 15
    /// Milliseconds until a request must be whole, and again until its answer must be taken: a client
    /// that sends a byte now and then is never idle.
    package var request: Int64 = 30_000

    package init() {}
  }

  package typealias Handler = @Sendable (Request) -> Response

  /// Where it listens; never 0.
  package let port: UInt16
  private let wake: Wake
  /// Nil once it was joined.
  private let thread: Mutex<pthread_t?>

  /// Binds and begins to answer.
  ///
  /// - Parameters:
  ///   - port: 0 for one that is free.
  ///   - handler: Called on the server's thread, one request at a time: while it runs, nobody else is
  ///     answered.
  /// - Throws: ``ListenerError``; nothing is left open then.
  package init(
    host: Host = .ipv4, port: UInt16 = 0, limits: Limits = Limits(), handler: @escaping Handler
  ) throws(ListenerError) {
    let wake = try Wake()
    let loop = try ServerLoop(host, port, limits, wake, handler)
    self.wake = wake
    self.port = loop.port
    thread = Mutex(try Self.start(loop))
  }

  deinit { stop() }

  /// Closes the port and every connection, answered or not, and waits until no handler runs any more.
  /// Called again, it does nothing. A handler that calls it does not wait for itself: the server ends
  /// when the handler has returned.
  package func stop() {
    wake.signal()
    thread.withLock { thread in
      guard let running = thread else { return }
      if pthread_equal(running, pthread_self()) != 0 {
        pthread_detach(running)
      } else {
        // The thread writes nothing back.
        pthread_join(running, nil)
      }
      thread = nil
    }
  }

  /// Starts the loop's thread, which owns the loop from then on.
  private static func start(_ loop: ServerLoop) throws(ListenerError) -> pthread_t {
    // Signals are for the threads that expect them, so the new one inherits a mask of all.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    // One reference, which the new thread takes over; it is taken back where there is no thread.
    let owned = unsafe Unmanaged.passRetained(loop)
    let error = unsafe pthread_create(&thread, nil, { unsafe runServer($0) }, owned.toOpaque())
    guard error == 0 else {
      unsafe owned.takeRetainedValue().close()
      throw .system(error)
    }
    return thread
  }
}

/// What the server's thread runs.
private func runServer(_ owned: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  // The reference that `start` made for this thread.
  if let owned = unsafe owned {
    unsafe Unmanaged<ServerLoop>.fromOpaque(owned).takeRetainedValue().run()
  }
  return nil
}

/// Why there is no listener.
package enum ListenerError: Error, Equatable, Sendable {
  /// Another program listens on that port.
  case portInUse
  /// The port is reserved, such as one below 1024.
  case portForbidden
  /// The machine has no such address: no IPv6.
  case noSuchAddress
  /// Anything else, by its errno.
  case system(Int32)

  init(errno error: Int32) {
    self =
      switch error {
      case EADDRINUSE: .portInUse
      case EACCES, EPERM: .portForbidden
      case EADDRNOTAVAIL, EAFNOSUPPORT: .noSuchAddress
      default: .system(error)
      }
  }
}
