package import Sodium

/// A reply, whatever its status.
package struct HTTPResponse: Sendable {
  package var status: Int
  /// In their order; names as the server wrote them.
  package var headers: [(name: String, value: String)]
  /// Empty where the request's receiver was handed it piece by piece.
  package var body: SharedSecret

  package init(
    status: Int, headers: [(name: String, value: String)] = [], body: SharedSecret
  ) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of that name, in any case.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}

/// Who is handed a reply while it comes. Called on the transport's thread, in order, never at the
/// same time.
package protocol HTTPReceiver: Sendable {
  /// Status and headers, before any of the body. The answer says whether the body's pieces are wanted
  /// here; otherwise it is kept for the response, as the body of a refusal must be.
  func begin(status: Int, headers: [(name: String, value: String)]) -> Bool

  /// The next piece of the body. It must not be kept: the memory is the transport's.
  ///
  /// - Returns: False to end the transfer, which then fails with ``HTTPFailure/Kind/refused``.
  func receive(_ piece: RawSpan) -> Bool

  /// Whether ``receive(_:)`` can take so many bytes now. Where not, the transfer waits until `wake` is
  /// called, once and on any thread; its request must say that it may (``HTTPRequest/mayPause``).
  func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool

  /// How far both ways are, in bytes; totals are nil where they are not known.
  func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?)
}

extension HTTPReceiver {
  package func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool { true }

  package func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?) {}
}
