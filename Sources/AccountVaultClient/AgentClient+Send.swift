internal import UnixSocket

/// A request that the agent signs for an account and sends.
public struct ProviderRequest: Sendable {
  public var method: String
  /// Absolute and encoded, at a host of the account's provider.
  public var url: String
  /// Further headers. Those that the agent sets, and those of the connection, are refused.
  public var headers: [Header]
  public var body: RequestBody
  /// As in ``AgentClient/token(account:permissions:renew:)``.
  public var account: String?
  public var permissions: [String]

  public init(
    _ method: String, _ url: String, headers: [Header] = [], body: RequestBody = .none,
    account: String? = nil, permissions: [String] = []
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.account = account
    self.permissions = permissions
  }
}

/// What the provider answered; any status of its own is an answer.
public struct ProviderResponse: Sendable {
  public let status: Int
  /// In their order, names in lower case.
  public let headers: [Header]
  /// As it comes. The connection is closed where not all of it is read.
  public let body: ResponseBody

  /// The first header of that name.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name == name }?.value
  }
}

extension AgentClient {
  /// Has the agent sign a request and send it. This program never sees the token.
  ///
  /// The answer is there once its head is; the body follows. GET, HEAD, PUT and DELETE may be sent a
  /// second time where a connection that was kept turns out to be dead, but for a body that is a stream.
  ///
  /// - Throws: ``AgentError``: as ``token(account:permissions:renew:)``; `usage` for a request that no
  ///   HTTP message can be; `config` for a host that is not the provider's; `try_again` where the
  ///   provider cannot be reached.
  public func send(_ request: ProviderRequest) async throws(AgentError) -> ProviderResponse {
    let (connection, head) = try await pool.begin(try request.call())
    guard head.header("vault-source") == "provider" else {
      let answer = try await pool.whole(connection, head)
      guard !(200..<300).contains(head.status) else {
        throw AgentError.notUnderstood("one of a provider")
      }
      throw AgentError(head, answer.bytes)
    }
    let reader = BodyReader(
      connection, UnixConnection.Body(head, isHead: request.method == "HEAD"), pool)
    return ProviderResponse(
      status: head.status, headers: head.headers.map { Header($0.name, $0.value) },
      body: ResponseBody(reader: reader))
  }
}

extension ProviderRequest {
  /// Headers that are the connection's to the agent, or say who asks.
  private static let reserved: Set<String> = [
    "host", "authorization", "content-length", "transfer-encoding", "connection", "expect",
    "keep-alive", "te", "trailer", "upgrade",
  ]

  func call() throws(AgentError) -> Call {
    guard Text.isToken(method), Text.fitsHeader(url), !url.isEmpty, Text.fitsHeader(account ?? ""),
      permissions.allSatisfy(Text.fitsHeader)
    else {
      throw AgentError(.usage, .setup, "a method, URL or name that no request can carry")
    }
    var call = Call(method: method, target: "/v1/request", payload: body.payload)
    call.headers = [("Vault-URL", url)]
    if let account { call.headers.append(("Vault-Account", account)) }
    if !permissions.isEmpty {
      call.headers.append(("Vault-Permissions", permissions.joined(separator: ",")))
    }
    for header in headers {
      let name = header.name.lowercased()
      guard Text.isToken(name), Text.fitsHeader(header.value), !Self.reserved.contains(name),
        !name.hasPrefix("vault-")
      else {
        throw AgentError(.usage, .setup, "the header \(name.debugDescription) cannot be sent")
      }
      call.headers.append((header.name, header.value))
    }
    // RFC 9110 section 9.2.2, of the methods that the agent takes.
    call.isRepeatable = ["GET", "HEAD", "PUT", "DELETE"].contains(method)
    if case .stream = body.payload { call.isRepeatable = false }
    return call
  }
}
