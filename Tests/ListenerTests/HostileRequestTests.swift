import Listener
import TestSupport
import Testing

@Suite struct HostileRequestTests {
  private static func server(
    _ change: (inout HTTPServer.Limits) -> Void = { _ in }
  ) throws -> ScriptedServer {
    var limits = HTTPServer.Limits()
    change(&limits)
    return try ScriptedServer(limits: limits) { request, _ in .text("\(request.body.count) bytes") }
  }

  /// The status line's number, nil where the connection was closed without one.
  private static func status(_ server: ScriptedServer, _ bytes: String) throws -> String? {
    let client = try RawConnection(server.port)
    client.write(bytes)
    client.finish()
    let answer = client.read().split(separator: " ", maxSplits: 2)
    return answer.count == 3 ? String(answer[1]) : nil
  }

  @Test func `what is no HTTP never reaches the handler`() throws {
    let server = try Self.server()
    for bytes in [
      "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
      "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}hello\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
      let status = try Self.status(server, bytes)
      #expect(status.map { $0.hasPrefix("4") || $0.hasPrefix("5") } ?? true, "\(bytes)")
    }
    #expect(server.requests.isEmpty, "\(server.requests)")
    #expect(try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") == "200")
  }

  @Test func `HTTP 1_0 without a host is served, and its connection closed`() throws {
    let server = try Self.server()
    let client = try RawConnection(server.port)
    client.write("GET / HTTP/1.0\r\n\r\n")
    #expect(client.read().hasSuffix("0 bytes"))
  }

  @Test func `a head that is too long is refused`() throws {
    let server = try Self.server { $0.head = 8 << 10 }
    let long = String(repeating: "a", count: 64 << 10)
    let target = try Self.status(server, "GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect([nil, "414", "431"].contains(target))
    let header = try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\nX: \(long)\r\n\r\n")
    #expect([nil, "431"].contains(header))
    let many = String(repeating: "X: y\r\n", count: 10_000)
    let headers = try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\n\(many)\r\n")
    #expect([nil, "431"].contains(headers))
    #expect(server.requests.isEmpty)
  }

  @Test func `a body past the limit is answered 413 and kept by nobody`() throws {
    let server = try Self.server { $0.body = 1000 }
    let fits = String(repeating: "a", count: 1000)
    let head = "POST / HTTP/1.1\r\nHost: x\r\n"
    #expect(try Self.status(server, head + "Content-Length: 1000\r\n\r\n" + fits) == "200")
    #expect(server.requests.count == 1)
    // Announced: refused before a byte of it came.
    #expect(try Self.status(server, head + "Content-Length: 1001\r\n\r\n") == "413")
    let chunk = "3e8\r\n\(fits)\r\n"
    #expect(
      try Self.status(
        server, head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "1\r\na\r\n0\r\n\r\n")
        == "413")
    // Without end: cut off.
    let client = try RawConnection(server.port)
    client.write(head + "Transfer-Encoding: chunked\r\n\r\n")
    var chunks = 0
    while chunks < 100_000, client.write(chunk) { chunks += 1 }
    #expect(chunks < 100_000)
    #expect(server.requests.count == 1)
  }

  @Test func `a client that dawdles is cut off, byte by byte or silent`() throws {
    let server = try Self.server {
      $0.idle = 60
      $0.request = 300
    }
    let silent = try RawConnection(server.port)
    let head = try RawConnection(server.port)
    head.write("GET / HTTP/1.1\r\nHo")
    let body = try RawConnection(server.port)
    body.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    var bytes = 0
    // Never idle: it ends because the request as a whole took too long.
    while bytes < 10_000, !body.isClosed(within: 10), body.write("a") { bytes += 1 }
    #expect(bytes < 10_000)
    #expect(silent.isClosed(within: 30_000))
    #expect(head.isClosed(within: 30_000))
    #expect(server.requests.isEmpty)
  }

  @Test func `an idle connection is closed`() throws {
    let server = try Self.server { $0.idle = 1 }
    let client = try RawConnection(server.port)
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(client.read(until: "0 bytes").hasSuffix("0 bytes"))
    #expect(client.isClosed(within: 30_000))
  }

  @Test func `no more connections than allowed are served at once`() throws {
    let server = try Self.server {
      $0.connections = 2
      $0.connectionsPerAddress = 2
    }
    var held: [RawConnection] = []
    for _ in 0..<2 {
      let client = try RawConnection(server.port)
      client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(client.read(until: "0 bytes").hasSuffix("0 bytes"))
      held.append(client)
    }
    let third = try RawConnection(server.port)
    third.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(!third.isClosed(within: 200) || third.read() == "")
    #expect(server.requests.count == 2)
    held.removeAll()
    // Whoever comes when there is room is served; the third was waiting or was refused.
    var served = ""
    for _ in 0..<200 where served.isEmpty {
      let fourth = try RawConnection(server.port)
      fourth.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      served = fourth.read()
    }
    #expect(served.hasPrefix("HTTP/1.1 200 "))
  }

  @Test func `two clients at once are both served`() async throws {
    let server = try Self.server()
    let first = try RawConnection(server.port)
    let second = try RawConnection(server.port)
    first.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab")
    second.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab")
    #expect(second.read(until: "bytes").hasSuffix("2 bytes"))
    first.write("cd")
    #expect(first.read(until: "bytes").hasSuffix("4 bytes"))
  }

  @Test func `a thousand hostile connections leave it serving`() throws {
    let server = try Self.server()
    for number in 0..<1000 {
      let client = try RawConnection(server.port)
      client.write(number % 2 == 0 ? "GET / HT" : "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\na")
    }
    #expect(try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") == "200")
  }
}
