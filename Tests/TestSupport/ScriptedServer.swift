package import Listener
import Synchronization

/// A real HTTP server on 127.0.0.1 that answers as a test says and remembers what it was asked.
package final class ScriptedServer: Sendable {
  private let server: HTTPServer
  private let seen: Seen

  private final class Seen: Sendable {
    let requests = Mutex<[HTTPServer.Request]>([])
  }

  /// Listens on a free port until the value dies.
  ///
  /// - Parameter answer: Gets each request and its number, from 0. It runs on the server's thread,
  ///   one request at a time; ``HTTPServer/Response/delay`` lets others pass.
  package init(
    limits: HTTPServer.Limits = HTTPServer.Limits(),
    _ answer: @escaping @Sendable (HTTPServer.Request, Int) -> HTTPServer.Response
  ) throws {
    let seen = Seen()
    self.seen = seen
    server = try HTTPServer(limits: limits) { request in
      let number = seen.requests.withLock { requests in
        requests.append(request)
        return requests.count - 1
      }
      return answer(request, number)
    }
  }

  deinit { server.stop() }

  /// Closes the port, as a server that went away does.
  package func stop() { server.stop() }

  package var port: UInt16 { server.port }

  /// `http://127.0.0.1:PORT`
  package var url: String { "http://127.0.0.1:\(server.port)" }

  /// What came so far, in order.
  package var requests: [HTTPServer.Request] { seen.requests.withLock { $0 } }
}

extension HTTPServer.Response {
  /// A JSON answer; `text` is sent as it is.
  package static func json(
    _ text: String, status: Int = 200, headers: [(name: String, value: String)] = []
  ) -> HTTPServer.Response {
    HTTPServer.Response(
      status, headers: [("Content-Type", "application/json")] + headers, body: Array(text.utf8))
  }

  /// A form-encoded answer, as OAuth 1.0a has it; `text` is sent as it is.
  package static func form(
    _ text: String, status: Int = 200, headers: [(name: String, value: String)] = []
  ) -> HTTPServer.Response {
    HTTPServer.Response(
      status, headers: [("Content-Type", "application/x-www-form-urlencoded")] + headers,
      body: Array(text.utf8))
  }

  package static func text(_ text: String, status: Int = 200) -> HTTPServer.Response {
    HTTPServer.Response(
      status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }

  /// The same answer, sent so many milliseconds later.
  package func after(milliseconds: Int64) -> HTTPServer.Response {
    var response = self
    response.delay = milliseconds
    return response
  }
}

extension HTTPServer.Request {
  /// The body as text.
  package var text: String { String(decoding: body, as: UTF8.self) }

  /// The decoded fields of a form-encoded body, in order.
  package var form: [(name: String, value: String)] { Self.fields(text) }

  /// The decoded fields of the query, in order.
  package var queryFields: [(name: String, value: String)] { Self.fields(query ?? "") }

  /// The value of a field of the body that stands there once; nil otherwise.
  package func field(_ name: String) -> String? {
    let values = form.filter { $0.name == name }.map(\.value)
    return values.count == 1 ? values[0] : nil
  }

  /// The value of a field of the query that stands there once; nil otherwise.
  package func queryField(_ name: String) -> String? {
    let values = queryFields.filter { $0.name == name }.map(\.value)
    return values.count == 1 ? values[0] : nil
  }

  private static func fields(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { field in
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
    }
  }

  /// A `+` is a space, `%xx` is a byte; another `%` stands for itself.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
