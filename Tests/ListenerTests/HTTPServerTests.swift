import Listener
import Synchronization
import TestSupport
import Testing

@Suite struct HTTPServerTests {
  /// Answers with what it was asked.
  static func echo(_ request: HTTPServer.Request) -> HTTPServer.Response {
    let headers = request.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
    return .text(
      """
      \(request.method) [\(request.path)] [\(request.query ?? "none")] \(request.body.count)
      \(headers)
      """)
  }

  @Test func `a request reaches the handler and its answer the client`() throws {
    let server = try HTTPServer(handler: Self.echo)
    defer { server.stop() }
    let client = try RawConnection(server.port)
    client.write(
      "POST /a HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two: 2\r\nContent-Length: 5\r\n"
        + "Connection: close\r\n\r\nhello")
    let answer = client.read()
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
    #expect(answer.contains("POST [/a] [none] 5\n"))
    #expect(answer.contains("X-Two=1\nx-two=2"))
  }

  @Test(arguments: [
    ("/%61%2Fb?x=%26%3D+1&&y", "[/%61%2Fb] [x=%26%3D+1&&y]"), ("/?", "[/] []"), ("/", "[/] [none]"),
    ("/a?b?c#d", "[/a] [b?c#d]"), ("//h/../p;q?%zz%", "[//h/../p;q] [%zz%]"),
    ("http://other.example/p?q", "[http://other.example/p] [q]"), ("*", "[*] [none]"),
  ]) func `the target is handed out as it was written`(_ target: String, _ told: String) throws {
    let server = try HTTPServer(handler: Self.echo)
    defer { server.stop() }
    let client = try RawConnection(server.port)
    client.write("OPTIONS \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(client.read().contains("OPTIONS \(told) 0\n"))
  }

  @Test func `it listens on the loopback address that was asked for and on no other`() throws {
    let four = try HTTPServer(host: .ipv4, handler: Self.echo)
    defer { four.stop() }
    #expect(throws: (any Error).self) { try RawConnection(four.port, host: "::1") }
    let six = try HTTPServer(host: .ipv6, handler: Self.echo)
    defer { six.stop() }
    let client = try RawConnection(six.port, host: "::1")
    client.write("GET /six HTTP/1.0\r\n\r\n")
    #expect(client.read().contains("GET [/six]"))
    #expect(throws: (any Error).self) { try RawConnection(six.port) }
    // Another address of this machine.
    #expect(throws: (any Error).self) { try RawConnection(four.port, host: "127.0.0.2") }
  }

  @Test func `a port that is taken is an error that says so`() throws {
    let first = try HTTPServer(handler: Self.echo)
    #expect(throws: ListenerError.portInUse) {
      try HTTPServer(port: first.port, handler: Self.echo)
    }
    first.stop()
    let second = try HTTPServer(port: first.port, handler: Self.echo)
    #expect(second.port == first.port)
    second.stop()
  }

  @Test func `after stop the port is closed, and stop again does nothing`() throws {
    let server = try HTTPServer(handler: Self.echo)
    let open = try RawConnection(server.port)
    open.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(open.read(until: "GET [/]").contains("200"))
    server.stop()
    server.stop()
    #expect(open.isClosed(within: 10_000))
    #expect(throws: (any Error).self) { try RawConnection(server.port) }
  }

  @Test func `a handler may stop its own server`() throws {
    let own = Mutex<HTTPServer?>(nil)
    // What the handler holds while it runs.
    let box = Box(own)
    let server = try HTTPServer { _ in
      box.stop()
      return HTTPServer.Response(200)
    }
    box.set(server)
    let client = try RawConnection(server.port)
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(client.isClosed(within: 10_000) || client.read().hasPrefix("HTTP/1.1 200"))
    #expect(client.isClosed(within: 10_000))
  }

  final class Box: Sendable {
    let server: Mutex<HTTPServer?>
    init(_ server: consuming Mutex<HTTPServer?>) { self.server = server }
    func set(_ value: HTTPServer) { server.withLock { $0 = value } }
    func stop() { server.withLock { $0 }?.stop() }
  }

  @Test func `one connection serves several requests`() throws {
    let server = try ScriptedServer { _, number in .text("number \(number)") }
    let client = try RawConnection(server.port)
    for number in 0..<3 {
      client.write("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(client.read(until: "number \(number)").contains("number \(number)"))
    }
    #expect(server.requests.map(\.path) == ["/0", "/1", "/2"])
  }

  @Test func `an answer that waits holds nobody else up`() throws {
    let server = try ScriptedServer { request, _ in
      request.path == "/slow" ? .text("slow").after(milliseconds: 700) : .text("fast")
    }
    let slow = try RawConnection(server.port)
    slow.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    let fast = try RawConnection(server.port)
    fast.write("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(fast.read(until: "fast").contains("fast"))
    #expect(!slow.isClosed(within: 0))
    #expect(slow.read(until: "slow").hasSuffix("slow"))
  }

  @Test func `a server that is stopped lets go of answers that wait`() throws {
    let server = try ScriptedServer { _, _ in .text("never").after(milliseconds: 3_600_000) }
    let client = try RawConnection(server.port)
    client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    // A second request on the same thread tells that the first one was handled.
    let second = try RawConnection(server.port)
    second.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    while server.requests.count < 2 {}
    server.stop()
    #expect(client.read() == "" || client.isClosed(within: 10_000))
  }

  @Test func `a dropped request gets no answer`() throws {
    let server = try ScriptedServer { _, _ in .drop }
    let client = try RawConnection(server.port)
    client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
    #expect(client.read() == "")
    #expect(server.requests.map(\.text) == ["hi"])
  }

  @Test func `what follows an answer runs once, whether it was taken or not`() throws {
    let count = Counter()
    let server = try HTTPServer { request in
      var response = request.path == "/drop" ? .drop : HTTPServer.Response(204)
      response.afterwards = { count.add() }
      return response
    }
    defer { server.stop() }
    for path in ["/", "/drop"] {
      let client = try RawConnection(server.port)
      client.write("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      _ = client.read()
    }
    server.stop()
    #expect(count.value == 2)
  }

  final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    func add() { count.add(1, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
  }

  @Test func `an answer that is no HTTP becomes a 500`() throws {
    let server = try ScriptedServer { _, _ in
      HTTPServer.Response(200, headers: [("X", "a\r\nSet-Cookie: b")], body: [1])
    }
    let client = try RawConnection(server.port)
    client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let answer = client.read()
    #expect(answer.hasPrefix("HTTP/1.1 500 "))
    #expect(!answer.contains("Set-Cookie"))
  }
}
