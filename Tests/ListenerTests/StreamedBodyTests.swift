import Foundation
import Glibc
import Sodium
import Synchronization
import TestSupport
import Testing
import UnixSocket

@testable import Listener

/// A service that reads bodies on threads of its own, as a transport does: it never waits in a call.
private final class Reading: Sendable {
  private let read: Mutex<[UInt8]> = Mutex([])
  private let count = Mutex<Int64>(0)
  private let sum = Mutex<UInt64>(0)
  let last = Mutex<IncomingBody.Step>(.notYet)
  let ended = DispatchSemaphore(value: 0)
  /// How many bytes it may read before it waits for `more`.
  private let allowance: Mutex<Int64>
  private let body: Mutex<IncomingBody?> = Mutex(nil)
  let gone = DispatchSemaphore(value: 0)

  init(allowance: Int64 = .max) { self.allowance = Mutex(allowance) }

  var total: Int64 { count.withLock { $0 } }
  var checksum: UInt64 { sum.withLock { $0 } }
  var text: String { read.withLock { String(decoding: $0, as: UTF8.self) } }

  func begin(_ body: IncomingBody) {
    self.body.withLock { $0 = body }
    body.onReadable { [self] in DispatchQueue.global().async { self.go() } }
    DispatchQueue.global().async { self.go() }
  }

  func allowAll() {
    allowance.withLock { $0 = .max }
    go()
  }

  private func go() {
    guard let body = body.withLock({ $0 }) else { return }
    while total < allowance.withLock({ $0 }) {
      let step = body.read(7_919) { piece in
        let bytes = piece.withUnsafeBytes { Array($0) }
        read.withLock { if $0.count < 4096 { $0 += bytes } }
        count.withLock { $0 += Int64(bytes.count) }
        sum.withLock { sum in for byte in bytes { sum = sum &* 31 &+ UInt64(byte) } }
      }
      switch step {
      case .bytes: continue
      case .notYet: return
      case .end, .broken:
        last.withLock { $0 = step }
        ended.signal()
        return
      }
    }
  }
}

@Suite("A request body that is read while it comes")
struct StreamedBodyTests {
  private final class Place: Sendable {
    let folder: String
    var path: String { folder + "/s" }

    init() throws {
      var template = Array("/tmp/vault-stream-XXXXXX".utf8CString)
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
        entrance: { request in
          switch request.message.path {
          case "/stream": .streamed(streamed)
          case "/no": .answered(StreamedBodyTests.reply(403, "no"))
          default: .whole
          }
        },
        service: { request in
          StreamedBodyTests.reply(200, "whole \(request.body.count)")
        })
    }
  }

  private static func reply(_ status: Int, _ text: String) -> SocketServer.Reply {
    var bytes = Array(text.utf8)
    return SocketServer.Reply(status, body: .bytes(SharedSecret(SecretBytes(wiping: &bytes))))
  }

  private struct Answer {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    var error: SocketError?
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private static func connect(_ place: Place, patience: Int64 = 20_000) throws -> UnixConnection {
    var connection = try UnixConnection(path: place.path)
    connection.patience = patience
    return connection
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
    return Answer(status: head.status, headers: head.headers, body: body, error: error)
  }

  private static let pattern: [UInt8] = (0..<65_521).map {
    UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251)
  }

  private static func checksum(_ repeats: Int) -> UInt64 {
    var sum: UInt64 = 0
    for _ in 0..<repeats { for byte in pattern { sum = sum &* 31 &+ UInt64(byte) } }
    return sum
  }

  @Test("reaches its reader whole and in order, of a known length and in chunks")
  func whole() throws {
    for isChunked in [false, true] {
      let place = try Place()
      let reading = Reading()
      let seen = Mutex<Int64?>(-1)
      let server = try place.serve { request in
        seen.withLock { $0 = request.body?.length }
        guard let body = request.body else { return }
        DispatchQueue.global().async {
          reading.ended.wait()
          request.answer(Self.reply(200, "\(reading.total)"))
        }
        reading.begin(body)
      }
      defer { server.stop() }
      var connection = try Self.connect(place)
      let repeats = 16
      let length = Self.pattern.count * repeats
      try Self.send(
        "POST /stream HTTP/1.1\r\nHost: vault\r\n"
          + (isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)") + "\r\n\r\n",
        to: &connection)
      for _ in 0..<repeats {
        if isChunked {
          try Self.send(String(Self.pattern.count, radix: 16) + "\r\n", to: &connection)
        }
        try connection.send(Self.pattern.span.bytes)
        if isChunked { try Self.send("\r\n", to: &connection) }
      }
      if isChunked { try Self.send("0\r\n\r\n", to: &connection) }
      let answer = try Self.receive(&connection)
      #expect(answer.text == "\(length)")
      #expect(reading.checksum == Self.checksum(repeats))
      #expect(reading.last.withLock { $0 } == .end)
      #expect(seen.withLock { $0 } == (isChunked ? nil : Int64(length)))
      // The connection goes on with a body for the whole-body service.
      try Self.send(
        "POST /other HTTP/1.1\r\nHost: vault\r\nContent-Length: 5\r\n\r\nhello", to: &connection)
      #expect(try Self.receive(&connection).text == "whole 5")
    }
  }

  @Test("waits while its reader does: the client cannot write ahead without bound")
  func backpressure() throws {
    let place = try Place()
    let reading = Reading(allowance: 100_000)
    let server = try place.serve { request in
      guard let body = request.body else { return }
      DispatchQueue.global().async {
        reading.ended.wait()
        request.answer(Self.reply(200, "\(reading.total)"))
      }
      reading.begin(body)
    }
    defer { server.stop() }
    let repeats = 160
    let length = Self.pattern.count * repeats
    let written = Mutex(0)
    let path = place.path
    let answered = DispatchSemaphore(value: 0)
    let text = Mutex("")
    Thread.detachNewThread {
      defer { answered.signal() }
      guard var connection = try? UnixConnection(path: path) else { return }
      connection.patience = 30_000
      try? Self.send(
        "POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: \(length)\r\n\r\n",
        to: &connection)
      for _ in 0..<repeats {
        _ = try? connection.send(Self.pattern.span.bytes)
        written.withLock { $0 += Self.pattern.count }
      }
      let answer = try? Self.receive(&connection)
      text.withLock { $0 = answer?.text ?? "none" }
    }
    // Until the client stands still: the same number twice, well apart.
    var before = -1
    for _ in 0..<200 {
      let now = written.withLock { $0 }
      if now == before, now > 0, reading.total >= 100_000 { break }
      before = now
      usleep(100_000)
    }
    // What was read, what waits here, and what the kernel holds of a Unix socket.
    #expect(written.withLock { $0 } < 100_000 + IncomingBody.capacity + (2 << 20))
    #expect(reading.total < 110_000)
    reading.allowAll()
    answered.wait()
    #expect(text.withLock { $0 } == "\(length)")
    #expect(reading.checksum == Self.checksum(repeats))
  }

  @Test("is asked for with 100 Continue when somebody reads it, and not before")
  func continued() throws {
    let place = try Place()
    let request = Mutex<StreamedRequest?>(nil)
    let entered = DispatchSemaphore(value: 0)
    let reading = Reading()
    let server = try place.serve { streamed in
      request.withLock { $0 = streamed }
      entered.signal()
    }
    defer { server.stop() }
    let raw = try RawUnix(place.path)
    raw.write(
      "POST /stream HTTP/1.1\r\nHost: vault\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    entered.wait()
    #expect(!raw.hasBytes(within: 200))
    let streamed = try #require(request.withLock { $0 })
    reading.begin(try #require(streamed.body))
    #expect(raw.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
    raw.write("hello")
    reading.ended.wait()
    streamed.answer(Self.reply(201, reading.text))
    #expect(raw.read(until: "hello").hasPrefix("HTTP/1.1 201 "))
  }

  @Test("that nobody wants is refused before it is sent")
  func refused() throws {
    let place = try Place()
    let server = try place.serve { $0.answer(Self.reply(403, "not you")) }
    defer { server.stop() }
    for path in ["/stream", "/no"] {
      let raw = try RawUnix(place.path)
      raw.write(
        "POST \(path) HTTP/1.1\r\nHost: vault\r\nExpect: 100-continue\r\nContent-Length: 500\r\n\r\n"
      )
      let answer = raw.read()
      #expect(answer.hasPrefix("HTTP/1.1 403 "))
      #expect(!answer.contains("100 Continue"))
    }
    // Also to a client that does not wait to be asked.
    var eager = try Self.connect(place)
    try Self.send(
      "POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: 1000000\r\n\r\n", to: &eager)
    try eager.send(Self.pattern.span.bytes)
    #expect(try Self.receive(&eager).text == "not you")
  }

  @Test("whose reader stops is read to its end and dropped, and then answered")
  func dropped() throws {
    let place = try Place()
    let server = try place.serve { request in
      let first = DispatchSemaphore(value: 0)
      request.body?.onReadable { first.signal() }
      DispatchQueue.global().async {
        var step = request.body?.read(10) { _ in }
        while step == .notYet {
          first.wait()
          step = request.body?.read(10) { _ in }
        }
        request.body?.drop()
        request.answer(Self.reply(413, "enough"))
      }
    }
    defer { server.stop() }
    var connection = try Self.connect(place)
    let length = Self.pattern.count * 64
    try Self.send(
      "POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: \(length)\r\n\r\n", to: &connection)
    for _ in 0..<64 { try connection.send(Self.pattern.span.bytes) }
    let answer = try Self.receive(&connection)
    #expect(answer.status == 413 && answer.text == "enough")
  }

  @Test("that stands still is cut off, and its reader told")
  func stall() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.stall = 200
    let reading = Reading()
    let gone = DispatchSemaphore(value: 0)
    let server = try place.serve(limits) { request in
      request.whenGone { gone.signal() }
      if let body = request.body { reading.begin(body) }
    }
    defer { server.stop() }
    let raw = try RawUnix(place.path)
    raw.write("POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: 100\r\n\r\nhello")
    #expect(raw.read() == "")
    gone.wait()
    reading.ended.wait()
    #expect(reading.last.withLock { $0 } == .broken)
    #expect(reading.text == "hello")
  }

  @Test("that flows outlives any number of such times")
  func flow() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.stall = 2000
    limits.request = 2000
    let reading = Reading()
    let server = try place.serve(limits) { request in
      guard let body = request.body else { return }
      DispatchQueue.global().async {
        reading.ended.wait()
        request.answer(Self.reply(200, "\(reading.total)"))
      }
      reading.begin(body)
    }
    defer { server.stop() }
    var connection = try Self.connect(place)
    try Self.send(
      "POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: 60\r\n\r\n", to: &connection)
    for _ in 0..<60 {
      try Self.send("x", to: &connection)
      usleep(100_000)
    }
    #expect(try Self.receive(&connection).text == "60")
  }

  @Test("whose client goes away ends its reader and its service")
  func abort() throws {
    let place = try Place()
    let reading = Reading()
    let gone = DispatchSemaphore(value: 0)
    let server = try place.serve { request in
      request.whenGone { gone.signal() }
      if let body = request.body { reading.begin(body) }
    }
    defer { server.stop() }
    do {
      let raw = try RawUnix(place.path)
      raw.write("POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: 100\r\n\r\nhello")
      for _ in 0..<1000 where reading.total < 5 { usleep(10_000) }
    }
    #expect(gone.wait(timeout: .now() + 20) == .success)
    reading.ended.wait()
    #expect(reading.last.withLock { $0 } == .broken)
    for _ in 0..<1000 where server.connectionCount > 0 { usleep(10_000) }
    #expect(server.connectionCount == 0)
  }

  @Test("is held to its limit, announced or not")
  func limit() throws {
    let place = try Place()
    var limits = SocketServer.Limits()
    limits.streamedBody = 1000
    let reading = Reading()
    let server = try place.serve(limits) { request in
      if let body = request.body { reading.begin(body) }
    }
    defer { server.stop() }
    var announced = try Self.connect(place)
    try Self.send(
      "POST /stream HTTP/1.1\r\nHost: vault\r\nContent-Length: 1001\r\n\r\n", to: &announced)
    #expect(try Self.receive(&announced).status == 413)
    let chunked = try RawUnix(place.path)
    chunked.write(
      "POST /stream HTTP/1.1\r\nHost: vault\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "3e9\r\n" + String(repeating: "x", count: 1001) + "\r\n0\r\n\r\n")
    #expect(chunked.read() == "")
    reading.ended.wait()
    #expect(reading.last.withLock { $0 } == .broken)
  }
}
