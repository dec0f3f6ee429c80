import AccountVaultNetwork
import Faults
import Foundation
import Listener
import Synchronization
import TestSupport
import Testing
import Time

@Suite struct RedirectListenerTests {
  private static func listener(
    _ redirect: LoopbackRedirect = .random()
  ) throws -> RedirectListener {
    try RedirectListener(redirect) { $0 == "state=right&code=%41" }
  }

  /// The port and the path of an address of this machine.
  private static func parts(_ address: String) throws -> (port: UInt16, path: String) {
    let url = try #require(URLComponents(string: address))
    return (UInt16(try #require(url.port)), url.path)
  }

  /// One request's whole answer, empty where the connection was closed.
  private static func ask(
    _ port: UInt16, _ line: String, host: String? = nil, at address: String = "127.0.0.1",
    more: String = ""
  ) throws -> String {
    let client = try RawConnection(port, host: address)
    client.write(
      "\(line) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n\(more)Connection: close\r\n\r\n"
    )
    return client.read()
  }

  /// The whole of what a browser does: the answer, then the page that it is sent on to.
  private static func browse(
    _ port: UInt16, _ path: String, host: String? = nil, at address: String = "127.0.0.1"
  ) throws -> String {
    let first = try ask(port, "GET \(path)?state=right&code=%41", host: host, at: address)
    #expect(first.hasPrefix("HTTP/1.1 303 "))
    let location = try #require(
      first.split(separator: "\r\n").first { $0.hasPrefix("Location: ") }?.dropFirst(10))
    #expect(location.hasPrefix("/") && !location.contains("?"))
    return first + (try ask(port, "GET \(location)", host: host, at: address))
  }

  private static let minutes: Int64 = 300_000_000_000

  private static func wait(
    _ listener: RedirectListener, nanoseconds: Int64 = minutes
  ) async -> Bool {
    await listener.wait(until: Clock.system.sinceBoot() + nanoseconds) { until in
      let left = until - Clock.system.sinceBoot()
      if left <= 0 { return true }
      return (try? await Task.sleep(nanoseconds: UInt64(left))) != nil
    }
  }

  @Test func `the good answer ends the wait, and the port is closed`() async throws {
    let listener = try Self.listener()
    let (port, path) = try Self.parts(listener.address)
    #expect(listener.address == "http://127.0.0.1:\(port)\(path)")
    #expect(path.utf8.count == 33)
    async let waited = Self.wait(listener)
    let page = try Self.browse(port, path)
    #expect(await waited)
    #expect(page.contains("HTTP/1.1 200 "))
    #expect(page.contains("go back to the terminal"))
    #expect(!page.contains("%41") && !page.contains("right"))
    for answer in page.components(separatedBy: "HTTP/1.1 ").dropFirst() {
      #expect(answer.contains("Cache-Control: no-store\r\n"))
      #expect(answer.contains("Referrer-Policy: no-referrer\r\n"))
      #expect(answer.contains("Content-Security-Policy: default-src 'none';"))
    }
    #expect(throws: (any Error).self) { try RawConnection(port) }
  }

  @Test func `an answer that was taken counts though nobody fetches the page`() async throws {
    let listener = try Self.listener()
    let (port, path) = try Self.parts(listener.address)
    async let waited = Self.wait(listener)
    #expect(try Self.ask(port, "GET \(path)?state=right&code=%41").hasPrefix("HTTP/1.1 303 "))
    #expect(await waited)
    #expect(throws: (any Error).self) { try RawConnection(port) }
  }

  @Test func `whatever else comes is refused, and the wait goes on`() async throws {
    let listener = try Self.listener()
    let (port, path) = try Self.parts(listener.address)
    async let waited = Self.wait(listener)
    let good = "state=right&code=%41"
    for (line, status) in [
      ("GET \(path)", "400"), ("GET \(path)?state=wrong&code=%41", "400"),
      ("GET \(path)?state=right&code=A", "400"), ("GET /?\(good)", "404"),
      ("GET \(path)/?\(good)", "404"), ("GET /favicon.ico", "404"), ("GET /\(path)?\(good)", "404"),
      ("GET http://127.0.0.1:\(port)\(path)?\(good)", "404"), ("POST \(path)?\(good)", "405"),
      ("HEAD \(path)?\(good)", "405"), ("OPTIONS \(path)?\(good)", "405"),
      ("DELETE \(path)?\(good)", "405"),
    ] {
      #expect(try Self.ask(port, line).hasPrefix("HTTP/1.1 \(status) "), "\(line)")
    }
    for host in [
      "127.0.0.1", "localhost:\(port)", "127.0.0.1:\(port + 1)", "example.org", "[::1]:\(port)",
      "127.0.0.1:\(port).", "example.org:\(port)", "0.0.0.0:\(port)", "127.1:\(port)", "",
    ] {
      #expect(
        try Self.ask(port, "GET \(path)?\(good)", host: host).hasPrefix("HTTP/1.1 400 "), "\(host)")
    }
    // Two of them, of which one is right.
    let twice = try Self.ask(port, "GET \(path)?\(good)", more: "Host: 127.0.0.1:\(port)\r\n")
    #expect(twice.hasPrefix("HTTP/1.1 400 "))
    // Without one, as HTTP/1.0 has it.
    let old = try RawConnection(port)
    old.write("GET \(path)?\(good) HTTP/1.0\r\n\r\n")
    #expect(old.read().contains(" 400 "))
    _ = try Self.browse(port, path)
    #expect(await waited)
  }

  @Test func `one answer is taken, whoever else sends it too`() async throws {
    let count = Mutex(0)
    let listener = try Counted(count)
    let (port, path) = try Self.parts(listener.listener.address)
    async let waited = Self.wait(listener.listener)
    let line = "GET \(path)?anything"
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<20 { group.addTask { (try? Self.ask(port, line)) ?? "" } }
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(answers.filter { $0.hasPrefix("HTTP/1.1 303 ") }.count == 1)
    #expect(await waited)
    #expect(listener.count == 1)
  }

  /// A listener whose check takes everything and counts.
  final class Counted: Sendable {
    let listener: RedirectListener
    private let calls: Box

    final class Box: Sendable {
      let value: Mutex<Int>
      init(_ value: consuming Mutex<Int>) { self.value = value }
    }

    init(_ count: consuming Mutex<Int>) throws {
      let calls = Box(count)
      self.calls = calls
      listener = try RedirectListener { _ in
        calls.value.withLock { $0 += 1 }
        return true
      }
    }

    var count: Int { calls.value.withLock { $0 } }
  }

  @Test func `ten thousand wrong answers are as good as none`() async throws {
    let listener = try Self.listener()
    let (port, path) = try Self.parts(listener.address)
    async let waited = Self.wait(listener)
    let client = try RawConnection(port)
    for number in 0..<10_000 {
      client.write(
        "GET \(path)?state=\(number)&code=x HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
      #expect(client.read(until: "</html>\n").hasPrefix("HTTP/1.1 400 "))
    }
    _ = try Self.browse(port, path)
    #expect(await waited)
  }

  @Test func `the wait ends with its time`() async throws {
    let listener = try Self.listener()
    let port = try Self.parts(listener.address).port
    #expect(await !Self.wait(listener, nanoseconds: 50_000_000))
    #expect(throws: (any Error).self) { try RawConnection(port) }
  }

  @Test func `the wait ends with its task`() async throws {
    let listener = try Self.listener()
    let port = try Self.parts(listener.address).port
    let task = Task { await Self.wait(listener) }
    task.cancel()
    #expect(await !task.value)
    #expect(throws: (any Error).self) { try RawConnection(port) }
  }

  @Test func `a listener that nobody waits for closes its port`() throws {
    var listener: RedirectListener? = try Self.listener()
    let port = try Self.parts(listener?.address ?? "").port
    listener = nil
    #expect(throws: (any Error).self) { try RawConnection(port) }
  }

  @Test func `the other loopback addresses serve too`() async throws {
    let six = try Self.listener(.random(host: .ipv6))
    let (port, path) = try Self.parts(six.address)
    #expect(six.address.hasPrefix("http://[::1]:"))
    async let first = Self.wait(six)
    _ = try Self.browse(port, path, host: "[::1]:\(port)", at: "::1")
    #expect(await first)

    for address in ["127.0.0.1", "::1"] {
      let both = try Self.listener(#require(LoopbackRedirect("http://localhost/cb")))
      let (port, path) = try Self.parts(both.address)
      #expect(both.address == "http://localhost:\(port)/cb")
      async let second = Self.wait(both)
      _ = try Self.browse(port, path, host: "localhost:\(port)", at: address)
      #expect(await second)
    }
  }

  @Test func `a registered port is used, and one that is taken is told`() async throws {
    let free = try HTTPServer { _ in HTTPServer.Response(200) }
    let redirect = try #require(LoopbackRedirect("http://127.0.0.1:\(free.port)"))
    let failure = #expect(throws: VaultError.self) { try Self.listener(redirect) }
    #expect(failure?.code == .tryAgain)
    #expect(failure?.message.contains(":\(free.port)") == true)
    free.stop()
    let listener = try Self.listener(redirect)
    #expect(listener.address == "http://127.0.0.1:\(free.port)")
    async let waited = Self.wait(listener)
    _ = try Self.browse(free.port, "/")
    #expect(await waited)
    // The port can be had again at once.
    let again = try Self.listener(redirect)
    again.close()
  }

  @Test(arguments: [
    ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb"),
    ("http://127.0.0.1:8080/a/b", "http://127.0.0.1:9/a/b"),
    ("http://[::1]:1/", "http://[::1]:9/"), ("http://localhost", "http://localhost:9"),
    ("http://localhost:65535/%41;x=@~", "http://localhost:9/%41;x=@~"),
  ]) func `a registered address is kept as it is`(_ text: String, _ expected: String) throws {
    #expect(try #require(LoopbackRedirect(text)).address(port: 9) == expected)
  }

  @Test(arguments: [
    "https://127.0.0.1/cb", "http://127.0.0.2/cb", "http://example.org/", "http://localhost.x/",
    "http://127.0.0.1@example.org/", "http://127.0.0.1:0/", "http://127.0.0.1:/",
    "http://127.0.0.1:65536/", "http://127.0.0.1:080/", "http://127.0.0.1:+80/",
    "http://localhost/cb?x=1", "http://localhost/cb#", "http://localhost/c b", "localhost:80", "",
    "http://[::1", "http://::1/", "HTTP://localhost/", "http://localhost/ü", "http:///cb",
  ]) func `another address is none of this machine`(_ text: String) {
    #expect(LoopbackRedirect(text) == nil)
  }
}
