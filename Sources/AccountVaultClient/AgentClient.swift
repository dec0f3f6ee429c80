internal import UnixSocket

/// What a program asks a running agent for, with its own app key: it gets what it was granted, never
/// the vault.
///
/// A value may be copied and used by any number of tasks; the copies share their connections. A call
/// waits on no thread of the cooperative pool. Where its task is cancelled, the connection is closed and
/// the call throws (``AgentError/Cause/cancelled``). Where a kept connection turns out to be dead, a call
/// that does no harm twice is sent once more.
public struct AgentClient: Sendable {
  /// How long the agent may keep a call waiting.
  public struct Timeouts: Sendable {
    /// For a connection, and for each piece of a request that it has to take.
    public var write = Duration.seconds(30)
    /// Until the answer begins. The agent may have to renew a token first, or to wait for a provider.
    public var answer = Duration.seconds(330)
    /// Without a byte, within an answer.
    public var pause = Duration.seconds(120)

    public init() {}
  }

  let pool: ConnectionPool

  /// Nothing is asked yet: an agent that is not there is found by the first call.
  public init(
    socket: AgentSocket, key: consuming AppKey, timeouts: Timeouts = Timeouts()
  ) {
    pool = ConnectionPool(path: socket.path, key: key, timeouts: timeouts)
  }

  /// A client as the environment describes it: ``AgentSocket/ofEnvironment()`` and
  /// ``AppKey/ofEnvironment()``.
  ///
  /// - Throws: ``AgentError`` of either.
  public static func ofEnvironment(
    timeouts: Timeouts = Timeouts()
  ) throws(AgentError) -> AgentClient {
    let socket = try AgentSocket.ofEnvironment()
    return AgentClient(socket: socket, key: try AppKey.ofEnvironment(), timeouts: timeouts)
  }

  /// Who the agent takes this program for.
  ///
  /// - Throws: ``AgentError``: `wrong_key`, `locked`, and what no call is spared.
  public func app() async throws(AgentError) -> App {
    try await pool.finish(Call(method: "GET", target: "/v1/app"), App.self)
  }

  /// The accounts on which the app holds something, in the order of their ids.
  public func accounts() async throws(AgentError) -> [Account] {
    struct Answer: Decodable, Sendable { var accounts: [Account] }
    return try await pool.finish(Call(method: "GET", target: "/v1/accounts"), Answer.self).accounts
  }

  /// The app's permissions.
  ///
  /// - Parameters:
  ///   - account: Of this account: its id, a prefix of it of 6 characters or more, `type:username`,
  ///     `type:user_id` or a username that only one account has. Nil for all.
  ///   - permissions: Only these. Empty for all.
  public func access(
    account: String? = nil, permissions: [String] = []
  ) async throws(AgentError) -> [Access] {
    struct Answer: Decodable, Sendable { var access: [Access] }
    var query: [String] = []
    if let account { query.append("account=" + Text.encoded(account)) }
    if !permissions.isEmpty {
      query.append("perms=" + permissions.map(Text.encoded).joined(separator: ","))
    }
    let target = "/v1/access" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    return try await pool.finish(Call(method: "GET", target: target), Answer.self).access
  }

  /// Asks for access, with the rules of the provider. What nobody has decided yet stays pending: the
  /// owner answers it, and ``events(after:)`` tells.
  ///
  /// - Parameters:
  ///   - type: The provider, such as `twitter`.
  ///   - group: What a provider that grants by groups is asked for.
  ///   - audience: Who may see what the app writes; some providers demand it.
  /// - Throws: ``AgentError``: `usage` where the provider's rules forbid such an ask, `ambiguous`.
  public func requestAccess(
    type: String, permissions: [String], group: AccessGroup? = nil, audience: Audience? = nil,
    account: String? = nil
  ) async throws(AgentError) -> AccessAnswer {
    struct Ask: Encodable {
      var type: String
      var permissions: [String]
      var group: AccessGroup?
      var audience: Audience?
      var account: String?
    }
    return try await pool.finish(
      try Call.json(
        "/v1/access",
        Ask(
          type: type, permissions: permissions, group: group, audience: audience, account: account)),
      AccessAnswer.self)
  }

  /// A token. The agent renews one that has expired first.
  ///
  /// - Parameters:
  ///   - account: As in ``access(account:permissions:)``; nil for the one account that the app holds
  ///     these permissions on.
  ///   - permissions: All of which must be granted.
  ///   - renew: Whether it is renewed before its end too.
  /// - Throws: ``AgentError``: `denied` for an app that only has its requests signed, `never_asked`,
  ///   `revoked`, `sign_in`, `ambiguous`, `try_again`, …
  public func token(
    account: String? = nil, permissions: [String] = [], renew: Bool = false
  ) async throws(AgentError) -> Token {
    struct Use: Encodable {
      var account: String?
      var permissions: [String]?
      var renew: Bool?
    }
    return Token(
      try await pool.finish(
        try Call.json(
          "/v1/token",
          Use(
            account: account, permissions: permissions.isEmpty ? nil : permissions,
            renew: renew ? true : nil)),
        Token.Wire.self))
  }

  /// The headers that make a request the account's; it is then to be sent just as it was described.
  ///
  /// - Parameters:
  ///   - url: Absolute and encoded.
  ///   - form: The body where it is a form, as it will be sent: OAuth 1.0a signs it.
  /// - Throws: As ``token(account:permissions:renew:)``.
  public func sign(
    method: String, url: String, form: String? = nil, account: String? = nil,
    permissions: [String] = []
  ) async throws(AgentError) -> Signature {
    struct Asked: Encodable {
      var method: String
      var url: String
      var form: String?
      var account: String?
      var permissions: [String]?
    }
    return try await pool.finish(
      try Call.json(
        "/v1/sign",
        Asked(
          method: method, url: url, form: form, account: account,
          permissions: permissions.isEmpty ? nil : permissions)),
      Signature.self)
  }
}

extension Call {
  /// A call with a JSON object. All of them only ask: to be asked twice does no harm.
  fileprivate static func json(
    _ target: String, _ object: some Encodable
  ) throws(AgentError) -> Call {
    Call(
      method: "POST", target: target, headers: [("Content-Type", "application/json")],
      payload: .bytes(try JSONAnswer.encode(object)))
  }
}

enum Text {
  /// Percent-encoded but for what RFC 3986 section 2.3 leaves as it is.
  static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return result
  }

  /// Whether it can stand in a header's line: no control character, which could end the line.
  static func fitsHeader(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  /// Whether it can be a method or a header's name (RFC 9110 section 5.6.2).
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
