internal import Synchronization

/// A request whose answer is made beside its connection's thread, while its body may still come.
///
/// The service reads ``body`` as it needs it and calls ``answer(_:)`` once, from any thread. HTTP/1.1
/// as libmicrohttpd speaks it answers when the body is over: an answer that comes earlier waits for
/// that, and where nobody has read of the body yet it is sent at once, and the body is never asked for.
package final class StreamedRequest: Sendable {
  /// The head; its body is empty.
  package let request: SocketServer.Request
  /// Nil where there is none.
  package let body: IncomingBody?

  private struct State {
    var reply: SocketServer.Reply?
    var isOver = false
    var gone: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let bell: Doorbell

  /// - Throws: ``ListenerError`` where the process has no descriptor left.
  init(
    _ request: SocketServer.Request, hasBody: Bool, length: Int64?
  ) throws(ListenerError) {
    bell = try Doorbell()
    self.request = request
    body = hasBody ? IncomingBody(length: length, bell) : nil
  }

  // MARK: The service

  /// The first call counts.
  package func answer(_ reply: SocketServer.Reply) {
    let isTaken = state.withLock { state in
      guard state.reply == nil, !state.isOver else { return false }
      state.reply = reply
      return true
    }
    if isTaken {
      bell.ring()
    } else {
      reply.afterwards?()
      if case .stream(let body) = reply.body { body.abandon() }
    }
  }

  /// Has `gone` called, on any thread and once, where the client goes away, or is cut off, before it has
  /// the whole answer; at once where that is so already.
  package func whenGone(_ gone: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isOver { state.gone = gone }
      return state.isOver
    }
    if isLate { gone() }
  }

  // MARK: The connection's thread

  enum Turn {
    case answer(SocketServer.Reply)
    /// The service reads the body.
    case body
    case hungUp
  }

  private var reply: SocketServer.Reply? { state.withLock { $0.reply } }

  /// Waits for the answer; at the request's head also for the first read of its body.
  func wait(_ connection: Int32, isHead: Bool) -> Turn {
    while true {
      if let reply { return .answer(reply) }
      if isHead, body?.isWanted == true { return .body }
      if bell.wait(connection, milliseconds: -1) == .hungUp { return .hungUp }
    }
  }

  /// Hands a piece of the body on, and waits until there was room for all of it.
  ///
  /// - Parameter patience: Milliseconds that it waits where the answer is there already: a service that
  ///   has answered and reads no more would keep the client for ever.
  /// - Returns: False where the client has gone.
  func receive(_ piece: RawSpan, _ connection: Int32, patience: Int64) -> Bool {
    guard let body else { return true }
    var position = 0
    while true {
      position += body.offer(piece.extracting(position..<piece.byteCount))
      if position == piece.byteCount { return true }
      let hasAnswer = reply != nil
      switch bell.wait(connection, milliseconds: hasAnswer ? patience : -1) {
      case .rung: break
      case .hungUp: return false
      case .late: return false
      }
    }
  }

  /// The request is over.
  ///
  /// - Parameter isAnswered: Whether the client got the whole answer.
  func end(isAnswered: Bool) {
    body?.finish(isWhole: false)
    let (reply, gone) = state.withLock { state in
      state.isOver = true
      defer { state.gone = nil }
      return (state.reply, isAnswered ? nil : state.gone)
    }
    if case .stream(let body) = reply?.body { body.abandon() }
    gone?()
  }
}
