internal import CSystem

/// One connection to an HTTP server on a Unix socket of this machine.
///
/// HTTP/1.1 as far as an agent that we wrote ourselves needs it, and no further: one request at a
/// time, fixed lengths or chunks, no redirects, no compression. libcurl does all of it and takes 8 ms
/// to load, ten times what a whole command takes that asks an agent.
package struct UnixConnection: ~Copyable, Sendable {
  private let wire: Wire
  private let buffer: WipedBuffer
  private var start = 0
  private var end = 0
  /// Milliseconds that may pass without a byte; -1 for no end.
  package var patience: Int64 = -1

  private var descriptor: Int32 { wire.descriptor }

  /// The descriptor, closed when nobody holds it any more.
  fileprivate final class Wire: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { vault_close(descriptor) }
  }

  /// Ends a connection from another thread than the one that waits on it.
  package struct Cutter: Sendable {
    fileprivate let wire: Wire

    /// What waits on the connection comes back at once, and nothing goes over it any more.
    package func cut() { vault_socket_cut(wire.descriptor) }
  }

  /// - Parameters:
  ///   - writePatience: Milliseconds that connecting, and each write, may wait for the server; 0 for no
  ///     end.
  ///   - capacity: Most bytes of a reply's status line and headers, and of a piece of its body.
  /// - Throws: ``SocketError``: `nobody`, `pathTooLong`, `timeout`, `system`.
  package init(
    path: String, writePatience: Int64 = 0, capacity: Int = 65_536
  ) throws(SocketError) {
    let descriptor = unsafe path.withCString { unsafe vault_unix_connect($0, writePatience) }
    guard descriptor >= 0 else {
      switch vault_errno() {
      // ENOENT, ENOTDIR, ECONNREFUSED
      case 2, 20, 111: throw .nobody
      // EAGAIN
      case 11: throw .timeout
      // ENAMETOOLONG
      case 36: throw .pathTooLong(limit: Int(vault_unix_path_limit()))
      case let error: throw .system(error)
      }
    }
    wire = Wire(descriptor)
    buffer = WipedBuffer(capacity: capacity)
  }

  package var cutter: Cutter { Cutter(wire: wire) }

  /// Whether it can take a further request: nothing came unasked, and the server has not hung up.
  package var isQuiet: Bool { start == end && vault_socket_is_quiet(descriptor) != 0 }

  /// The user that the server runs as, by the kernel.
  package func peer() throws(SocketError) -> UInt32 {
    var user: UInt32 = 0
    var group: UInt32 = 0
    var process: Int32 = 0
    // The kernel writes into our own variables.
    guard unsafe vault_unix_peer(descriptor, &user, &group, &process) == 0 else {
      throw .system(vault_errno())
    }
    return user
  }

  /// Status line and headers of a reply.
  package struct Head: Sendable {
    package let status: Int
    /// In their order, names in lower case.
    package let headers: [(name: String, value: String)]
    /// Whether the connection takes no further request, for the server's part or for ours.
    package var isLast = false

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  }

  /// How far the body of a reply was read.
  package struct Body: Sendable {
    fileprivate enum Rest: Sendable {
      case nothing
      case bytes(Int)
      /// Zero: before the next one's size.
      case chunk(left: Int)
      case untilTheEnd
      /// No length that can be read.
      case broken
    }

    fileprivate var rest: Rest
    private let isDelimited: Bool

    /// - Parameter isHead: Whether HEAD was asked, whose reply has no body whatever its head says.
    package init(_ head: Head, isHead: Bool = false) {
      isDelimited =
        !head.isLast && head.header("connection")?.lowercased() != "close"
        && (head.header("content-length") != nil || head.header("transfer-encoding") != nil)
      if isHead || head.status == 204 || head.status == 304 {
        rest = .nothing
      } else if head.header("transfer-encoding")?.lowercased() == "chunked" {
        rest = .chunk(left: 0)
      } else if let text = head.header("content-length") {
        rest = .broken
        if let count = Int(text), count >= 0 { rest = count == 0 ? .nothing : .bytes(count) }
      } else {
        rest = .untilTheEnd
      }
    }

    package var isOver: Bool { if case .nothing = rest { true } else { false } }

    /// Whether the connection can take a further request.
    package var leavesConnection: Bool { isOver && isDelimited }
  }

  /// Sends bytes as they are: a request's head, a piece of its body.
  ///
  /// - Returns: False where the server has hung up. It may have answered before, so the answer is still
  ///   to be looked for.
  @discardableResult
  package func send(_ bytes: RawSpan) throws(SocketError) -> Bool {
    let error = unsafe bytes.withUnsafeBytes { bytes in
      // The span outlives the call, which only reads it.
      guard let first = bytes.baseAddress else { return Int32(0) }
      return unsafe vault_socket_write(
        descriptor, first.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    switch error {
    case 0: return true
    // EPIPE, ECONNRESET
    case 32, 104: return false
    // ETIMEDOUT
    case 110: throw .timeout
    case let error: throw .system(error)
    }
  }

  /// Sends text as it is; see ``send(_:)-(RawSpan)``.
  @discardableResult
  package func send(_ text: String) throws(SocketError) -> Bool { try send(Array(text.utf8)) }

  /// Sends bytes as they are; see ``send(_:)-(RawSpan)``.
  @discardableResult
  package func send(_ bytes: [UInt8]) throws(SocketError) -> Bool {
    // Whole bytes, seen as they are.
    try unsafe send(bytes.span.bytes)
  }

  /// Sends a secret; see ``send(_:)-(RawSpan)``.
  @discardableResult
  package func send(_ bytes: borrowing WipedBytes) throws(SocketError) -> Bool {
    try bytes.withSpan { (bytes) throws(SocketError) in
      // Whole bytes, seen as they are.
      try unsafe send(bytes.bytes)
    }
  }

  /// Sends a piece of a body whose length was not announced (RFC 9112 section 7.1). An empty one is its
  /// end.
  ///
  /// - Returns: As ``send(_:)-(RawSpan)``.
  @discardableResult
  package func sendChunk(_ bytes: [UInt8]) throws(SocketError) -> Bool {
    guard !bytes.isEmpty else { return try send("0\r\n\r\n") }
    guard try send(String(bytes.count, radix: 16) + "\r\n"), try send(bytes) else {
      return false
    }
    return try send("\r\n")
  }

  /// Waits for a reply's head; 1xx heads are passed over.
  package mutating func receiveHead() throws(SocketError) -> Head {
    while true {
      let head = try receiveAnyHead()
      if head.status >= 200 { return head }
    }
  }

  /// Waits for a reply's head, or for one of those that may come before it (1xx).
  package mutating func receiveAnyHead() throws(SocketError) -> Head {
    try parse(try headEnd())
  }

  /// Hands the body of the reply with that head to `receive`, piece by piece, until its end.
  package mutating func receiveBody<E: Error>(
    of head: Head, _ receive: (RawSpan) throws(E) -> Void
  ) throws(E) -> SocketError? {
    var body = Body(head)
    while !body.isOver {
      var failure: E?
      do throws(SocketError) {
        try receivePiece(of: &body) { piece in
          do throws(E) { try receive(piece) } catch { failure = error }
        }
      } catch {
        return error
      }
      if let failure { throw failure }
    }
    return nil
  }

  /// Hands what has come of a body to `receive`, once, after waiting for some of it; not at all where
  /// the body ended there.
  package mutating func receivePiece(
    of body: inout Body, _ receive: (RawSpan) -> Void
  ) throws(SocketError) {
    switch body.rest {
    case .nothing: return
    case .broken: throw .broken
    case .untilTheEnd:
      if start == end, !(try fill()) {
        body.rest = .nothing
        return
      }
      take(end - start, receive)
    case .bytes(let left):
      let count = try takeSome(left, receive)
      body.rest = count == left ? .nothing : .bytes(left - count)
    case .chunk(var left):
      if left == 0 {
        // RFC 9112 section 7.1; extensions and trailers are passed over.
        let size = try line().prefix { $0 != ";" && $0 != " " }
        guard size.utf8.count <= 8, let number = Int(size, radix: 16), number >= 0 else {
          throw .broken
        }
        if number == 0 {
          while try line() != "" {}
          body.rest = .nothing
          return
        }
        left = number
      }
      left -= try takeSome(left, receive)
      if left == 0 {
        guard try line() == "" else { throw .broken }
      }
      body.rest = .chunk(left: left)
    }
  }

  /// The same as a copy; empty where the body ended there.
  package mutating func receivePiece(of body: inout Body) throws(SocketError) -> [UInt8] {
    var piece: [UInt8] = []
    try receivePiece(of: &body) { bytes in
      // The span is of whole bytes, and a copy outlives it.
      unsafe bytes.withUnsafeBytes { unsafe piece.append(contentsOf: $0) }
    }
    return piece
  }

  // MARK: Bytes

  /// Reads more behind what is there; false at the end of the stream.
  private mutating func fill() throws(SocketError) -> Bool {
    if start > 0 {
      buffer.keep(start..<end)
      end -= start
      start = 0
    }
    guard end < buffer.capacity else { throw .broken }
    let count = try buffer.read(from: descriptor, behind: end, milliseconds: patience)
    end += count
    return count > 0
  }

  /// Where the empty line behind a head ends.
  private mutating func headEnd() throws(SocketError) -> Int {
    var looked = start
    while true {
      while looked + 3 < end {
        if buffer[looked] == 13, buffer[looked + 1] == 10, buffer[looked + 2] == 13,
          buffer[looked + 3] == 10
        {
          return looked + 4
        }
        looked += 1
      }
      let seen = looked - start
      guard try fill() else { throw .broken }
      looked = start + seen
    }
  }

  private mutating func line() throws(SocketError) -> String {
    var looked = start
    while true {
      while looked + 1 < end {
        if buffer[looked] == 13, buffer[looked + 1] == 10 {
          let line = text(start..<looked)
          start = looked + 2
          return line
        }
        looked += 1
      }
      let seen = looked - start
      guard seen < 1024, try fill() else { throw .broken }
      looked = start + seen
    }
  }

  private static func text(_ bytes: RawSpan) -> String {
    // Any bytes become text; the owner lends them for the call.
    unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Byte by byte: text would have its characters looked up first, and a head has no more than ASCII.
  private mutating func parse(_ headEnd: Int) throws(SocketError) -> Head {
    var status: Int?
    var headers: [(name: String, value: String)] = []
    while start < headEnd {
      // Every line has one, for the head ends with two.
      var lineEnd = start
      while buffer[lineEnd] != 13 || buffer[lineEnd + 1] != 10 { lineEnd += 1 }
      let line = start..<lineEnd
      start = lineEnd + 2
      if status == nil {
        status = try Self.status(of: text(line))
      } else if !line.isEmpty {
        headers.append(try header(line))
      }
    }
    guard let status else { throw .broken }
    return Head(status: status, headers: headers)
  }

  /// The number of a line such as `HTTP/1.1 200 OK`.
  private static func status(of line: String) throws(SocketError) -> Int {
    let bytes = line.utf8
    let version = "HTTP/1.1 ".utf8
    guard bytes.starts(with: version) else { throw .broken }
    let rest = bytes.dropFirst(version.count)
    guard let status = Int(Substring(rest.prefix { $0 != 32 })), (100...599).contains(status)
    else { throw .broken }
    return status
  }

  private func header(_ line: Range<Int>) throws(SocketError) -> (name: String, value: String) {
    var colon = line.lowerBound
    while colon < line.upperBound, buffer[colon] != 58 { colon += 1 }
    guard colon < line.upperBound else { throw .broken }
    var value = colon + 1..<line.upperBound
    while let first = value.first, buffer[first] == 32 { value.removeFirst() }
    while let last = value.last, buffer[last] == 32 { value.removeLast() }
    return (text(line.lowerBound..<colon).lowercased(), text(value))
  }

  private func text(_ range: Range<Int>) -> String {
    buffer.withBytes(range) { Self.text($0) }
  }

  // MARK: Bodies

  private mutating func take(_ count: Int, _ receive: (RawSpan) -> Void) {
    buffer.withBytes(start..<start + count, receive)
    start += count
  }

  /// Takes at most `count` bytes, one at least.
  private mutating func takeSome(
    _ count: Int, _ receive: (RawSpan) -> Void
  ) throws(SocketError) -> Int {
    if start == end {
      guard try fill() else { throw .broken }
    }
    let piece = min(count, end - start)
    take(piece, receive)
    return piece
  }
}
