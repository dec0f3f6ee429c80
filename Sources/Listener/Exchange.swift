internal import CMicroHTTPD

/// One request while it comes in and is answered. libmicrohttpd holds a reference to it from the
/// request's first line to its end.
final class Exchange {
  /// A body of unknown length that is too long is read this far past the limit, so that the client
  /// gets its answer; then the connection is closed.
  static let patience = 64 << 10

  private let target: String
  private var body: [UInt8] = []
  private var received = 0
  private(set) var isBegun = false
  /// What the handler said, while it waits to be sent.
  var response: HTTPServer.Response?
  /// Whether its delay is over.
  var isDue = false

  init(target: String) { self.target = target }

  /// Whether the announced length is within the limit. Nil where none was announced.
  func begin(length: String?, limit: Int) -> Bool {
    isBegun = true
    // libmicrohttpd has refused what is no number.
    guard let length, let bytes = UInt64(length) else { return true }
    return bytes <= UInt64(limit)
  }

  /// Takes a piece of the body. False where there was far too much.
  func receive(_ piece: UnsafeRawBufferPointer, limit: Int) -> Bool {
    received += piece.count
    if received <= limit {
      unsafe body.append(contentsOf: piece)
      return true
    }
    body = []
    return received <= limit + Self.patience
  }

  func isTooLong(_ limit: Int) -> Bool { received > limit }

  func request(
    method: String, headers: [(name: String, value: String)]
  ) -> HTTPServer.Request {
    HTTPServer.Request(method: method, target: target, headers: headers, body: body)
  }
}
