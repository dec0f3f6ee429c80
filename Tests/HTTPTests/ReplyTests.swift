import Foundation
import HTTP
import HTTPTypes
import Sodium
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A reply` {
  let server: Server
  let client: HTTPClient

  init() throws {
    server = try Server()
    client = server.client()
  }

  private func request(_ path: String, _ change: (inout HTTPLimits) -> Void = { _ in })
    -> HTTPRequest
  {
    var request = HTTPRequest("GET", server.plain(path))
    change(&request.limits)
    return request
  }

  @Test func `has its headers in order, without those of interim replies`() async throws {
    let reply = try await client.send(request("/interim"))
    #expect(reply.status == 200)
    #expect(
      reply.headers.map { "\($0.name)=\($0.value)" }
        == ["Content-Length=4", "Set-Cookie=a=1", "X-Two=1", "x-two=2", "Empty="])
    #expect(reply.body.string == "last")
    #expect(reply.header("SET-COOKIE") == "a=1")
  }

  @Test func `leaves cookies and trailers alone`() async throws {
    _ = try await client.send(request("/interim"))
    let echo = try Echo(await client.send(request("/echo")))
    #expect(echo.values("Cookie").isEmpty)
    let reply = try await client.send(request("/trailer"))
    #expect(reply.body.string == "abc")
    #expect(reply.header("X-Late") == nil)
  }

  @Test(arguments: [204, 301, 400, 401, 403, 429, 500, 503])
  func `is one whatever its status`(_ status: Int) async throws {
    let reply = try await client.send(request("/status?\(status)+Because"))
    #expect(reply.status == status)
    #expect(reply.body.string == (status == 204 ? "" : "no"))
  }

  @Test func `that is compressed is decompressed`() async throws {
    let reply = try await client.send(request("/gzip"))
    #expect(reply.body.string == String(repeating: "plain text ", count: 100))
  }

  @Test func `is as large as allowed and no larger`() async throws {
    let fits = try await client.send(request("/chunks?16") { $0.body = 16 * 4096 })
    #expect(fits.body.count == 16 * 4096)
    let failure = try await end(of: client, request("/chunks?16") { $0.body = 16 * 4096 - 1 })
    #expect(failure.kind == .tooLarge)
    #expect(failure.mayHaveBeenSent)
  }

  @Test func `that never ends is cut off, with a receiver too`() async throws {
    let endless = request("/chunks?1000000")
    #expect(try await end(of: client, endless).kind == .tooLarge)
    let recorder = Recorder()
    #expect(try await end(of: client, endless, to: recorder).kind == .tooLarge)
    #expect(recorder.notes.withLock { $0.bytes } <= 1 << 20)
  }

  @Test func `that is a compression bomb is cut off at the limit`() async throws {
    #expect(try await end(of: client, request("/bomb")).kind == .tooLarge)
    let recorder = Recorder()
    #expect(try await end(of: client, request("/bomb"), to: recorder).kind == .tooLarge)
    #expect(recorder.notes.withLock { $0.bytes } <= 1 << 20)
  }

  @Test func `with too many headers is cut off`() async throws {
    let fits = try await client.send(request("/headers?100"))
    #expect(fits.headers.count == 101)
    #expect(try await end(of: client, request("/headers?100000")).kind == .tooLarge)
    #expect(try await end(of: client, request("/interims")).kind == .tooLarge)
  }

  @Test(arguments: ["/short", "/shortchunk", "/nothing", "/reset", "/garbage", "/notgzip"])
  func `that breaks off or is no HTTP is none`(_ path: String) async throws {
    let failure = try await end(of: client, request(path))
    #expect(failure.kind == .broken)
    #expect(failure.mayHaveBeenSent)
    #expect(failure.text.hasPrefix("127.0.0.1: "))
  }

  @Test(arguments: ["/never", "/trickle", "/stall"])
  func `that takes too long is none`(_ path: String) async throws {
    let began = ContinuousClock.now
    let failure = try await end(of: client, request(path) { $0.total = 300 })
    #expect(failure.kind == .timeout)
    #expect(failure.mayHaveBeenSent)
    #expect(ContinuousClock.now - began >= .milliseconds(300))
  }

  @Test func `that stalls ends without a total time too`() async throws {
    let stalled = request("/stall") {
      $0.total = nil
      $0.stall = 1
    }
    #expect(try await end(of: client, stalled).kind == .timeout)
  }

  @Test func `that redirects is the reply, and the second server sees nothing`() async throws {
    let target = server.plain("/echo", "other")
    var request = HTTPRequest(
      "POST", server.plain("/redirect?to=\(target)"),
      secretHeaders: [("Authorization", SharedSecret("Bearer canary"))],
      body: .bytes(
        SharedSecret("refresh_token=canary"), contentType: "application/x-www-form-urlencoded"))
    let reply = try await client.send(request)
    #expect(reply.status == 307)
    #expect(reply.header("location") == target)
    request.method = "GET"
    request.body = .none
    request.url = server.plain("/redirect?to=file:///etc/hostname")
    #expect(try await client.send(request).status == 307)
    let seen = try await server.seen("other")
    #expect(seen.connections == 0 && seen.bytes == 0)
  }

  @Test func `goes to its receiver piece by piece`() async throws {
    let recorder = Recorder()
    let reply = try await client.send(
      request("/chunks?1000") { $0.body = 8 << 20 }, to: recorder)
    #expect(reply.status == 200)
    #expect(reply.body.count == 0)
    recorder.notes.withLock { notes in
      #expect(notes.begins == [200])
      #expect(notes.headers == ["Transfer-Encoding"])
      #expect(!notes.isBodyFirst)
      #expect(notes.bytes == 1000 * 4096)
      #expect(notes.pieces > 1)
      #expect(notes.progress.last?.received ?? 0 >= 1000 * 4096)
    }
  }

  @Test func `is kept where the receiver does not want it`() async throws {
    let recorder = Recorder { (200..<300).contains($0) }
    let reply = try await client.send(request("/status?403+Forbidden"), to: recorder)
    #expect(reply.body.string == "no")
    recorder.notes.withLock { notes in
      #expect(notes.begins == [403])
      #expect(notes.bytes == 0)
    }
  }

  @Test func `without a body begins all the same`() async throws {
    let recorder = Recorder()
    _ = try await client.send(request("/status?204+Empty"), to: recorder)
    #expect(recorder.notes.withLock { $0.begins } == [204])
  }

  @Test func `ends where the receiver wants no more`() async throws {
    let recorder = Recorder(limit: 2)
    let failure = try await end(of: client, request("/chunks?100000"), to: recorder)
    #expect(failure.kind == .refused)
    #expect(recorder.notes.withLock { $0.pieces } == 3)
  }
}
