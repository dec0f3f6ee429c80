import Foundation
import Glibc
import Sodium
import Synchronization
import TestSupport
import Testing
import UnixSocket

@testable import Listener

@Suite("An HTTP server on a Unix socket")
struct SocketServerTests {
  /// A server in a folder of its own, with the path of its socket.
  private final class Place: Sendable {
    let folder: String
    var path: String { folder + "/s" }

    init() throws {
      var template = Array("/tmp/vault-socket-XXXXXX".utf8CString)
      folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func serve(
      _ limits: SocketServer.Limits = .init(),
      admits: @escaping @Sendable (SocketServer.Peer) -> Bool = { _ in true },
      _ service: @escaping SocketServer.Service
    ) throws -> SocketServer {
      let socket = try UnixListener.open(path: path, mode: 0o600)
      return try SocketServer(
        listening: socket, limits: limits, admits: admits, service: service)
    }
  }

  private static func secret(_ text: String) -> SharedSecret {
    var bytes = Array(text.utf8)
    return SharedSecret(SecretBytes(wiping: &bytes))
  }

  private static func text(_ secret: SharedSecret) -> String {
    secret.withBytes { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  /// A connection without anything around it, as many as a process may have; nil where it is refused.
  private static func connect(_ path: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if status == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private struct Answer {
    var status: Int
    var body: String
  }

  private static func send(_ raw: String, to connection: inout UnixConnection) throws {
    let bytes = Array(raw.utf8)
    try connection.send(bytes.span.bytes)
  }

  private static func receive(_ connection: inout UnixConnection) throws -> Answer {
    let head = try connection.receiveHead()
    var body: [UInt8] = []
    let error = connection.receiveBody(of: head) { piece in
      piece.withUnsafeBytes { body.append(contentsOf: $0) }
    }
    if let error { throw error }
    return Answer(status: head.status, body: String(decoding: body, as: UTF8.self))
  }

  private static let post =
    "POST /v1/echo?a=b%20c HTTP/1.1\r\nHost: vault\r\nContent-Length: 5\r\n\r\nhello"

  @Test("answers with what was asked, the asker's uid and the raw target")
  func echo() throws {
    let place = try Place()
    let server = try place.serve { request in
      SocketServer.Reply(
        201, headers: [("X-Target", request.message.target)],
        body: .bytes(
          Self.secret("\(request.peer.user) \(request.message.method) \(Self.text(request.body))")))
    }
    defer { server.stop() }
    var connection = try UnixConnection(path: place.path)
    connection.patience = 10_000
    for _ in 0..<3 {
      try Self.send(Self.post, to: &connection)
      let head = try connection.receiveHead()
      #expect(head.header("x-target") == "/v1/echo?a=b%20c")
      var body: [UInt8] = []
      let error = connection.receiveBody(of: head) { piece in
        piece.withUnsafeBytes { body.append(contentsOf: $0) }
      }
      #expect(error == nil)
      #expect(String(decoding: body, as: UTF8.self) == "\(geteuid()) POST hello")
    }
    #expect(try connection.peer() == geteuid())
  }

  @Test("sends an answer of unknown length piece by piece, while it is made")
  func pieces() throws {
    let place = try Place()
    let gate = DispatchSemaphore(value: 0)
    let server = try place.serve { _ in
      let number = Mutex(0)
      return SocketServer.Reply(
        200,
        body: .pieces {
          let now = number.withLock {
            $0 += 1
            return $0
          }
          // The second piece is not made before the client has the first.
          if now == 2 { gate.wait() }
          return now <= 3 ? Self.secret("piece \(now);") : nil
        })
    }
    defer { server.stop() }
    var connection = try UnixConnection(path: place.path)
    connection.patience = 10_000
    try Self.send("GET / HTTP/1.1\r\nHost: vault\r\n\r\n", to: &connection)
    let head = try connection.receiveHead()
    var seen: [String] = []
    let error = connection.receiveBody(of: head) { piece in
      if seen.isEmpty { gate.signal() }
      seen.append(piece.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }
    #expect(error == nil)
    #expect(seen.joined() == "piece 1;piece 2;piece 3;")
    #expect(seen.first == "piece 1;")
  }

  @Test("serves one connection while others wait in their answers")
  func waiting() throws {
    let place = try Place()
    let gate = DispatchSemaphore(value: 0)
    let server = try place.serve { request in
      if request.message.path == "/slow" { gate.wait() }
      return SocketServer.Reply(200, body: .bytes(Self.secret(request.message.path)))
    }
    defer { server.stop() }
    var slow = try UnixConnection(path: place.path)
    var quick = try UnixConnection(path: place.path)
    slow.patience = 10_000
    quick.patience = 10_000
    try Self.send("GET /slow HTTP/1.1\r\nHost: vault\r\n\r\n", to: &slow)
    try Self.send("GET /quick HTTP/1.1\r\nHost: vault\r\n\r\n", to: &quick)
    #expect(try Self.receive(&quick).body == "/quick")
    gate.signal()
    #expect(try Self.receive(&slow).body == "/slow")
  }

  @Test("closes a connection that is not admitted, unread")
  func refusal() throws {
    let place = try Place()
    let server = try place.serve(admits: { $0.user != geteuid() }) { _ in
      SocketServer.Reply(200, body: .bytes(Self.secret("never")))
    }
    defer { server.stop() }
    var connection = try UnixConnection(path: place.path)
    connection.patience = 10_000
    try Self.send(Self.post, to: &connection)
    #expect(throws: (any Error).self) { try connection.receiveHead() }
  }

  @Test("answers 413 to a body above the limit, announced or not")
  func tooLarge() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.body = 100
    let server = try place.serve(limits) { _ in
      SocketServer.Reply(200, body: .bytes(Self.secret("taken")))
    }
    defer { server.stop() }
    var announced = try UnixConnection(path: place.path)
    announced.patience = 10_000
    try Self.send(
      "POST / HTTP/1.1\r\nHost: vault\r\nContent-Length: 101\r\n\r\n", to: &announced)
    #expect(try Self.receive(&announced).status == 413)
    var chunked = try UnixConnection(path: place.path)
    chunked.patience = 10_000
    try Self.send(
      "POST / HTTP/1.1\r\nHost: vault\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n"
        + String(repeating: "x", count: 101) + "\r\n0\r\n\r\n", to: &chunked)
    #expect(try Self.receive(&chunked).status == 413)
    var fitting = try UnixConnection(path: place.path)
    fitting.patience = 10_000
    try Self.send(
      "POST / HTTP/1.1\r\nHost: vault\r\nContent-Length: 100\r\n\r\n"
        + String(repeating: "x", count: 100), to: &fitting)
    #expect(try Self.receive(&fitting).status == 200)
  }

  @Test("cuts off who sends a byte now and then, when the request's time is over")
  func slowloris() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.request = 300
    let server = try place.serve(limits) { _ in
      SocketServer.Reply(200, body: .bytes(Self.secret("never")))
    }
    defer { server.stop() }
    var connection = try UnixConnection(path: place.path)
    connection.patience = 20
    try Self.send("POST / HTTP/1.1\r\n", to: &connection)
    var isCutOff = false
    for _ in 0..<1000 where !isCutOff {
      try Self.send("x", to: &connection)
      do throws(SocketError) {
        _ = try connection.receiveHead()
      } catch {
        isCutOff = error != .timeout
      }
    }
    #expect(isCutOff)
  }

  @Test("64 clients at once get their own answers, and nothing is left open")
  func many() throws {
    let place = try Place()
    let server = try place.serve { request in
      SocketServer.Reply(200, body: .bytes(SharedSecret(request.body.bytes.copy())))
    }
    defer { server.stop() }
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 64) { client in
      do {
        var connection = try UnixConnection(path: place.path)
        connection.patience = 30_000
        for round in 0..<20 {
          let body = "client \(client) round \(round)"
          try Self.send(
            "POST / HTTP/1.1\r\nHost: vault\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body,
            to: &connection)
          let answer = try Self.receive(&connection)
          if answer.status != 200 || answer.body != body { wrong.withLock { $0 += 1 } }
        }
      } catch {
        wrong.withLock { $0 += 1 }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
    for _ in 0..<500 where server.connectionCount > 0 { usleep(10_000) }
    #expect(server.connectionCount == 0)
  }

  @Test("refuses more requests at once than its limit and serves again when some have gone")
  func limit() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.connections = 2
    let served = Atomic(0)
    let open = Atomic(false)
    let server = try place.serve(limits) { _ in
      served.add(1, ordering: .sequentiallyConsistent)
      while !open.load(ordering: .sequentiallyConsistent) { usleep(1000) }
      return SocketServer.Reply(200, body: .bytes(Self.secret("served")))
    }
    defer { server.stop() }
    do {
      var first = try UnixConnection(path: place.path)
      var second = try UnixConnection(path: place.path)
      first.patience = 10_000
      second.patience = 10_000
      try Self.send(Self.post, to: &first)
      try Self.send(Self.post, to: &second)
      for _ in 0..<1000 where served.load(ordering: .sequentiallyConsistent) < 2 { usleep(10_000) }
      var third = try UnixConnection(path: place.path)
      third.patience = 10_000
      try Self.send(Self.post, to: &third)
      #expect(throws: (any Error).self) { try third.receiveHead() }
      open.store(true, ordering: .sequentiallyConsistent)
      #expect(try Self.receive(&first).status == 200)
      #expect(try Self.receive(&second).status == 200)
    }
    for _ in 0..<500 where server.connectionCount > 0 { usleep(10_000) }
    var again = try UnixConnection(path: place.path)
    again.patience = 10_000
    try Self.send(Self.post, to: &again)
    #expect(try Self.receive(&again).status == 200)
  }

  @Test("answers a good client while a thousand others hold connections and say nothing")
  func idlers() throws {
    let place = try Place()
    let server = try place.serve { _ in
      SocketServer.Reply(200, body: .bytes(Self.secret("served")))
    }
    defer { server.stop() }
    var held: [Int32] = []
    defer { for descriptor in held { close(descriptor) } }
    for _ in 0..<1000 {
      // The server may be behind with accepting; its queue is short.
      let connection = try #require(Self.connect(place.path))
      held.append(connection)
      // Half of a head, as a slow client sends it.
      _ = Glibc.send(connection, "GET /v1", 7, Int32(MSG_NOSIGNAL))
    }
    for _ in 0..<20 {
      var good = try UnixConnection(path: place.path)
      good.patience = 10_000
      try Self.send(Self.post, to: &good)
      #expect(try Self.receive(&good).status == 200)
    }
    #expect(server.connectionCount <= 128 + 64)
  }

  @Test("a connection that waits between two requests gives way to another, a busy one does not")
  func eviction() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.connectionsPerUser = 2
    let server = try place.serve(limits) { _ in
      SocketServer.Reply(200, body: .bytes(Self.secret("served")))
    }
    defer { server.stop() }
    var first = try UnixConnection(path: place.path)
    first.patience = 10_000
    try Self.send(Self.post, to: &first)
    #expect(try Self.receive(&first).status == 200)
    // A client has its answer a moment before the server has done with it.
    for _ in 0..<1000 where server.freeCount < 1 { usleep(10_000) }
    var second = try UnixConnection(path: place.path)
    second.patience = 10_000
    try Self.send(Self.post, to: &second)
    #expect(try Self.receive(&second).status == 200)
    for _ in 0..<1000 where server.freeCount < 2 { usleep(10_000) }
    var third = try UnixConnection(path: place.path)
    third.patience = 10_000
    try Self.send(Self.post, to: &third)
    #expect(try Self.receive(&third).status == 200)
    // The one that had waited longest is gone, the other is not.
    #expect(throws: (any Error).self) {
      try Self.send(Self.post, to: &first)
      _ = try first.receiveHead()
    }
    try Self.send(Self.post, to: &second)
    #expect(try Self.receive(&second).status == 200)
  }

  @Test("a socket's file has its mode from the first moment on, whatever the umask")
  func mode() throws {
    let place = try Place()
    let before = umask(0)
    defer { umask(before) }
    let socket = try UnixListener.open(path: place.path, mode: 0o600)
    defer { close(socket) }
    var facts = stat()
    #expect(stat(place.path, &facts) == 0)
    #expect(facts.st_mode & 0o777 == 0o600)
    #expect(umask(0) == 0)
  }

  @Test("a path that is too long is told as such, by both ends")
  func tooLong() throws {
    let path = "/tmp/" + String(repeating: "x", count: 120)
    #expect(throws: SocketError.pathTooLong(limit: 107)) {
      try UnixListener.open(path: path, mode: 0o600)
    }
    #expect(throws: SocketError.pathTooLong(limit: 107)) { _ = try UnixConnection(path: path) }
  }
}
