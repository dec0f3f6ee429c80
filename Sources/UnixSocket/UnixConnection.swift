internal import CSystem

/// One connection to an HTTP server on a Unix socket of this machine.
///
/// HTTP/1.1 as far as an agent that we wrote ourselves needs it, and no further: one request at a
/// time, fixed lengths or chunks, no redirects, no compression. libcurl does all of it and takes 8 ms
/// to load, ten times what a whole command takes that asks an agent.
package struct UnixConnection: ~Copyable {
  /// Most bytes of a reply's status line and headers.
  package static let headLimit = 65_536

  private let descriptor: Int32
  private let buffer = WipedBuffer(capacity: 65_536)
  private var start = 0
  private var end = 0
  /// Milliseconds that may pass without a byte; -1 for no end.
  package var patience: Int64 = -1

  /// - Throws: ``SocketError``: `nobody`, `pathTooLong`, `system`.
  package init(path: String) throws(SocketError) {
    let descriptor = unsafe path.withCString { unsafe vault_unix_connect($0) }
    guard descriptor >= 0 else {
      switch vault_errno() {
      // ENOENT, ENOTDIR, ECONNREFUSED
      case 2, 20, 111: throw .nobody
      // ENAMETOOLONG
      case 36: throw .pathTooLong(limit: Int(vault_unix_path_limit()))
      case let error: throw .system(error)
      }
    }
    self.descriptor = descriptor
  }

  deinit {
    vault_close(descriptor)
  }

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

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  }

  /// Sends bytes as they are: a request's head, a piece of its body.
  package func send(_ bytes: RawSpan) throws(SocketError) {
    let error = unsafe bytes.withUnsafeBytes { bytes in
      // The span outlives the call, which only reads it.
      guard let first = bytes.baseAddress else { return Int32(0) }
      return unsafe vault_socket_write(
        descriptor, first.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    // EPIPE and ECONNRESET: it may have answered before it hung up, so the answer is still looked for.
    guard error == 0 || error == 32 || error == 104 else { throw .system(error) }
  }

  /// Waits for a reply's head; 1xx heads are passed over.
  package mutating func receiveHead() throws(SocketError) -> Head {
    while true {
      let head = try parse(try headEnd())
      if head.status >= 200 { return head }
    }
  }

  /// Hands the body of the reply with that head to `receive`, piece by piece, until its end.
  package mutating func receiveBody<E: Error>(
    of head: Head, _ receive: (RawSpan) throws(E) -> Void
  ) throws(E) -> SocketError? {
    if head.status == 204 || head.status == 304 { return nil }
    if head.header("transfer-encoding")?.lowercased() == "chunked" {
      return try chunks(receive)
    }
    guard let text = head.header("content-length") else { return try rest(receive) }
    guard let count = Int(text), count >= 0 else { return .broken }
    return try pieces(count, receive)
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
          let text = buffer.withBytes(start..<looked) { Self.text($0) }
          start = looked + 2
          return text
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

  private mutating func parse(_ headEnd: Int) throws(SocketError) -> Head {
    let text = buffer.withBytes(start..<headEnd) { Self.text($0) }
    start = headEnd
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: true)
    guard !lines.isEmpty else { throw .broken }
    let first = lines.removeFirst().split(separator: " ", maxSplits: 2)
    guard first.count >= 2, first[0] == "HTTP/1.1", let status = Int(first[1]),
      (100...599).contains(status)
    else { throw .broken }
    var headers: [(name: String, value: String)] = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { throw .broken }
      var value = line[line.index(after: colon)...]
      while value.first == " " { value.removeFirst() }
      while value.last == " " { value.removeLast() }
      headers.append((line[..<colon].lowercased(), String(value)))
    }
    return Head(status: status, headers: headers)
  }

  // MARK: Bodies

  private mutating func pieces<E: Error>(
    _ count: Int, _ receive: (RawSpan) throws(E) -> Void
  ) throws(E) -> SocketError? {
    var left = count
    while left > 0 {
      if start == end {
        do throws(SocketError) {
          guard try fill() else { return .broken }
        } catch {
          return error
        }
      }
      let piece = min(left, end - start)
      try buffer.withBytes(start..<start + piece, receive)
      start += piece
      left -= piece
    }
    return nil
  }

  private mutating func rest<E: Error>(
    _ receive: (RawSpan) throws(E) -> Void
  ) throws(E) -> SocketError? {
    while true {
      if start < end {
        try buffer.withBytes(start..<end, receive)
        start = end
      }
      do throws(SocketError) {
        guard try fill() else { return nil }
      } catch {
        return error
      }
    }
  }

  /// RFC 9112 section 7.1; extensions and trailers are passed over.
  private mutating func chunks<E: Error>(
    _ receive: (RawSpan) throws(E) -> Void
  ) throws(E) -> SocketError? {
    while true {
      let count: Int
      do throws(SocketError) {
        let size = try line().prefix { $0 != ";" && $0 != " " }
        guard size.utf8.count <= 8, let number = Int(size, radix: 16) else { return .broken }
        count = number
        if count == 0 {
          while try line() != "" {}
          return nil
        }
      } catch {
        return error
      }
      if let error = try pieces(count, receive) { return error }
      do throws(SocketError) {
        guard try line() == "" else { return .broken }
      } catch {
        return error
      }
    }
  }
}
