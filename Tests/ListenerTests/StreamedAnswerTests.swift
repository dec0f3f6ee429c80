import Foundation
import Glibc
import Sodium
import Synchronization
import TestSupport
import Testing
import UnixSocket

@testable import Listener

@Suite("An answer that is made beside its connection's thread")
struct StreamedAnswerTests {
  private final class Place: Sendable {
    let folder: String
    var path: String { folder + "/s" }

    init() throws {
      var template = Array("/tmp/vault-answer-XXXXXX".utf8CString)
      folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func serve(
      _ limits: SocketServer.Limits = .init(),
      _ streamed: @escaping @Sendable (StreamedRequest) -> Void
    ) throws -> SocketServer {
      let socket = try UnixListener.open(path: path, mode: 0o600)
      return try SocketServer(
        listening: socket, limits: limits, admits: { _ in true },
        entrance: { _ in .streamed(streamed) },
        service: { _ in SocketServer.Reply(500, body: .pieces { nil }) })
    }
  }

  /// Writes a pattern, as much as there is room for, and goes on when it is called.
  private final class Writing: Sendable {
    static let piece: [UInt8] = (0..<10_007).map { UInt8(truncatingIfNeeded: $0 * 11) }
    private let left: Mutex<Int>
    let written = Mutex(0)
    let refused = DispatchSemaphore(value: 0)
    private let body: OutgoingBody
    private let breaks: Bool

    init(_ body: OutgoingBody, pieces: Int, breaks: Bool = false) {
      self.body = body
      self.breaks = breaks
      left = Mutex(pieces)
    }

    func go() {
      while left.withLock({ $0 }) > 0 {
        guard
          body.hasRoom(
            for: Self.piece.count, orCall: { DispatchQueue.global().async { self.go() } })
        else { return }
        guard body.write(Self.piece.span.bytes) else {
          refused.signal()
          return
        }
        written.withLock { $0 += Self.piece.count }
        left.withLock { $0 -= 1 }
      }
      if breaks { body.fail() } else { body.finish() }
    }
  }

  private static func get(_ path: String, _ method: String = "GET") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: vault\r\n\r\n"
  }

  private static func receive(
    _ connection: inout UnixConnection
  ) throws -> (UnixConnection.Head, [UInt8], SocketError?) {
    let head = try connection.receiveHead()
    var body: [UInt8] = []
    let error = connection.receiveBody(of: head) { piece in
      piece.withUnsafeBytes { body.append(contentsOf: $0) }
    }
    return (head, body, error)
  }

  @Test("arrives whole, with its length where that is known and in chunks where not")
  func whole() throws {
    for isKnown in [true, false] {
      let place = try Place()
      let pieces = 300
      let length = Writing.piece.count * pieces
      let server = try place.serve { request in
        guard let body = try? OutgoingBody(length: isKnown ? Int64(length) : nil) else { return }
        request.answer(SocketServer.Reply(200, body: .stream(body)))
        let writing = Writing(body, pieces: pieces)
        DispatchQueue.global().async { writing.go() }
      }
      defer { server.stop() }
      var connection = try UnixConnection(path: place.path)
      connection.patience = 20_000
      // Twice over the same connection.
      for _ in 0..<2 {
        try connection.send(Array(Self.get("/").utf8).span.bytes)
        let (head, body, error) = try Self.receive(&connection)
        #expect(error == nil)
        #expect(head.header("content-length") == (isKnown ? "\(length)" : nil))
        #expect(head.header("transfer-encoding") == (isKnown ? nil : "chunked"))
        #expect(body.elementsEqual((0..<pieces).flatMap { _ in Writing.piece }))
      }
    }
  }

  @Test("that breaks off is never taken for a whole one")
  func broken() throws {
    for isKnown in [true, false] {
      let place = try Place()
      let server = try place.serve { request in
        guard let body = try? OutgoingBody(length: isKnown ? 1_000_000 : nil) else { return }
        request.answer(SocketServer.Reply(200, body: .stream(body)))
        let writing = Writing(body, pieces: 3, breaks: true)
        DispatchQueue.global().async { writing.go() }
      }
      defer { server.stop() }
      var connection = try UnixConnection(path: place.path)
      connection.patience = 20_000
      try connection.send(Array(Self.get("/").utf8).span.bytes)
      let (_, body, error) = try Self.receive(&connection)
      #expect(body.count <= Writing.piece.count * 3)
      #expect(error != nil)
    }
  }

  @Test("waits for a client that reads slowly, with a bounded part of it in memory")
  func slow() throws {
    let place = try Place()
    let writing = Mutex<Writing?>(nil)
    let pieces = 1000
    let server = try place.serve { request in
      guard let body = try? OutgoingBody() else { return }
      request.answer(SocketServer.Reply(200, body: .stream(body)))
      let new = Writing(body, pieces: pieces)
      writing.withLock { $0 = new }
      DispatchQueue.global().async { new.go() }
    }
    defer { server.stop() }
    var connection = try UnixConnection(path: place.path)
    connection.patience = 20_000
    try connection.send(Array(Self.get("/").utf8).span.bytes)
    let head = try connection.receiveHead()
    var before = -1
    for _ in 0..<200 {
      let now = writing.withLock { $0?.written.withLock { $0 } ?? 0 }
      if now == before, now > 0 { break }
      before = now
      usleep(100_000)
    }
    #expect(before < OutgoingBody.capacity + (2 << 20))
    var count = 0
    let error = connection.receiveBody(of: head) { piece in count += piece.byteCount }
    #expect(error == nil && count == Writing.piece.count * pieces)
  }

  @Test("ends, and so does whoever makes it, when its client goes away in the middle or before it")
  func gone() throws {
    let place = try Place()
    let gone = DispatchSemaphore(value: 0)
    let writing = Mutex<Writing?>(nil)
    let entered = DispatchSemaphore(value: 0)
    let server = try place.serve { request in
      request.whenGone { gone.signal() }
      entered.signal()
      guard request.request.message.path == "/endless", let body = try? OutgoingBody() else {
        return
      }
      request.answer(SocketServer.Reply(200, body: .stream(body)))
      let new = Writing(body, pieces: .max)
      writing.withLock { $0 = new }
      DispatchQueue.global().async { new.go() }
    }
    defer { server.stop() }
    do {
      let raw = try RawUnix(place.path)
      raw.write(Self.get("/endless"))
      #expect(raw.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    }
    #expect(gone.wait(timeout: .now() + 20) == .success)
    let stopped = try #require(writing.withLock { $0 })
    #expect(stopped.refused.wait(timeout: .now() + 20) == .success)
    // While nothing at all is sent: only the kernel tells that nobody is there.
    entered.wait()
    do {
      let raw = try RawUnix(place.path)
      raw.write(Self.get("/silent"))
      entered.wait()
    }
    #expect(gone.wait(timeout: .now() + 20) == .success)
    for _ in 0..<1000 where server.connectionCount > 0 { usleep(10_000) }
    #expect(server.connectionCount == 0)
  }

  @Test(
    "reaches a client that writes no more, and one whose answer takes longer than silence may last")
  func late() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.idle = 1
    let server = try place.serve(limits) { request in
      guard let body = try? OutgoingBody() else { return }
      DispatchQueue.global().asyncAfter(deadline: .now() + 2.5) {
        request.answer(SocketServer.Reply(200, body: .stream(body)))
        body.write(Array("one;".utf8).span.bytes)
        DispatchQueue.global().asyncAfter(deadline: .now() + 2.5) {
          body.write(Array("two;".utf8).span.bytes)
          body.finish()
        }
      }
    }
    defer { server.stop() }
    let raw = try RawUnix(place.path)
    raw.write(Self.get("/"))
    raw.finish()
    let answer = raw.read()
    #expect(answer.contains("one;") && answer.contains("two;"))
  }

  @Test("to HEAD has the length and no body")
  func head() throws {
    let place = try Place()
    let server = try place.serve { request in
      guard let body = try? OutgoingBody(length: 12_345) else { return }
      body.finish()
      request.answer(SocketServer.Reply(200, body: .stream(body)))
    }
    defer { server.stop() }
    let raw = try RawUnix(place.path)
    raw.write("HEAD / HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n\r\n")
    let answer = raw.read()
    #expect(answer.contains("Content-Length: 12345\r\n"))
    #expect(answer.hasSuffix("\r\n\r\n"))
  }

  @Test("of a stopping server ends at once")
  func stop() throws {
    let place = try Place()
    let entered = DispatchSemaphore(value: 0)
    let gone = DispatchSemaphore(value: 0)
    let server = try place.serve { request in
      request.whenGone { gone.signal() }
      entered.signal()
    }
    let raw = try RawUnix(place.path)
    raw.write(Self.get("/"))
    entered.wait()
    server.stop()
    #expect(gone.wait(timeout: .now() + 20) == .success)
    #expect(raw.read() == "")
  }
}
