internal import Glibc
package import Sodium
internal import Synchronization
internal import Time

/// An HTTP/1.1 server on a Unix socket, with a thread for each connection: a service may wait in
/// its answer, and its answer may come in pieces.
///
/// Who connects is asked of the kernel before a byte is read (SO_PEERCRED); a connection that is not
/// admitted is closed unread.
package final class SocketServer: Sendable {
  /// Who is on the other end, as the kernel saw it when it connected.
  package struct Peer: Sendable, Equatable {
    package let user: UInt32
    package let group: UInt32
    package let process: Int32
  }

  /// What connections may cost.
  package struct Limits: Sendable {
    /// At once. A further one takes the place of one that serves nothing, or is closed.
    package var connections = 128
    /// At once of one user, in the same way.
    package var connectionsPerUser = 96
    /// Bytes of a request's body that a service gets whole; more is answered 413.
    package var body = 1 << 20
    /// Bytes of a body that is read while it comes; more is answered 413 where it was announced, and
    /// cut off otherwise.
    package var streamedBody: Int64 = 1 << 40
    /// Bytes for a request's line and headers.
    package var head = 32 << 10
    /// Seconds without a byte.
    package var idle = 30
    /// Milliseconds until a request must be whole: a client that sends a byte now and then is never
    /// idle.
    package var request: Int64 = 30_000
    /// Milliseconds that a body which is read while it comes may stand still.
    package var stall: Int64 = 30_000
    /// What a body that is too long is answered with.
    package var tooLong = Reply(413, body: .bytes(SharedSecret(SecretBytes(count: 0))))
    /// What a request is answered with whose headers leave open where its body ends. The connection
    /// is closed then.
    package var unclear = Reply(400, body: .bytes(SharedSecret(SecretBytes(count: 0))))
    package init() {}
  }

  package struct Request: Sendable {
    package let peer: Peer
    /// Without its header `Authorization`.
    package let message: HTTPServer.Request
    /// The value of that, in memory that is wiped; nil where there is none, empty where there are
    /// several.
    package let authorization: SharedSecret?
    /// The body, which may hold a secret.
    package let body: SharedSecret
  }

  /// What a request is answered with.
  package struct Reply: Sendable {
    /// The body, or what makes it piece by piece.
    package enum Body: Sendable {
      case bytes(SharedSecret)
      /// Called on the connection's thread until it returns nil; it may wait. A piece is not empty.
      case pieces(@Sendable () -> SharedSecret?)
      /// Made beside the connection's thread.
      case stream(OutgoingBody)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body
    /// Called once when the last of it was handed to the kernel, or nobody took it.
    package var afterwards: (@Sendable () -> Void)?

    package init(
      _ status: Int, headers: [(name: String, value: String)] = [], body: Body
    ) {
      self.status = status
      self.headers = headers
      self.body = body
    }
  }

  package typealias Service = @Sendable (Request) -> Reply

  /// How a request is served, as its head says.
  package enum Entry: Sendable {
    /// By the service, once its body is there.
    case whole
    /// At once and without its body, which is not read.
    case answered(Reply)
    /// While its body comes. Called on the connection's thread, and returns soon.
    case streamed(@Sendable (StreamedRequest) -> Void)
  }

  /// Called on the connection's thread with a request's head.
  package typealias Entrance = @Sendable (Request) -> Entry

  private let loop: SocketLoop
  private let wake: Wake
  private let thread: Mutex<pthread_t?>

  /// Begins to answer on a socket that listens, which it then owns.
  ///
  /// - Parameters:
  ///   - admits: Whether a connection is served. Called on the accepting thread.
  ///   - entrance: Which requests are served before their bodies are whole; nil for none.
  ///   - service: Called on the connection's thread, several at a time.
  /// - Throws: ``ListenerError``; the socket is closed then.
  package init(
    listening socket: Int32, limits: Limits = Limits(),
    admits: @escaping @Sendable (Peer) -> Bool, entrance: Entrance? = nil,
    service: @escaping Service
  ) throws(ListenerError) {
    let wake = try Wake()
    loop = try SocketLoop(socket, limits, wake, admits, entrance, service)
    self.wake = wake
    thread = Mutex(nil)
    var running = pthread_t()
    // One reference, which the new thread takes over.
    let owned = unsafe Unmanaged.passRetained(loop)
    let error = unsafe pthread_create(
      &running, nil,
      { owned in
        unsafe Unmanaged<SocketLoop>.fromOpaque(owned!).takeRetainedValue().run()
        return nil
      }, owned.toOpaque())
    guard error == 0 else {
      unsafe owned.takeRetainedValue().close()
      throw .system(error)
    }
    thread.withLock { $0 = running }
  }

  deinit { stop() }

  /// How many connections are open.
  package var connectionCount: Int { loop.connectionCount }

  /// How many of them serve nothing now, and would give way to a new one.
  var freeCount: Int { loop.freeCount }

  /// Stops to accept, ends every connection, answered or not, and waits until no service runs any
  /// more. Not to be called from a service.
  package func stop() {
    wake.signal()
    thread.withLock { thread in
      guard let running = thread else { return }
      // The thread writes nothing back.
      pthread_join(running, nil)
      thread = nil
    }
  }
}
