import AccountVaultClient
import Foundation
import Synchronization
import Testing

/// A body that is a stream, and when it is begun.
@Suite struct `A streamed body` {
  private struct Broken: Error {}

  /// Pieces that are counted as they are taken.
  private final class Source: Sendable {
    let taken = Mutex(0)
    let pieces: [[UInt8]]
    let breaks: Bool

    init(_ pieces: [[UInt8]], breaks: Bool = false) {
      self.pieces = pieces
      self.breaks = breaks
    }

    var stream: AsyncThrowingStream<[UInt8], any Error> {
      AsyncThrowingStream {
        let number = self.taken.withLock { taken in
          defer { taken += 1 }
          return taken
        }
        if number < self.pieces.count { return self.pieces[number] }
        if self.breaks { throw Broken() }
        return nil
      }
    }
  }

  private static func request(_ body: RequestBody) -> ProviderRequest {
    ProviderRequest(
      "POST", "https://api.example/media", headers: [Header("Content-Type", "video/mp4")],
      body: body, account: "own:lestat", permissions: ["post", "media"])
  }

  @Test func `is asked for, and comes in chunks`() async throws {
    let heads = Mutex<[String]>([])
    let bodies = Mutex<[String]>([])
    let agent = try ScriptedAgent { visitor, _ in
      guard let head = visitor.head() else { return }
      heads.withLock { $0.append(head) }
      visitor.send("HTTP/1.1 100 Continue\r\n\r\n")
      var body = ""
      while !body.hasSuffix("0\r\n\r\n"), let more = visitor.some() {
        body += String(decoding: more, as: UTF8.self)
      }
      bodies.withLock { $0.append(body) }
      visitor.answer("done", status: 201, headers: ["Vault-Source: provider", "X-A: b"])
    }
    let client = try `A client's connections`.client(agent)
    let source = Source([Array("abc".utf8), [], Array("0123456789".utf8)])
    let response = try await client.send(Self.request(.stream(source.stream)))
    #expect(response.status == 201 && response.header("x-a") == "b")
    #expect(try await response.body.bytes() == Array("done".utf8))
    #expect(bodies.withLock { $0 } == ["3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"])
    #expect(
      heads.withLock { $0 } == [
        """
        POST /v1/request HTTP/1.1\r
        Host: vault\r
        Vault-URL: https://api.example/media\r
        Vault-Account: own:lestat\r
        Vault-Permissions: post,media\r
        Content-Type: video/mp4\r
        Transfer-Encoding: chunked\r
        Expect: 100-continue\r
        Authorization: Bearer vapp_abc\r
        \r

        """
      ])
  }

  @Test func `is not begun where the request is refused`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      visitor.answer(#"{"error":{"code":"denied","message":"no","hint":"ask"}}"#, status: 403)
      while visitor.some() != nil {}
    }
    let client = try `A client's connections`.client(agent)
    let source = Source([[1]])
    let error = try await `A client's connections`.error {
      () throws(AgentError) in
      try await client.send(Self.request(.stream(source.stream, length: 1)))
    }
    #expect(error.code == .denied && error.hint == "ask", "\(error) \(error.cause)")
    #expect(source.taken.withLock { $0 } == 0)
    // The agent still waits for that body: the connection serves nothing else.
    _ = try await `A client's connections`.error { () throws(AgentError) in try await client.app() }
    #expect(agent.visitCount == 2)
  }

  @Test func `stops where the answer comes before its end`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      visitor.send("HTTP/1.1 100 Continue\r\n\r\n")
      _ = visitor.some()
      visitor.answer("too large", status: 413, headers: ["Vault-Source: provider"])
    }
    let client = try `A client's connections`.client(agent)
    // More than any buffer takes.
    let piece = [UInt8](repeating: 7, count: 1 << 20)
    let source = Source(Array(repeating: piece, count: 64))
    let response = try await client.send(Self.request(.stream(source.stream)))
    #expect(response.status == 413)
    #expect(try await response.body.bytes() == Array("too large".utf8))
    #expect(source.taken.withLock { $0 } < 64)
  }

  @Test(arguments: [nil, 4, 1] as [Int?])
  func `that breaks, or is of another length, never looks whole`(length: Int?) async throws {
    let ends = Mutex<[Bool]>([])
    let isOver = AsyncStream<Void>.makeStream()
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      visitor.send("HTTP/1.1 100 Continue\r\n\r\n")
      var body = ""
      while let more = visitor.some() { body += String(decoding: more, as: UTF8.self) }
      ends.withLock { $0.append(body.hasSuffix("0\r\n\r\n")) }
      isOver.continuation.yield()
    }
    let client = try `A client's connections`.client(agent)
    let source = Source([Array("ab".utf8)], breaks: length == nil)
    let error = try await `A client's connections`.error {
      () throws(AgentError) in
      try await client.send(Self.request(.stream(source.stream, length: length)))
    }
    #expect(error.cause == .body)
    for await _ in isOver.stream { break }
    #expect(ends.withLock { $0 } == [false])
  }

  @Test(arguments: [
    Header("Authorization", "x"), Header("vault-url", "x"), Header("Content-Length", "1"),
    Header("X-A", "b\r\nVault-Account: other"), Header("X A", "b"), Header("", "b"),
  ])
  func `nor any other goes out with a header that is the agent's`(header: Header) async throws {
    let agent = try ScriptedAgent { visitor, _ in _ = visitor.head() }
    let client = try `A client's connections`.client(agent)
    var request = Self.request(.none)
    request.headers = [header]
    let asked = request
    let error = try await `A client's connections`.error {
      () throws(AgentError) in try await client.send(asked)
    }
    #expect(error.code == .usage)
    #expect(agent.visitCount == 0)
  }
}
