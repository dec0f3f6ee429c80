internal import CSystem
internal import Sodium
internal import UnixSocket

/// A connection to the running agent of a vault, for one question.
///
/// Why this program has HTTP of its own: decision 13.
struct AgentConnection: ~Copyable {
  private var connection: UnixConnection
  let path: String
  /// Which file the vault's is; the agent answers 421 where it has another open.
  private let file: String

  /// What is sent and received as a key (``InheritedKey``).
  static let keyType = "application/octet-stream"
  /// Most bytes of an answer that is read whole.
  private static let answerLimit = InputSource.lineLimit + 1024

  /// Connects to the agent of the vault file at `vault`; nil where none listens.
  ///
  /// - Throws: `config` where another user may be at the other end; `tryAgain` where the agent takes
  ///   no connection.
  static func open(
    toAgentOfVaultAt vault: String, _ environment: ProcessEnvironment
  ) throws(CommandFailure) -> AgentConnection? {
    guard let place = try AgentSocket.path(ofVaultAt: vault, environment) else { return nil }
    do throws(SocketError) {
      let opened = try AgentConnection(place.path, file: place.file)
      if try opened.isOurs() { return opened }
    } catch {
      if error == .timeout { throw noAnswer(place.path) }
      return nil
    }
    throw AgentSocket.refusal(place.path)
  }

  private init(_ path: String, file: String) throws(SocketError) {
    // An agent that was stopped accepts nobody, and once its queue is full a connect would never
    // return. A whole answer as a rule fits, and there is little to set up.
    connection = try UnixConnection(path: path, writePatience: 2000, capacity: 8192)
    self.path = path
    self.file = file
  }

  /// An agent is there, and says nothing.
  static func noAnswer(_ path: String) -> CommandFailure {
    CommandFailure(.tryAgain, "\(path): the agent does not answer")
  }

  /// Whether the process at the other end runs as our user, as the kernel says.
  private borrowing func isOurs() throws(SocketError) -> Bool {
    try connection.peer() == vault_effective_user()
  }

  /// Sends a request in one write.
  ///
  /// - Parameter body: No secret: it is copied.
  /// - Returns: False where the agent has hung up, and cannot have the whole request.
  @discardableResult
  borrowing func send(
    _ method: String, _ path: String, type: String? = nil, accept: String? = nil,
    _ body: [UInt8] = []
  ) throws(SocketError) -> Bool {
    var bytes = Array(head(method, path, type: type, accept: accept, body.count).utf8)
    bytes += body
    // Our own array, which outlives the call.
    return try unsafe connection.send(bytes.span.bytes)
  }

  /// Sends a request whose body is a secret, which is copied nowhere.
  borrowing func send(
    _ method: String, _ path: String, type: String, secret: borrowing SecretBytes
  ) throws(SocketError) {
    let head = Array(head(method, path, type: type, accept: nil, secret.count).utf8)
    // Our own array, which outlives the call.
    try unsafe connection.send(head.span.bytes)
    try secret.withBytes { bytes throws(SocketError) in _ = try connection.send(bytes) }
  }

  private func head(
    _ method: String, _ path: String, type: String?, accept: String?, _ count: Int
  ) -> String {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: vault\r\nVault-File: \(file)\r\n"
    if let type { text += "Content-Type: \(type)\r\n" }
    if let accept { text += "Accept: \(accept)\r\n" }
    if method != "GET" { text += "Content-Length: \(count)\r\n" }
    return text + "\r\n"
  }

  /// Waits for an answer's head.
  ///
  /// - Parameter patience: Milliseconds that may pass without a byte; -1 for no end.
  mutating func head(patience: Int64) throws(SocketError) -> UnixConnection.Head {
    connection.patience = patience
    return try connection.receiveHead()
  }

  /// Hands on an answer's body as it comes.
  mutating func body<E: Error>(
    of head: UnixConnection.Head, patience: Int64, _ receive: (RawSpan) throws(E) -> Void
  ) throws(E) -> SocketError? {
    connection.patience = patience
    return try connection.receiveBody(of: head, receive)
  }

  /// Waits for a whole answer.
  ///
  /// - Parameter limit: Most bytes of its body; a longer one is ``SocketError/broken``.
  mutating func answer(
    patience: Int64, limit: Int = answerLimit
  ) throws(SocketError) -> AgentAnswer {
    let head = try head(patience: patience)
    let announced = head.header("content-length").flatMap { Int($0) }
    let limit = min(limit, announced ?? limit)
    var bytes = SecretBytes(count: limit)
    var used = 0
    var isTooLong = false
    let failure = body(of: head, patience: patience) { piece in
      guard piece.byteCount <= limit - used else {
        isTooLong = true
        return
      }
      let start = used
      bytes.withMutableBytes { target in
        for offset in 0..<piece.byteCount {
          // A byte has no invalid form, and the offset is inside.
          let byte = unsafe piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          target.storeBytes(of: byte, toByteOffset: start + offset, as: UInt8.self)
        }
      }
      used += piece.byteCount
    }
    if let failure { throw failure }
    if isTooLong { throw .broken }
    bytes.truncate(to: used)
    return AgentAnswer(head: head, body: bytes)
  }
}

/// A whole answer of the agent.
struct AgentAnswer: ~Copyable {
  let head: UnixConnection.Head
  let body: SecretBytes

  var status: Int { head.status }
}
