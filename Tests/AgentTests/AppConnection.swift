import Foundation
import UnixSocket

/// A kept connection of an app to the agent's socket.
final class AppConnection {
  private var connection: UnixConnection
  private let key: String

  init(_ agent: RunningAgent, key: String) throws {
    connection = try UnixConnection(path: agent.socket("apps"))
    connection.patience = 60_000
    self.key = key
  }

  /// Asks, and returns the status once the whole answer is there.
  func status(_ method: String, _ path: String, _ body: String? = nil) throws -> Int {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: v\r\nAuthorization: Bearer \(key)\r\n"
    if let body {
      text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
    }
    try connection.send(Array((text + "\r\n" + (body ?? "")).utf8).span.bytes)
    let head = try connection.receiveHead()
    if let error = connection.receiveBody(of: head, { _ in }) { throw error }
    return head.status
  }
}
