import Foundation
import HTTPTypes
import Sodium
import Synchronization
import TestSupport
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(3))) struct `Transfers` {
  let server: Server
  let client: HTTPClient

  init() throws {
    server = try Server()
    client = server.client()
  }

  @Test func `one after the other share a connection`() async throws {
    for _ in 0..<20 {
      _ = try await client.send(HTTPRequest("GET", server.plain("/echo")))
      _ = try await client.send(HTTPRequest("GET", server.secure("/echo")))
    }
    #expect(try await server.seen("plain").connections == 1)
    #expect(try await server.seen("secure").connections == 1)
  }

  @Test func `by the hundred end once each, over eight connections`() async throws {
    let client = client
    let server = server
    let statuses = try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for index in 0..<400 {
        group.addTask {
          let request = HTTPRequest(
            "POST", server.plain("/echo"),
            body: .bytes(SharedSecret("number \(index)"), contentType: "text/plain"))
          let reply = try await client.send(request)
          return (index, try Echo(reply).body)
        }
      }
      var all: [Int: String] = [:]
      for try await (index, body) in group { all[index] = body }
      return all
    }
    #expect(statuses.count == 400)
    #expect(statuses.allSatisfy { $1 == "number \($0)" })
    let seen = try await server.seen("plain")
    #expect(seen.requests.count == 400)
    #expect((1...8).contains(seen.connections))
  }

  @Test func `that wait for a connection run out of time too`() async throws {
    let client = client
    let server = server
    let failures = await withTaskGroup(of: HTTPFailure?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          var request = HTTPRequest("GET", server.plain("/never"))
          request.limits.total = 500
          return try? await end(of: client, request)
        }
      }
      var all: [HTTPFailure] = []
      for await failure in group { if let failure { all.append(failure) } }
      return all
    }
    #expect(failures.count == 100)
    #expect(failures.allSatisfy { $0.kind == .timeout })
    // Eight have a connection at a time; what never had one was certainly not sent.
    let sent = failures.count { $0.mayHaveBeenSent }
    #expect((8..<100).contains(sent))
    #expect(try await server.seen("plain").requests.count <= sent)
  }

  @Test func `of a cancelled task end at once`() async throws {
    let client = client
    let request = HTTPRequest("POST", server.plain("/never"))
    let task = Task { try await end(of: client, request) }
    try await server.wait(for: 1, at: "plain")
    let began = ContinuousClock.now
    task.cancel()
    let failure = try await task.value
    #expect(failure.kind == .cancelled)
    #expect(failure.mayHaveBeenSent)
    // Its limit is a minute.
    #expect(ContinuousClock.now - began < .seconds(20))
    // The client goes on.
    #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
  }

  @Test func `of a task that was cancelled before are not sent`() async throws {
    let client = client
    let request = HTTPRequest("GET", server.plain("/echo"))
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await end(of: client, request)
    }
    task.cancel()
    let failure = try await task.value
    #expect(failure.kind == .cancelled)
    #expect(!failure.mayHaveBeenSent)
    #expect(try await server.seen("plain").requests.isEmpty)
  }

  @Test func `cancelled at any moment end once, and those that were not sent were not`()
    async throws
  {
    let client = client
    let server = server
    let ends = await withTaskGroup(of: String.self) { group in
      for index in 0..<600 {
        group.addTask {
          let path = ["/echo", "/slow", "/chunks?50", "/echo"][index % 4] + "?number=\(index)"
          let body = HTTPBody.bytes(SharedSecret("x"), contentType: "text/plain")
          let request = HTTPRequest(
            "POST", index % 4 == 3 ? server.secure(path) : server.plain(path), body: body)
          let task = Task { () async -> String in
            do throws(HTTPFailure) {
              return "\(try await client.send(request, to: Recorder()).status)"
            } catch {
              return "\(error.kind) \(error.mayHaveBeenSent) \(index)"
            }
          }
          if index % 5 != 0 {
            try? await Task.sleep(for: .microseconds(Int.random(in: 0...30_000)))
            task.cancel()
          }
          return await task.value
        }
      }
      var all: [String] = []
      for await end in group { all.append(end) }
      return all
    }
    #expect(ends.count == 600)
    for end in ends {
      #expect(end == "200" || end.hasPrefix("cancelled ") || end.hasPrefix("404"), "\(end)")
    }
    var requests = Set(try await server.seen("plain").requests)
    requests.formUnion(try await server.seen("secure").requests)
    for end in ends where end.hasPrefix("cancelled false") {
      let number = end.split(separator: " ")[2]
      #expect(!requests.contains { $0.hasSuffix("number=\(number)") }, "\(end)")
    }
    #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
  }

  @Test func `on a connection that dies are not repeated, but for reading`() async throws {
    for (method, repeats) in [("POST", false), ("PUT", false), ("DELETE", false), ("GET", true)] {
      let client = server.client()
      let before = try await server.seen("plain").requests.count
      _ = try await client.send(HTTPRequest("GET", server.plain("/close")))
      if repeats {
        #expect(try await client.send(HTTPRequest(method, server.plain("/echo"))).status == 200)
        #expect(try await server.seen("plain").requests.count == before + 3)
      } else {
        let failure = try await end(of: client, HTTPRequest(method, server.plain("/echo")))
        #expect(failure.kind == .broken)
        #expect(failure.mayHaveBeenSent)
        #expect(try await server.seen("plain").requests.count == before + 2)
      }
    }
  }

  @Test func `to nobody fail as not sent`() async throws {
    let refused = try await withDeafPort { port in
      try await end(of: client, HTTPRequest("POST", "http://127.0.0.1:\(port)/"))
    }
    #expect(refused.kind == .connect)
    #expect(!refused.mayHaveBeenSent)
    let unknown = try await end(of: client, HTTPRequest("POST", "https://nobody.invalid/"))
    #expect(unknown.kind == .resolve)
    #expect(unknown.text.hasPrefix("nobody.invalid: "))
    #expect(!unknown.mayHaveBeenSent)
  }

  @Test func `end with their client, whose thread ends too`() async throws {
    for _ in 0..<20 {
      var client: HTTPClient? = server.client()
      // The thread holds its loop until its last step.
      weak let loop = client?.loop
      #expect(loop != nil)
      _ = try await client?.send(HTTPRequest("GET", server.plain("/echo")))
      client = nil
      #expect(loop == nil)
    }
  }

  /// Lends a port that is taken, and where nobody listens.
  private func withDeafPort<R>(_ body: (Int) async throws -> R) async throws -> R {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
      }
    }
    try #require(isBound)
    return try await body(Int(UInt16(bigEndian: address.sin_port)))
  }
}
