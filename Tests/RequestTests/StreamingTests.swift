import AccountVault
import Accounts
import Dispatch
import Faults
import Foundation
import Listener
import Providers
import Synchronization
import TestSupport
import Testing

/// A server that answers one request with lines, each sent only after the client has seen the one before.
private final class LineServer: Sendable {
  let port: UInt16
  private let listening: Int32
  private let log = Log()

  final class Log: Sendable {
    /// Raised by the client for each line.
    let seen = DispatchSemaphore(value: 0)
    private let missed = Mutex<[String]>([])
    var unseen: [String] { missed.withLock { $0 } }
    func miss(_ line: String) { missed.withLock { $0.append(line) } }
  }

  /// - Parameter waits: Whether a line waits for the one before.
  init(_ lines: [String], contentType: String?, waits: Bool = true) throws {
    listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = listening
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listening, address, size) == 0 && listen(listening, 1) == 0
          && getsockname(listening, address, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRINUSE) }
    port = UInt16(bigEndian: address.sin_port)
    let log = log
    Thread.detachNewThread {
      let connection = accept(listening, nil, nil)
      guard connection >= 0 else { return }
      defer { close(connection) }
      Self.readHead(of: connection)
      let type = contentType.map { "Content-Type: \($0)\r\n" } ?? ""
      Self.write("HTTP/1.1 200 OK\r\n\(type)Connection: close\r\n\r\n", to: connection)
      for line in lines {
        Self.write(line, to: connection)
        guard waits else { continue }
        if log.seen.wait(timeout: .now() + 20) == .timedOut {
          log.miss(line)
          return
        }
      }
    }
  }

  deinit {
    // Wakes a thread to which nobody came.
    shutdown(listening, Int32(SHUT_RDWR))
    close(listening)
  }

  /// What was sent and not seen within 20 seconds; nothing is sent after it.
  var unseen: [String] { log.unseen }

  func saw() { log.seen.signal() }

  var url: String { "http://127.0.0.1:\(port)" }

  private static func readHead(of connection: Int32) {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(connection, &byte, 1, 0) == 1 {
      head.append(byte)
    }
  }

  private static func write(_ text: String, to connection: Int32) {
    let bytes = Array(text.utf8)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}

/// Tells the server of each line that came.
private final class LineReceiver: ResponseReceiver {
  private let server: LineServer
  private let text = Mutex<[UInt8]>([])
  private let begun = Mutex<[Int]>([])

  init(_ server: LineServer) { self.server = server }

  var all: String { text.withLock { String(decoding: $0, as: UTF8.self) } }
  var statuses: [Int] { begun.withLock { $0 } }

  func begin(status: Int, headers: [(name: String, value: String)]) {
    begun.withLock { $0.append(status) }
  }

  func receive(_ piece: RawSpan) -> Bool {
    let bytes = piece.withUnsafeBytes { Array($0) }
    text.withLock { $0 += bytes }
    for byte in bytes where byte == 0x0A { server.saw() }
    return true
  }
}

@Suite(.timeLimit(.minutes(3))) struct `A success` {
  static let lines = (1...4).map { #"{"event":\#($0)}"# + "\n" }

  @Test(
    arguments: [
      "application/json", "application/json; charset=utf-8", "application/x-www-form-urlencoded",
      "text/plain", "text/html", "application/x-ndjson", nil,
    ] as [String?])
  func `is handed out line by line as it comes`(_ type: String?) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "mastodon", permissions: ["read"])
    let server = try LineServer(Self.lines, contentType: type)
    let receiver = LineReceiver(server)
    let response = try await session.send(
      SignedRequest(.get, server.url + "/api"), app: "123", over: stage.network, to: receiver)
    #expect(server.unseen.isEmpty)
    #expect(receiver.all == Self.lines.joined() && receiver.statuses == [200])
    #expect(response.error == nil && response.body.isEmpty)
  }

  @Test(
    arguments: [
      ("slack", ["{\"ok\":false,\n", "\"error\":\"token_expired\"}\n"], ErrorClass.expired),
      (
        "facebook",
        ["{\"error\":{\"code\":190,\n", "\"error_subcode\":467,\"type\":\"OAuthException\"}}\n"],
        .invalid
      ),
      ("weibo", ["{\"error_code\":21321,\n", "\"error\":\"m\"}\n"], .config),
      ("tencentweibo", ["{\"ret\":4,\n", "\"msg\":\"m\"}\n"], .transient),
      ("twitter", ["{\"errors\":[{\"code\":130,\n", "\"message\":\"m\"}]}\n"], .transient),
    ] as [(String, [String], ErrorClass)])
  func `that may be a refusal is read as a whole first`(
    _ id: String, _ lines: [String], _ expected: ErrorClass
  ) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let permissions = ["slack": "chat:write", "tencentweibo": "all", "twitter": "read"]
    _ = try session.play(stage, id, permissions: [permissions[id] ?? "email"])
    let server = try LineServer(lines, contentType: "application/json", waits: false)
    let receiver = LineReceiver(server)
    let response = try await session.send(
      SignedRequest(.get, server.url + "/api"), app: "123", over: stage.network, to: receiver)
    #expect(response.status == 200 && response.errorClass == expected)
    #expect(response.error != nil)
    #expect(receiver.all == lines.joined() && receiver.statuses == [200])
  }

  @Test func `of a definition of one's own is read first where that says so`() async throws {
    let row = #""errors":[{"code":"busy","class":"transient"}]"#
    for (members, expected) in [
      (#""error_body":{"in_success":true},"# + row, ErrorClass.transient), (row, nil),
    ] as [(String, ErrorClass?)] {
      let stage = try Stage()
      let session = try stage.place.create()
      _ = try session.play(stage, "mastodon", permissions: ["read"], members)
      stage.on("/api", .json(#"{"error":"busy"}"#))
      let response = try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
      #expect(response.errorClass == expected && (response.error == nil) == (expected == nil))
    }
  }
}
