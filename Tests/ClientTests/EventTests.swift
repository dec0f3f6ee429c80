import Foundation
import Synchronization
import Testing

@testable import AccountVaultClient

@Suite struct `Server-sent events` {
  private static func messages(_ text: String, by count: Int = 1000) -> [EventStream.Message] {
    var stream = EventStream(lastID: nil)
    let bytes = Array(text.utf8)
    return stride(from: 0, to: bytes.count, by: count).flatMap {
      stream.take(Array(bytes[$0..<min($0 + count, bytes.count)])) ?? []
    }
  }

  @Test(arguments: ["\n", "\r\n", "\r"], [1, 2, 3, 1000])
  func `are read whatever ends their lines, and however they are cut`(
    end: String, count: Int
  ) {
    let text = [
      ": alive", "", "id: 7", "event: granted", "data: {\"a\":", "data:1}", "", "data: x",
      "nonsense",
      "other: y", "", "event: lost", "", "id", "data", "", "data: cut off",
    ].joined(separator: end)
    let found = Self.messages(text + end, by: count)
    #expect(
      found == [
        .init(id: "7", name: "granted", data: Array("{\"a\":\n1}".utf8)),
        .init(id: "7", name: "message", data: Array("x".utf8)),
        .init(id: "", name: "message", data: []),
      ])
  }

  @Test func `tell how long to wait`() {
    var stream = EventStream(lastID: "3")
    #expect(stream.take(Array("retry: 250\nid: 9\n\nretry: soon\n".utf8)) == [])
    #expect(stream.retry == 250)
    #expect(stream.lastID == "9")
  }

  @Test func `are no events where one has no end`() {
    var stream = EventStream(lastID: nil)
    #expect(stream.take([UInt8](repeating: 65, count: 5 << 20)) == nil)
  }

  private static func event(_ number: Int) -> String {
    """
    id: \(number)
    event: granted
    data: {"entry":\(number),"time":"2026-11-30T06:10:00Z","event":"granted","actor":"owner",\
    "app":"123","account":"acct","permissions":["post"],"audience":null,"reason":null}


    """
  }

  private static let head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

  @Test func `go on after the last one when the connection is lost`() async throws {
    let asked = Mutex<[String]>([])
    let agent = try ScriptedAgent { visitor, number in
      guard let head = visitor.head() else { return }
      let last = head.split(separator: "\r\n").first { $0.hasPrefix("Last-Event-ID:") }
      asked.withLock { $0.append(last.map(String.init) ?? "none") }
      switch number {
      case 0: visitor.send(Self.head + Self.event(4) + "id: 5\nevent: granted\nda")
      case 1:
        visitor.answer(
          #"{"error":{"code":"locked","message":"it is locked","hint":null}}"#, status: 503)
      case 2: return
      default: visitor.send(Self.head + Self.event(5) + Self.event(6))
      }
    }
    let client = try `A client's connections`.client(agent)
    var found: [AgentEvent] = []
    for try await event in client.events(after: 3) {
      found.append(event)
      if found.count == 3 { break }
    }
    #expect(found.map(\.entry) == [4, 5, 6])
    #expect(found[0].name == "granted" && found[0].account == "acct")
    #expect(found[0].permissions == ["post"] && found[0].reason == nil)
    #expect(
      asked.withLock { $0 } == [
        "Last-Event-ID: 3", "Last-Event-ID: 4", "Last-Event-ID: 4", "Last-Event-ID: 4",
      ])
  }

  @Test func `end by a key that is not good`() async throws {
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      visitor.answer(#"{"error":{"code":"wrong_key","message":"no","hint":null}}"#, status: 401)
    }
    let client = try `A client's connections`.client(agent)
    var events = client.events().makeAsyncIterator()
    do {
      _ = try await events.next()
      Issue.record("an event")
    } catch {
      #expect(error.code == .wrongKey && error.status == 401)
    }
  }

  @Test func `end with their task, and hang up`() async throws {
    let (begun, ended) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let agent = try ScriptedAgent { visitor, _ in
      guard visitor.head() != nil else { return }
      visitor.send(Self.head + ": alive\n\n")
      begun.continuation.yield()
      while visitor.some() != nil {}
      ended.continuation.yield()
    }
    let client = try `A client's connections`.client(agent)
    let task = Task { () async -> AgentError? in
      do throws(AgentError) { for try await _ in client.events() {} } catch { return error }
      return nil
    }
    for await _ in begun.stream { break }
    task.cancel()
    #expect(await task.value?.cause == .cancelled)
    for await _ in ended.stream { break }
  }
}
