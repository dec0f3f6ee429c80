import AccountVaultClient
import Foundation
import Synchronization
import Testing

/// How a client is with connections, which a well-behaved agent does not show.
@Suite struct `A client's connections` {
  static let app = #"{"id":"123","name":null,"sign_only":false,"clients":["x:1"]}"#

  static func client(
    _ agent: ScriptedAgent, _ timeouts: AgentClient.Timeouts = .init()
  ) throws -> AgentClient {
    var key = Array("vapp_abc\n".utf8)
    defer { #expect(key.isEmpty) }
    return AgentClient(
      socket: AgentSocket(path: agent.path), key: try AppKey(wiping: &key), timeouts: timeouts)
  }

  /// The error that `body` ends with.
  static func error<Value>(
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws(AgentError) -> Value
  ) async throws -> AgentError {
    do throws(AgentError) { _ = try await body() } catch { return error }
    return try #require(nil as AgentError?, "no error", sourceLocation: sourceLocation)
  }

  @Test func `are kept for further requests, which show the key`() async throws {
    let heads = Mutex<[String]>([])
    let agent = try ScriptedAgent { visitor, _ in
      while let head = visitor.head() {
        heads.withLock { $0.append(head) }
        visitor.answer(Self.app)
      }
    }
    let client = try Self.client(agent)
    for _ in 0..<3 {
      let app = try await client.app()
      #expect(app.id == "123" && app.name == nil && !app.isSignOnly && app.clients == ["x:1"])
    }
    #expect(agent.visitCount == 1)
    #expect(
      heads.withLock { $0 }
        == Array(
          repeating:
            "GET /v1/app HTTP/1.1\r\nHost: vault\r\nAuthorization: Bearer vapp_abc\r\n\r\n",
          count: 3)
    )
  }

  @Test func `that died while they were kept are replaced, whatever is asked`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      visitor.answer(Self.app, headers: ["Vault-Source: provider"])
    }
    let client = try Self.client(agent)
    for number in 1...3 {
      _ = try await client.app()
      // It ends behind its answer, by and by.
      for _ in 0..<6000 where agent.endCount < number {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(agent.endCount == number)
    }
    // The client sees that before it sends.
    let response = try await client.send(ProviderRequest("POST", "https://api.example/"))
    #expect(response.status == 200)
    #expect(try await response.body.bytes() == Array(Self.app.utf8))
  }

  @Test func `that die under a request are replaced once where that does no harm`() async throws {
    let requests = Mutex(0)
    let agent = try ScriptedAgent { visitor, number in
      while let head = visitor.head() {
        requests.withLock { $0 += 1 }
        // Each takes one request, and dies of the next.
        if requests.withLock({ $0 }) % 2 == 0 { return }
        visitor.answer(Self.app, headers: ["Vault-Source: provider", "X-Seen: \(head.count)"])
      }
    }
    let client = try Self.client(agent)
    _ = try await client.app()
    _ = try await client.app()
    #expect(agent.visitCount == 2)
    #expect(requests.withLock { $0 } == 3)
    // What may have been done is not done again behind the caller's back.
    let error = try await Self.error {
      () throws(AgentError) in
      try await client.send(ProviderRequest("POST", "https://api.example/"))
    }
    #expect(error.cause == .connectionLost && error.code == .tryAgain)
    #expect(requests.withLock { $0 } == 4)
  }

  @Test func `that never answer are given up`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      while visitor.some() != nil {}
    }
    var timeouts = AgentClient.Timeouts()
    timeouts.answer = .milliseconds(50)
    let client = try Self.client(agent, timeouts)
    let error = try await Self.error { () throws(AgentError) in try await client.app() }
    #expect(error.cause == .timedOut)
    #expect(agent.visitCount == 1)
  }

  @Test func `end with their task`() async throws {
    let (begun, ended) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let agent = try ScriptedAgent { visitor, _ in
      _ = visitor.head()
      begun.continuation.yield()
      // Until the client hangs up.
      while visitor.some() != nil {}
      ended.continuation.yield()
    }
    let client = try Self.client(agent)
    let task = Task { try await client.app() }
    for await _ in begun.stream { break }
    task.cancel()
    let result = await task.result
    for await _ in ended.stream { break }
    #expect(throws: AgentError.self) { _ = try result.get() }
    do { _ = try result.get() } catch { #expect((error as? AgentError)?.cause == .cancelled) }
  }

  @Test func `wait on no thread that tasks share`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let waiting = AsyncStream<Void>.makeStream()
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      waiting.continuation.yield()
      gate.wait()
      visitor.answer(Self.app)
    }
    let client = try Self.client(agent)
    let count = 4 * ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<count { group.addTask { _ = try await client.app() } }
      var seen = 0
      // All of them wait for an answer, and still tasks run: this one, for a start.
      for await _ in waiting.stream {
        seen += 1
        if seen == count { break }
      }
      let sum = await withTaskGroup(of: Int.self) { group in
        for number in 0..<100 { group.addTask { number } }
        return await group.reduce(0, +)
      }
      #expect(sum == 4950)
      for _ in 0..<count { gate.signal() }
      try await group.waitForAll()
    }
  }

  @Test func `are gone where an answer is not read to its end`() async throws {
    let ended = AsyncStream<Void>.makeStream()
    let agent = try ScriptedAgent { visitor, _ in
      _ = visitor.head()
      visitor.send(
        "HTTP/1.1 200 OK\r\nVault-Source: provider\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
      )
      while visitor.some() != nil {}
      ended.continuation.yield()
    }
    let client = try Self.client(agent)
    do {
      let response = try await client.send(ProviderRequest("GET", "https://api.example/"))
      for try await piece in response.body {
        #expect(piece == Array("abc".utf8))
        break
      }
    }
    for await _ in ended.stream { break }
  }

  @Test func `that break within an answer give an error, not a short answer`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      _ = visitor.head()
      visitor.send("HTTP/1.1 200 OK\r\nVault-Source: provider\r\nContent-Length: 10\r\n\r\nabc")
    }
    let client = try Self.client(agent)
    let response = try await client.send(ProviderRequest("GET", "https://api.example/"))
    let error = try await Self.error { () throws(AgentError) in try await response.body.bytes() }
    #expect(error.cause == .connectionLost)
  }

  @Test func `are refused where nobody listens`() async throws {
    let path: String
    do { path = try ScriptedAgent { _, _ in }.path }
    var key = Array("vapp_abc".utf8)
    let client = AgentClient(socket: AgentSocket(path: path), key: try AppKey(wiping: &key))
    let error = try await Self.error { () throws(AgentError) in try await client.app() }
    #expect(error.cause == .unreachable && error.code == .tryAgain && error.message.contains(path))
    var other = Array("vapp_abc".utf8)
    let long = AgentClient(
      socket: AgentSocket(path: "/" + String(repeating: "x", count: 120)),
      key: try AppKey(wiping: &other))
    let told = try await Self.error { () throws(AgentError) in try await long.app() }
    #expect(told.code == .config && told.message.contains("107"))
  }
}

@Suite struct `An error of the agent` {
  @Test func `has the contract's members`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      while visitor.head() != nil {
        visitor.answer(
          #"{"error":{"code":"try_again","message":"too often","hint":null}}"#, status: 429,
          headers: ["Retry-After: 7"])
      }
    }
    let client = try `A client's connections`.client(agent)
    let error = try await `A client's connections`.error {
      () throws(AgentError) in try await client.accounts()
    }
    #expect(error.code == .tryAgain && error.cause == .agent)
    #expect(error.message == "too often" && error.hint == nil)
    #expect(error.status == 429 && error.retryAfter == 7)
    #expect("\(error)" == "try_again: too often")
  }

  @Test func `is one too where it is no JSON`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      while visitor.head() != nil { visitor.answer("", status: 431) }
    }
    let client = try `A client's connections`.client(agent)
    let error = try await `A client's connections`.error {
      () throws(AgentError) in try await client.app()
    }
    #expect(error.code == .failed && error.status == 431 && error.cause == .agent)
  }

  @Test func `and what is no answer at all is said to be none`() async throws {
    let agent = try ScriptedAgent { visitor, number in
      _ = visitor.head()
      if number == 0 { visitor.answer("{}") } else { visitor.send("SSH-2.0-OpenSSH\r\n\r\n") }
    }
    let client = try `A client's connections`.client(agent)
    let first = try await `A client's connections`.error {
      () throws(AgentError) in try await client.app()
    }
    #expect(first.cause == .answer)
    let second = try await `A client's connections`.error {
      () throws(AgentError) in try await client.app()
    }
    #expect(second.cause == .connectionLost)
  }
}
