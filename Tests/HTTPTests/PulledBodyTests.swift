import Dispatch
import Foundation
import HTTP
import HTTPTypes
import Synchronization
import Testing

/// Gives bytes of a pattern, in pieces of its own size, and says now and then that there are none yet.
private final class PatternReader: HTTPBodyReader {
  private struct State {
    var position: Int64 = 0
    var turn = 0
    var wake: (@Sendable () -> Void)?
    var mayGo = true
  }

  private let state: Mutex<State>
  private let count: Int64
  private let pauses: Bool
  private let end: HTTPBodyStep

  /// - Parameters:
  ///   - holds: Gives nothing before ``go()``.
  init(_ count: Int64, pauses: Bool = false, holds: Bool = false, end: HTTPBodyStep = .end) {
    self.count = count
    self.pauses = pauses
    self.end = end
    state = Mutex(State(mayGo: !holds))
  }

  var given: Int64 { state.withLock { $0.position } }

  func go() {
    let wake = state.withLock { state in
      state.mayGo = true
      return state.wake
    }
    wake?()
  }

  func onReadable(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  func read(_ limit: Int, _ body: (RawSpan) -> Void) -> HTTPBodyStep {
    let (start, wake) = state.withLock { state -> (Int64?, (@Sendable () -> Void)?) in
      guard state.mayGo else { return (nil, nil) }
      state.turn += 1
      if pauses, state.turn % 3 == 0 { return (nil, state.wake) }
      return (state.position, nil)
    }
    guard let start else {
      // From another thread, sometimes before this call is back.
      if let wake { DispatchQueue.global().async { wake() } }
      return .notYet
    }
    guard start < count else { return end }
    let part = Int(min(Int64(min(limit, 9_973)), count - start))
    let bytes = (0..<part).map { Self.byte(start + Int64($0)) }
    body(bytes.span.bytes)
    state.withLock { $0.position += Int64(part) }
    return .bytes(part)
  }

  static func byte(_ place: Int64) -> UInt8 { UInt8(truncatingIfNeeded: place &* 7 &+ place / 251) }

  /// What `/hash` says of the whole.
  static func hash(_ count: Int64) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/sha256sum")
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let bytes = Data((0..<count).map(byte))
    DispatchQueue.global().async {
      try? input.fileHandleForWriting.write(contentsOf: bytes)
      try? input.fileHandleForWriting.close()
    }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return "\(count) \(text.prefix(64))"
  }
}

/// Has room only when it says so.
private final class SlowReceiver: HTTPReceiver {
  private struct State {
    var count = 0
    var isRight = true
    var isOpen = false
    var wake: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.count } }
  var isRight: Bool { state.withLock { $0.isRight } }
  var waits: Bool { state.withLock { $0.wake != nil } }

  /// Takes one more piece.
  func open() {
    let wake = state.withLock { state in
      state.isOpen = true
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  func begin(status: Int, headers: [(name: String, value: String)]) -> Bool { true }

  func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard !state.isOpen else {
        state.isOpen = false
        return true
      }
      state.wake = wake
      return false
    }
  }

  func receive(_ piece: RawSpan) -> Bool {
    let bytes = piece.withUnsafeBytes { Array($0) }
    state.withLock { state in
      for (offset, byte) in bytes.enumerated()
      where byte != UInt8(truncatingIfNeeded: state.count + offset) {
        state.isRight = false
      }
      state.count += bytes.count
    }
    return true
  }
}

@Suite(.timeLimit(.minutes(2))) struct `A pulled body` {
  private func request(
    _ url: String, _ reader: PatternReader, length: Int64?, method: String = "POST",
    type: String? = "video/mp4"
  ) -> HTTPRequest {
    var request = HTTPRequest(
      method, url, body: .pulled(reader, length: length, contentType: type))
    request.mayPause = true
    return request
  }

  @Test(
    arguments: [0, 1, 65_536, 3_000_001] as [Int64],
    ["POST", "PUT", "PATCH", "DELETE"])
  func `arrives whole`(_ count: Int64, _ method: String) async throws {
    let server = try Server()
    let client = server.client()
    let hash = try PatternReader.hash(count)
    for url in [server.plain("/hash"), server.secure("/hash")] {
      for isKnown in [true, false] {
        let reader = PatternReader(count, pauses: true)
        let echo = try Echo(
          await client.send(
            request(url, reader, length: isKnown ? count : nil, method: method)))
        #expect(echo.body == hash)
        #expect(echo.lines.first == "\(method) /hash HTTP/1.1")
        #expect(echo.values("Content-Length") == (isKnown ? ["\(count)"] : []))
        #expect(echo.values("Transfer-Encoding") == (isKnown ? [] : ["chunked"]))
        #expect(echo.values("Content-Type") == ["video/mp4"])
        #expect(echo.values("Expect").isEmpty)
      }
    }
  }

  @Test func `without a media type is sent without one`() async throws {
    let server = try Server()
    let echo = try Echo(
      await server.client().send(
        request(server.plain("/hash"), PatternReader(10), length: 10, type: nil)))
    #expect(echo.values("Content-Type").isEmpty)
  }

  @Test func `that waits holds no other request up, and goes on`() async throws {
    let server = try Server()
    let client = server.client()
    let reader = PatternReader(100_000, holds: true)
    let waiting = request(server.plain("/hash"), reader, length: 100_000)
    async let reply = client.send(waiting)
    try await server.wait(for: 1, at: "plain")
    for _ in 0..<20 {
      #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
    }
    #expect(reader.given == 0)
    reader.go()
    #expect(try Echo(await reply).body == PatternReader.hash(100_000))
  }

  @Test func `that breaks off, or ends too early, is a failure that says so`() async throws {
    let server = try Server()
    let client = server.client()
    for (reader, length) in [
      (PatternReader(1000, end: .broken), nil), (PatternReader(1000, end: .broken), 2000),
      (PatternReader(1000), 2000),
    ] as [(PatternReader, Int64?)] {
      let failure = try await end(
        of: client, request(server.plain("/hash"), reader, length: length))
      #expect(failure.kind == .body && failure.mayHaveBeenSent)
    }
    // Never a request that the server takes for whole.
    #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
  }

  @Test func `is never sent past its announced length`() async throws {
    let server = try Server()
    let reader = PatternReader(5000)
    let echo = try Echo(
      await server.client().send(request(server.plain("/hash"), reader, length: 3000)))
    #expect(try echo.body == PatternReader.hash(3000))
    #expect(reader.given == 3000)
  }

  @Test func `is left unread where the server has answered`() async throws {
    let server = try Server()
    let reader = PatternReader(1 << 40)
    do throws(HTTPFailure) {
      let reply = try await server.client().send(
        request(server.plain("/early"), reader, length: 1 << 40))
      #expect(reply.status == 401)
    } catch {
      // The server closed with some of it unread, which may reset the connection.
      #expect(error.kind == .broken && error.mayHaveBeenSent)
    }
    #expect(reader.given < 64 << 20)
  }

  @Test func `of a cancelled task is read no more`() async throws {
    let server = try Server()
    let client = server.client()
    let reader = PatternReader(1000, holds: true)
    let waiting = request(server.plain("/hash"), reader, length: 1000)
    let task = Task { try await end(of: client, waiting) }
    try await server.wait(for: 1, at: "plain")
    task.cancel()
    #expect(try await task.value.kind == .cancelled)
    reader.go()
    #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
    #expect(reader.given == 0)
  }

  @Test func `and a reader that is full let 64 requests wait and a small one pass`() async throws {
    let server = try Server()
    let authority = server.certificates.authority
    let client = HTTPClient(
      version: "1", environment: HTTPEnvironment { $0 == "SSL_CERT_FILE" ? authority : nil },
      capacity: .waiting(80))
    let readers = (0..<64).map { _ in PatternReader(10_000, holds: true) }
    try await withThrowingTaskGroup(of: String.self) { group in
      for reader in readers {
        let waiting = request(server.plain("/hash"), reader, length: 10_000)
        group.addTask { try await Echo(client.send(waiting)).body }
      }
      try await server.wait(for: 64, at: "plain")
      #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
      for reader in readers { reader.go() }
      let hash = try PatternReader.hash(10_000)
      for try await body in group { #expect(body == hash) }
    }
  }
}

@Suite(.timeLimit(.minutes(2))) struct `A reply whose reader is full` {
  @Test(arguments: ["plain", "secure"])
  func `waits, and comes whole`(_ port: String) async throws {
    let server = try Server()
    let client = server.client()
    let count = 2_000_000
    let path = "/bytes?\(count)"
    var request = HTTPRequest(
      "GET", port == "plain" ? server.plain(path) : server.secure(path))
    request.mayPause = true
    request.limits.body = 1 << 30
    let receiver = SlowReceiver()
    let sent = request
    async let reply = client.send(sent, to: receiver)
    let end = ContinuousClock.now + .seconds(60)
    // Piece by piece, each only after the one before has been taken and the transfer waits again.
    while receiver.count < count {
      try #require(ContinuousClock.now < end)
      if receiver.waits {
        receiver.open()
      } else {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    #expect(try await reply.status == 200)
    #expect(receiver.isRight)
  }

  @Test func `is not read ahead without bound`() async throws {
    let server = try Server()
    let client = server.client()
    var request = HTTPRequest("GET", server.plain("/bytes?100000000"))
    request.mayPause = true
    request.limits.body = 1 << 30
    let receiver = SlowReceiver()
    let sent = request
    let task = Task { try await end(of: client, sent, to: receiver) }
    let limit = ContinuousClock.now + .seconds(60)
    while !receiver.waits {
      try #require(ContinuousClock.now < limit)
      try await Task.sleep(for: .milliseconds(1))
    }
    // Others pass meanwhile, and nothing more is taken.
    for _ in 0..<50 {
      #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
    }
    #expect(receiver.count == 0)
    task.cancel()
    #expect(try await task.value.kind == .cancelled)
  }
}
