import Foundation
import HTTP
import HTTPTypes
import Sodium
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A request` {
  let server: Server
  let client: HTTPClient

  init() throws {
    server = try Server()
    client = server.client()
  }

  @Test func `goes up byte for byte, secrets in their places`() async throws {
    var request = HTTPRequest(
      "GET", server.plain("/echo?a=%2f..%7e/../b&&c"),
      headers: [("Accept", "text/plain"), ("X-Empty", "")],
      secretHeaders: [("Authorization", SharedSecret("Bearer canary"))])
    request.secretQuery = SharedSecret("access_token=tok%2Fen")
    let echo = try Echo(await client.send(request))
    #expect(echo.lines[0] == "GET /echo?a=%2f..%7e/../b&&c&access_token=tok%2Fen HTTP/1.1")
    #expect(echo.values("Authorization") == ["Bearer canary"])
    #expect(echo.values("X-Empty") == [""])
    #expect(echo.values("Accept") == ["text/plain"])
    #expect(echo.values("User-Agent") == ["AccountVault/1.2.3"])
    #expect(echo.values("Accept-Encoding") == ["gzip, deflate"])
    #expect(echo.values("Host") == ["127.0.0.1:\(server.ports["plain"] ?? 0)"])
    #expect(echo.values("Cookie").isEmpty && echo.values("Expect").isEmpty)
  }

  @Test func `with a secret query starts one where there is none`() async throws {
    var request = HTTPRequest("GET", server.plain("/echo"))
    request.secretQuery = SharedSecret("k=v")
    let echo = try Echo(await client.send(request))
    #expect(echo.lines[0] == "GET /echo?k=v HTTP/1.1")
  }

  @Test func `may bring its own agent and encodings`() async throws {
    let request = HTTPRequest(
      "GET", server.plain("/echo"),
      headers: [("user-agent", "mine"), ("accept-encoding", "identity")])
    let echo = try Echo(await client.send(request))
    #expect(echo.values("User-Agent") == ["mine"])
    #expect(echo.values("Accept-Encoding") == ["identity"])
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"])
  func `carries bytes with any method`(_ method: String) async throws {
    let body = String(repeating: "body\0é", count: 500_000)
    let request = HTTPRequest(
      method, server.plain("/echo"),
      body: .bytes(SharedSecret(body), contentType: "application/json"))
    let echo = try Echo(await client.send(request))
    #expect(echo.lines[0] == "\(method) /echo HTTP/1.1")
    #expect(echo.values("Content-Type") == ["application/json"])
    #expect(echo.values("Content-Length") == ["\(body.utf8.count)"])
    #expect(echo.values("Expect").isEmpty)
    #expect(echo.body.hasPrefix("body\0"))
  }

  @Test(arguments: ["GET", "DELETE", "OPTIONS", "POST", "PUT", "PATCH"])
  func `needs no body with any method`(_ method: String) async throws {
    let echo = try Echo(await client.send(HTTPRequest(method, server.plain("/echo"))))
    #expect(echo.lines[0] == "\(method) /echo HTTP/1.1")
    #expect(echo.values("Content-Type").isEmpty)
    let needsLength = ["POST", "PUT", "PATCH"].contains(method)
    #expect(echo.values("Content-Length") == (needsLength ? ["0"] : []))
  }

  @Test func `for the head alone waits for no body`() async throws {
    let reply = try await client.send(HTTPRequest("HEAD", server.plain("/head")))
    #expect(reply.status == 200)
    #expect(reply.header("content-length") == "5000000")
    #expect(reply.body.count == 0)
  }

  @Test func `with an empty body says so`() async throws {
    let request = HTTPRequest(
      "POST", server.plain("/echo"), body: .bytes(SharedSecret(""), contentType: "text/plain"))
    let echo = try Echo(await client.send(request))
    #expect(echo.values("Content-Length") == ["0"])
    #expect(echo.values("Content-Type") == ["text/plain"])
  }

  @Test(arguments: [
    "http://example.test/", "http://127.0.0.1.example.test/", "http://128.0.0.1/",
    "http://126.1/", "http://0x7e.0.0.1/", "http://2130706432.test/", "http://[::2]/",
    "http://127.0.0.1@example.test/", "https://user:secret@localhost/", "ftp://localhost/",
    "file:///etc/hostname", "localhost/x", "/x", "", "https://", "https:///x",
    "https://local host/", "https://localhost/ä", "https://localhost/a b",
    "https://localhost/#fragment", "https://localhost/\r\nX: y", "gopher://localhost/",
  ])
  func `to such an address is refused before anything is sent`(_ url: String) async throws {
    let failure = try await end(of: client, HTTPRequest("GET", url))
    #expect(failure.kind == .badRequest)
    #expect(!failure.mayHaveBeenSent)
    #expect(!failure.text.contains("secret"))
  }

  @Test(arguments: [
    ("X: y\r\nInjected", "v"), ("X", "v\r\nInjected: 1"), ("X", "a\0b"), ("", "v"), ("A B", "v"),
    ("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("host", "other.test"),
    ("Expect", "100-continue"), ("Connection", "close"),
  ])
  func `with such a header is refused, open or secret`(_ name: String, _ value: String)
    async throws
  {
    for request in [
      HTTPRequest("GET", server.plain("/echo"), headers: [(name, value)]),
      HTTPRequest(
        "GET", server.plain("/echo"), secretHeaders: [(name, SharedSecret(value))]),
    ] {
      let failure = try await end(of: client, request)
      #expect(failure.kind == .badRequest)
    }
    #expect(try await server.seen("plain").requests.isEmpty)
  }

  @Test(arguments: ["get", "", "G T", "CONNECT", "GET /x HTTP/1.1\r\nX:"])
  func `with such a method is refused`(_ method: String) async throws {
    let failure = try await end(of: client, HTTPRequest(method, server.plain("/echo")))
    #expect(failure.kind == .badRequest)
  }

  @Test func `with a secret query that is not encoded is refused`() async throws {
    for text in ["a b", "a\r\nX: y", "a#b", "ä"] {
      var request = HTTPRequest("GET", server.plain("/echo"))
      request.secretQuery = SharedSecret(text)
      #expect(try await end(of: client, request).kind == .badRequest)
    }
  }

  @Test func `of several parts names them as they are`() async throws {
    let directory = try TemporaryDirectory()
    try Data("in the file".utf8).write(to: URL(filePath: directory("note.txt")))
    let request = HTTPRequest(
      "POST", server.plain("/echo"),
      body: .multipart([
        HTTPBody.Part(name: "status", content: .bytes(SharedSecret("hello"))),
        HTTPBody.Part(
          name: "me\"dia", content: .file(directory("note.txt")), fileName: "a\"b.txt",
          contentType: "text/plain"),
        HTTPBody.Part(name: "empty", content: .bytes(SharedSecret(""))),
      ]))
    let echo = try Echo(await client.send(request))
    let type = try #require(echo.values("Content-Type").first)
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = try #require(type.components(separatedBy: "boundary=").last)
    #expect(
      echo.body
        == """
        --\(boundary)
        Content-Disposition: form-data; name="status"

        hello
        --\(boundary)
        Content-Disposition: form-data; name="me%22dia"; filename="a%22b.txt"
        Content-Type: text/plain

        in the file
        --\(boundary)
        Content-Disposition: form-data; name="empty"


        --\(boundary)--

        """.replacingOccurrences(of: "\n", with: "\r\n"))
  }

  @Test func `with a file that is not there, or is none, is not sent`() async throws {
    let directory = try TemporaryDirectory()
    try run("/usr/bin/mkfifo", directory("pipe"))
    for path in [directory("absent"), directory.path, directory("pipe")] {
      let request = HTTPRequest(
        "POST", server.plain("/echo"),
        body: .multipart([HTTPBody.Part(name: "f", content: .file(path))]))
      let failure = try await end(of: client, request)
      #expect(failure.kind == .file)
      #expect(failure.text.contains(path))
      #expect(!failure.mayHaveBeenSent)
    }
    #expect(try await server.seen("plain").requests.isEmpty)
  }

  @Test func `with a large file streams it`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.newFile("large")
    #expect(truncate(path, 200 << 20) == 0)
    // The transport's buffers are there before the measuring.
    _ = try await client.send(HTTPRequest("GET", server.plain("/echo")))
    let before = try residentBytes()
    let recorder = Recorder()
    var request = HTTPRequest(
      "POST", server.plain("/echo"),
      body: .multipart([HTTPBody.Part(name: "f", content: .file(path), fileName: "large")]))
    request.limits.total = nil
    let reply = try await client.send(request, to: recorder)
    #expect(reply.status == 200)
    #expect(try await server.seen("plain").bytes > 200 << 20)
    // Other tests run beside this one, so there is room for theirs.
    #expect(try residentBytes() - before < 100 << 20)
    let progress = recorder.notes.withLock { $0.progress }
    let last = try #require(progress.last)
    #expect(last.sent > 200 << 20 && last.ofSent == last.sent)
    #expect(progress.contains { 0 < $0.sent && $0.sent < 200 << 20 })
    #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.sent <= $1.sent })
  }

  private func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = try #require(Int(text.split(separator: " ")[1]))
    return pages * 4096
  }
}
