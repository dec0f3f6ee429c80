extension HTTPServer {
  /// A whole request, as it came: nothing in it was decoded.
  package struct Request: Sendable {
    /// As the client wrote it.
    package let method: String
    /// Path and query, byte for byte; whatever is not UTF-8 stands as U+FFFD. A client may send a
    /// whole address or `*` in its place (RFC 9112 section 3.2).
    package let target: String
    /// In their order, names as the client wrote them.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(
      method: String, target: String, headers: [(name: String, value: String)], body: [UInt8]
    ) {
      self.method = method
      self.target = target
      self.headers = headers
      self.body = body
    }

    /// The target up to the first `?`.
    package var path: String {
      String(target.prefix { $0 != "?" })
    }

    /// What stands behind the first `?`, nil where there is none.
    package var query: String? {
      target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The values of all headers of that name, in any case.
    package func values(_ name: String) -> [String] {
      let name = name.lowercased()
      return headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The only header of that name, nil where there is none or more than one.
    package func header(_ name: String) -> String? {
      let values = values(name)
      return values.count == 1 ? values[0] : nil
    }
  }

  /// What a request is answered with.
  package struct Response: Sendable {
    /// 200 to 599.
    package var status: Int
    /// Beside `Date`, `Content-Length` and `Connection`, which the server adds.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Milliseconds before it is sent; others are answered meanwhile.
    package var delay: Int64 = 0
    /// Called once on the server's thread, when the answer was handed to the kernel or could not be.
    package var afterwards: (@Sendable () -> Void)?
    var isDropped = false

    package init(
      _ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
      self.status = status
      self.headers = headers
      self.body = body
    }

    /// No answer: the connection is closed.
    package static var drop: Response {
      var response = Response(500)
      response.isDropped = true
      return response
    }
  }
}
