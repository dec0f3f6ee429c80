import Foundation
import Glibc
import Synchronization
import TestSupport
import UnixSocket

/// A server on a Unix socket that does with each connection what a test says, the bad things too that
/// the real agent does not do when it is asked to.
final class ScriptedAgent: Sendable {
  /// One connection, on a thread of its own.
  final class Visitor: Sendable {
    private let descriptor: Int32
    private let rest = Mutex<[UInt8]>([])

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// A request's head as it came; nil where the client hung up.
    func head() -> String? {
      var all = rest.withLock { $0 }
      while true {
        if let end = Self.end(of: all) {
          rest.withLock { $0 = Array(all[end...]) }
          return String(decoding: all[..<end], as: UTF8.self)
        }
        guard let more = read() else { return nil }
        all += more
      }
    }

    private static func end(of bytes: [UInt8]) -> Int? {
      guard bytes.count >= 4 else { return nil }
      return (0...(bytes.count - 4)).first {
        bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
      }.map { $0 + 4 }
    }

    /// Some bytes; nil where the client hung up.
    func some() -> [UInt8]? {
      let kept = rest.withLock { rest in
        defer { rest = [] }
        return rest
      }
      return kept.isEmpty ? read() : kept
    }

    private func read() -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return count > 0 ? Array(bytes[..<count]) : nil
    }

    func send(_ text: String) {
      let bytes = Array(text.utf8)
      _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func answer(_ body: String, status: Int = 200, headers: [String] = []) {
      let lines = (headers + ["Content-Length: \(body.utf8.count)"]).map { "\($0)\r\n" }.joined()
      send("HTTP/1.1 \(status) Said\r\n\(lines)\r\n\(body)")
    }

    fileprivate func close() { Glibc.close(descriptor) }
    fileprivate func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  private let directory: TemporaryDirectory
  private let door: Door

  /// What the accepting thread has, which outlives nobody: `deinit` waits for it.
  private final class Door: Sendable {
    let listener: Int32
    let visitors = Mutex<[Visitor]>([])
    let ended = Mutex(0)
    let threads = DispatchGroup()

    init(_ listener: Int32) { self.listener = listener }

    func run(_ visit: @escaping @Sendable (Visitor, Int) -> Void) {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        let visitor = Visitor(descriptor)
        let number = visitors.withLock { visitors in
          visitors.append(visitor)
          return visitors.count - 1
        }
        start {
          visit(visitor, number)
          visitor.cut()
          self.ended.withLock { $0 += 1 }
        }
      }
    }

    func start(_ body: @escaping @Sendable () -> Void) {
      threads.enter()
      Thread.detachNewThread {
        body()
        self.threads.leave()
      }
    }
  }

  var path: String { directory("s") }
  /// How many connections there were.
  var visitCount: Int { door.visitors.withLock { $0.count } }

  /// How many of them it has ended.
  var endCount: Int { door.ended.withLock { $0 } }

  /// - Parameter visit: Gets each connection and its number, from 0. The connection ends with it.
  init(_ visit: @escaping @Sendable (Visitor, Int) -> Void) throws {
    directory = try TemporaryDirectory()
    // A listener of its own that does not block is the library's; here a thread waits on it.
    let listener = try UnixListener.open(path: directory("s"), mode: 0o600)
    _ = fcntl(listener, F_SETFL, 0)
    let door = Door(listener)
    self.door = door
    door.start { door.run(visit) }
  }

  deinit {
    shutdown(door.listener, Int32(SHUT_RDWR))
    for visitor in door.visitors.withLock({ $0 }) { visitor.cut() }
    door.threads.wait()
    for visitor in door.visitors.withLock({ $0 }) { visitor.close() }
    close(door.listener)
  }
}
