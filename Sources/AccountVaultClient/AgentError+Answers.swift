internal import FoundationEssentials
internal import UnixSocket

extension AgentError {
  /// What the agent said, in the contract's error object.
  init(_ head: UnixConnection.Head, _ body: borrowing WipedBytes) {
    struct Answer: Decodable {
      struct Inner: Decodable {
        var code: String
        var message: String
        var hint: String?
        var candidates: [String]?
      }
      var error: Inner
    }
    let retryAfter = head.header("retry-after").flatMap { Int($0) }
    guard let inner = try? JSONAnswer.decode(Answer.self, body).error else {
      // libmicrohttpd's own answers, such as that a head is too large.
      self.init(
        head.status == 503 || head.status == 429 ? .tryAgain : .failed, .agent,
        "the agent answered with the status \(head.status)", status: head.status,
        retryAfter: retryAfter)
      return
    }
    self.init(
      Code(rawValue: inner.code), .agent, inner.message, hint: inner.hint, status: head.status,
      retryAfter: retryAfter, candidates: inner.candidates ?? [])
  }

  /// What became of a connection.
  init(_ error: SocketError, at path: String) {
    switch error {
    case .nobody:
      self.init(
        .tryAgain, .unreachable, "no agent listens at \(path)", hint: "vault agent")
    case .pathTooLong(let limit):
      self.init(
        .config, .setup, "\(path): a socket's path has at most \(limit) bytes")
    // EACCES, EPERM
    case .system(13), .system(1):
      self.init(
        .config, .setup, "\(path): this user may not connect",
        hint: "vault agent --apps-socket PATH --apps-mode 0660 --apps-group GROUP")
    // EPIPE, ECONNRESET
    case .broken, .system(32), .system(104):
      self.init(
        .tryAgain, .connectionLost, "the agent closed the connection before it had answered")
    case .timeout: self.init(.tryAgain, .timedOut, "the agent did not answer in time")
    case .system(let number):
      self.init(.io, .connectionLost, "\(path): the system refused with error \(number)")
    }
  }

  static let cancelled = AgentError(.failed, .cancelled, "the task was cancelled")

  static func notUnderstood(_ what: String) -> AgentError {
    AgentError(
      .failed, .answer, "the agent's answer is not \(what)",
      hint: "is the agent of the same version?")
  }
}
