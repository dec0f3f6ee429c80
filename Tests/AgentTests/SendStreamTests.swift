import Foundation
import Synchronization
import TestSupport
import Testing
import UnixSocket

/// What comes and goes while it is made, over a real agent.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct `A request that the agent streams` {
  /// A place whose API is `provider`.
  private func place(_ provider: StreamProvider) throws -> SendPlace {
    let place = try SendPlace(hosts: ["127.0.0.1:\(provider.port)"])
    try place.agent.start()
    return place
  }

  private static func send(_ text: String, to connection: inout UnixConnection) throws {
    try connection.send(Array(text.utf8).span.bytes)
  }

  /// The body of an answer, as text.
  private static func receive(
    _ connection: inout UnixConnection
  ) throws -> (head: UnixConnection.Head, text: String, error: SocketError?) {
    let head = try connection.receiveHead()
    var body: [UInt8] = []
    let error = connection.receiveBody(of: head) { piece in
      piece.withUnsafeBytes { body.append(contentsOf: $0) }
    }
    return (head, String(decoding: body, as: UTF8.self), error)
  }

  @Test func `goes up in chunks and comes down line by line, each as it is there`() throws {
    let lines = DispatchSemaphore(value: 0)
    let got = Mutex<[String]>([])
    let provider = try StreamProvider { call in
      let isWhole = call.body { piece in
        got.withLock { $0.append(String(decoding: piece, as: UTF8.self)) }
        lines.signal()
      }
      guard isWhole, call.headers["authorization"] == "Bearer \(SendPlace.token)" else {
        return false
      }
      call.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
      for number in 1...4 {
        call.write("data: \(number)\n\n")
        // Only after the app has this one.
        lines.wait()
      }
      return false
    }
    let place = try place(provider)
    var connection = try place.connect()
    try Self.send(
      place.head(
        "POST", provider.url + "/api",
        ["Transfer-Encoding: chunked", "Content-Type: application/x-ndjson"]), to: &connection)
    for number in 1...4 {
      try Self.send("7\r\nline \(number)\n\r\n", to: &connection)
      // The provider has it before the next is written.
      #expect(lines.wait(timeout: .now() + 60) == .success)
    }
    try Self.send("0\r\n\r\n", to: &connection)
    let head = try connection.receiveHead()
    #expect(head.status == 200 && head.header("vault-source") == "provider")
    var text = ""
    let error = connection.receiveBody(of: head) { piece in
      let part = piece.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      text += part
      for character in part where character == ":" { lines.signal() }
    }
    #expect(error == nil)
    #expect(text == (1...4).map { "data: \($0)\n\n" }.joined())
    #expect(got.withLock { $0.joined() } == "line 1\nline 2\nline 3\nline 4\n")
  }

  @Test func `ends at the provider when the app goes away in the middle of the answer`() throws {
    let ended = DispatchSemaphore(value: 0)
    let provider = try StreamProvider { call in
      guard call.target != "/small" else {
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return true
      }
      call.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst")
      if call.target == "/endless" {
        var place = 0
        while call.write(Pattern.piece(place, 1 << 16)) { place += 1 << 16 }
        ended.signal()
      } else if call.waitForEnd(seconds: 60) {
        ended.signal()
      }
      return false
    }
    let place = try place(provider)
    #expect(try place.send("GET", provider.url + "/small").status == 200)
    let before = place.descriptors
    for path in ["/endless", "/silent"] {
      for _ in 0..<20 {
        do {
          var connection = try place.connect()
          try Self.send(place.head("GET", provider.url + path), to: &connection)
          #expect(try connection.receiveHead().status == 200)
        }
        #expect(ended.wait(timeout: .now() + 60) == .success)
      }
    }
    // Threads and descriptors are free again, but for sessions that are kept for the next.
    for _ in 0..<1000 where place.descriptors > before + 15 { usleep(10_000) }
    #expect(place.descriptors <= before + 15)
    for _ in 0..<1000 where try place.status("Threads") > 20 { usleep(10_000) }
    #expect(try place.status("Threads") <= 20)
    #expect(try place.send("GET", provider.url + "/small").body == "ok")
  }

  @Test func `ends at the provider when the app goes away in the middle of its body`() throws {
    let broken = DispatchSemaphore(value: 0)
    let provider = try StreamProvider { call in
      if !call.body({ _ in }) { broken.signal() }
      return false
    }
    let place = try place(provider)
    let framings = ["Content-Length: 1000000", "Transfer-Encoding: chunked"]
    for (number, framing) in zip(1..., framings) {
      do {
        var connection = try place.connect()
        try Self.send(
          place.head("PUT", provider.url + "/api", [framing, "Content-Type: text/plain"]),
          to: &connection)
        try Self.send("5\r\nhello\r\n", to: &connection)
        for _ in 0..<3000 where provider.count < number { usleep(10_000) }
      }
      #expect(broken.wait(timeout: .now() + 60) == .success)
    }
  }

  @Test func `ends, never as if it were whole, when the owner locks or the agent ends`() throws {
    let ended = DispatchSemaphore(value: 0)
    let provider = try StreamProvider { call in
      call.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst")
      if call.waitForEnd(seconds: 60) { ended.signal() }
      return false
    }
    for signal in [SIGUSR1, SIGTERM] {
      let place = try place(provider)
      var connection = try place.connect()
      try Self.send(place.head("GET", provider.url + "/endless"), to: &connection)
      let head = try connection.receiveHead()
      #expect(head.status == 200)
      var isSignalled = false
      let error = connection.receiveBody(of: head) { _ in
        if !isSignalled { place.agent.signal(signal) }
        isSignalled = true
      }
      #expect(isSignalled && error != nil && error != .timeout)
      #expect(ended.wait(timeout: .now() + 60) == .success)
    }
  }

  @Test func `that the provider answers early is answered so once its body is over`() throws {
    let provider = try StreamProvider { call in
      call.write("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nless")
      // Reads on, as a server does that wants its answer to arrive.
      while !call.more().isEmpty {}
      return false
    }
    let place = try place(provider)
    var connection = try place.connect()
    let size = 4 << 20
    try Self.send(
      place.head(
        "PUT", provider.url + "/api", ["Content-Length: \(size)", "Content-Type: text/plain"]),
      to: &connection)
    var sent = 0
    while sent < size {
      let piece = Array(Pattern.piece(sent, size - sent))
      try connection.send(piece.span.bytes)
      sent += piece.count
    }
    let answer = try Self.receive(&connection)
    #expect(answer.head.status == 413 && answer.text == "less" && answer.error == nil)
    #expect(answer.head.header("vault-source") == "provider")
  }

  @Test func `is waited for, and others pass, where the provider or the app is slow`() throws {
    let release = DispatchSemaphore(value: 0)
    let size = 8 << 20
    let provider = try StreamProvider { call in
      switch call.target {
      case "/slow":
        release.wait()
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
      case "/large":
        call.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        var place = 0
        while place < size, call.write(Pattern.piece(place, size - place)) {
          place += min(1 << 16, size - place)
        }
      default: call.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
      return true
    }
    let place = try place(provider)
    var slow: [String] = []
    let path = try place.agent.socket("apps")
    let answers = Mutex<[String]>([])
    let done = DispatchGroup()
    // Eight whose provider thinks, and eight who do not read what came.
    for _ in 0..<8 {
      let head = place.head("GET", provider.url + "/slow")
      done.enter()
      Thread.detachNewThread {
        defer { done.leave() }
        guard var connection = try? UnixConnection(path: path) else { return }
        connection.patience = 120_000
        try? Self.send(head, to: &connection)
        let text = (try? Self.receive(&connection))?.text ?? "none"
        answers.withLock { $0.append(text) }
      }
    }
    let read = DispatchSemaphore(value: 0)
    let right = Atomic<Int>(0)
    for _ in 0..<8 {
      let head = place.head("GET", provider.url + "/large")
      done.enter()
      Thread.detachNewThread {
        defer { done.leave() }
        guard var connection = try? UnixConnection(path: path) else { return }
        connection.patience = 120_000
        try? Self.send(head, to: &connection)
        guard let head = try? connection.receiveHead() else { return }
        read.wait()
        var count = 0
        var isRight = true
        let error = connection.receiveBody(of: head) { piece in
          let bytes = piece.withUnsafeBytes { Array($0) }
          isRight = isRight && Pattern.isRight(bytes[...], at: count)
          count += bytes.count
        }
        if error == nil, isRight, count == size { right.add(1, ordering: .relaxed) }
      }
    }
    for _ in 0..<3000 where provider.count < 16 { usleep(10_000) }
    for _ in 0..<50 { slow.append(try place.send("GET", provider.url + "/quick").body) }
    #expect(slow == Array(repeating: "ok", count: 50))
    for _ in 0..<8 {
      release.signal()
      read.signal()
    }
    done.wait()
    #expect(answers.withLock { $0 } == Array(repeating: "slow", count: 8))
    #expect(right.load(ordering: .relaxed) == 8)
  }

  /// 90 of 10 MiB each way, 30 at a time: one user may have 32 connections.
  @Test func `is never in memory as a whole, however many there are`() throws {
    let size = 10 << 20
    let provider = try StreamProvider { call in
      var count = 0
      var isRight = true
      let isWhole = call.body { piece in
        isRight = isRight && Pattern.isRight(piece, at: count)
        count += piece.count
      }
      guard isWhole else { return false }
      let verdict = isRight && count == size ? "right" : "wrong"
      call.write("HTTP/1.1 200 OK\r\nX-Verdict: \(verdict)\r\nContent-Length: \(size)\r\n\r\n")
      var place = 0
      while place < size, call.write(Pattern.piece(place, size - place)) {
        place += min(1 << 16, size - place)
      }
      return true
    }
    let place = try place(provider)
    // What is made once is made before.
    #expect(try place.send("GET", place.server.url + "/nothing").status == 404)
    let before = try place.status("VmRSS")
    let path = try place.agent.socket("apps")
    let right = Atomic<Int>(0)
    let done = DispatchGroup()
    for client in 0..<30 {
      // Every other one does not say how long it is.
      let isChunked = client % 2 == 1
      let head = place.head(
        "POST", provider.url + "/api",
        [
          isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)",
          "Content-Type: application/octet-stream",
        ])
      done.enter()
      Thread.detachNewThread {
        defer { done.leave() }
        guard var connection = try? UnixConnection(path: path) else { return }
        connection.patience = 240_000
        for _ in 0..<3 {
          try? Self.send(head, to: &connection)
          var sent = 0
          while sent < size {
            let piece = Array(Pattern.piece(sent, size - sent))
            if isChunked {
              try? Self.send(String(piece.count, radix: 16) + "\r\n", to: &connection)
            }
            _ = try? connection.send(piece.span.bytes)
            if isChunked { try? Self.send("\r\n", to: &connection) }
            sent += piece.count
          }
          if isChunked { try? Self.send("0\r\n\r\n", to: &connection) }
          guard let head = try? connection.receiveHead(), head.header("x-verdict") == "right"
          else { return }
          var count = 0
          var isRight = true
          let error = connection.receiveBody(of: head) { piece in
            let bytes = piece.withUnsafeBytes { Array($0) }
            isRight = isRight && Pattern.isRight(bytes[...], at: count)
            count += bytes.count
          }
          if error == nil, isRight, count == size { right.add(1, ordering: .relaxed) }
        }
      }
    }
    done.wait()
    #expect(right.load(ordering: .relaxed) == 90)
    // Of each stream: a queue of 64 KiB each way, libcurl's buffers (64 KiB up, 16 KiB down), a thread,
    // and of a body of unknown length its first MiB until there is more.
    let peak = try place.status("VmHWM")
    let after = try place.status("VmRSS")
    #expect(peak - before < 64 << 10)
    #expect(after - before < 32 << 10)
  }
}
