/// What sends requests. Redirects are never followed: they would take credentials along.
package protocol Transport: Sendable {
  /// Sends a request and waits for the whole reply. Returns or throws exactly once; a task that is
  /// cancelled gets ``HTTPFailure/Kind/cancelled`` at once and the transfer ends.
  ///
  /// - Throws: ``HTTPFailure`` where there is no whole reply. A refusal by status is a reply.
  func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse
}

extension Transport {
  package func send(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
    try await send(request, to: nil)
  }
}

/// Why there is no reply.
package struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Kind: String, Sendable, CaseIterable {
    /// The request is malformed, or asks for plain HTTP to another machine.
    case badRequest
    /// No address for the host.
    case resolve
    /// Nobody listens, or the way there is closed.
    case connect
    /// TLS, the certificate among it.
    case tls
    /// A time limit was reached.
    case timeout
    /// The reply is larger than allowed.
    case tooLarge
    /// The connection broke, or the reply is no HTTP.
    case broken
    /// The receiver wanted no more.
    case refused
    /// The rest of the body did not come.
    case body
    /// The task was cancelled.
    case cancelled
    /// A file to be sent cannot be read.
    case file
  }

  package let kind: Kind
  /// For the person, without address beyond the host and without secrets.
  package let text: String
  /// Whether bytes of the request may have reached the server: a request that was certainly not sent
  /// can be sent again without harm.
  package let mayHaveBeenSent: Bool

  package init(_ kind: Kind, _ text: String, mayHaveBeenSent: Bool) {
    self.kind = kind
    self.text = text
    self.mayHaveBeenSent = mayHaveBeenSent
  }

  package var description: String { text }
}
