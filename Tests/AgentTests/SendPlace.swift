import Foundation
import Listener
import Synchronization
import TestSupport
import Testing
import UnixSocket

/// A running agent whose vault has an account at a provider of this machine, and an app that is never
/// handed a token.
final class SendPlace: Sendable {
  static let token = "canary-access-token-0123456789"
  static let refresh = "canary-refresh-token-0123456789"
  static let next = "canary-renewed-token-0123456789"

  let agent: RunningAgent
  let server: ScriptedServer
  let key: String
  private let script: Script

  typealias Answer = @Sendable (HTTPServer.Request) -> HTTPServer.Response

  private final class Script: Sendable {
    let answers = Mutex<[String: Answer]>([:])
  }

  /// - Parameters:
  ///   - hosts: Further hosts of the API, as `127.0.0.1:PORT`.
  ///   - expiresIn: Of the token.
  init(
    _ members: String = "", hosts: [String] = [], expiresIn: Int = 86_400,
    token: String = SendPlace.token, limits: HTTPServer.Limits = HTTPServer.Limits()
  ) throws {
    let script = Script()
    self.script = script
    server = try ScriptedServer(limits: limits) { request, _ in
      script.answers.withLock { $0[request.path] }?(request) ?? .text("nothing here", status: 404)
    }
    let hosts = (["127.0.0.1:\(server.port)"] + hosts).map { "\"\($0)\"" }
    agent = try RunningAgent(definitions: [
      """
      {"id":"own","name":"Own","protocol":"oauth2",
       "endpoints":{"authorize":"\(server.url)/authorize","token":"\(server.url)/token"},
       "api_hosts":[\(hosts.joined(separator: ","))],\(members.isEmpty ? "" : members + ",")
       "renewal":{"method":"refresh_token"},
       "permissions":{"profile":{"group":"read","basic":true},"post":{"group":"write"}},
       "errors":[{"code":"gone","class":"revoked"},{"code":"old","class":"expired"},
        {"code":"bad","class":"content"}]}
      """
    ])
    try agent.vault(
      "add-client --type own --client-id client-1 --client-secret-stdin", input: "client-secret-0")
    key = try agent.addApp("123", "--sign-only")
    try addAccount("lestat", expiresIn: expiresIn, token: token)
    for permission in ["profile", "post"] {
      try agent.vault(
        "grant --app 123 --perms \(permission)"
          + (permission == "post" ? " --audience friends" : ""))
    }
  }

  func addAccount(
    _ name: String, expiresIn: Int = 86_400, token: String = SendPlace.token
  ) throws {
    let response = """
      {"access_token":"\(token)","token_type":"bearer","expires_in":\(expiresIn),
       "refresh_token":"\(Self.refresh)"}
      """
    try response.write(toFile: agent.directory("response"), atomically: false, encoding: .utf8)
    try agent.vault([
      "add-account", "--type", "own", "--username", name, "--response",
      agent.directory("response"),
    ])
  }

  func on(_ path: String, _ answer: @escaping Answer) {
    script.answers.withLock { $0[path] = answer }
  }

  func on(_ path: String, _ response: HTTPServer.Response) { on(path) { _ in response } }

  /// The answers one after the other; the last stays.
  func on(_ path: String, inTurn responses: [HTTPServer.Response]) {
    let turn = Atomic<Int>(0)
    on(path) { _ in
      responses[min(turn.add(1, ordering: .relaxed).oldValue, responses.count - 1)]
    }
  }

  /// Lets a renewal succeed, so many milliseconds later.
  func renews(after milliseconds: Int64 = 0) {
    on(
      "/token",
      .json(
        """
        {"access_token":"\(Self.next)","token_type":"bearer","expires_in":86400,
         "refresh_token":"\(Self.refresh)-2"}
        """
      ).after(milliseconds: milliseconds))
  }

  /// What came to the API.
  var requests: [HTTPServer.Request] { server.requests.filter { $0.path != "/token" } }

  /// Has a request sent.
  func send(
    _ method: String, _ url: String, body: String? = nil, headers: [String] = [],
    key: String? = nil
  ) throws -> RunningAgent.Reply {
    try agent.ask(
      method, "/v1/request", key: key ?? self.key, body: body,
      headers: ["Vault-URL: \(url)"] + headers)
  }

  func head(_ method: String, _ url: String, _ headers: [String] = []) -> String {
    ([
      "\(method) /v1/request HTTP/1.1", "Host: vault", "Authorization: Bearer \(key)",
      "Vault-URL: \(url)",
    ] + headers).joined(separator: "\r\n") + "\r\n\r\n"
  }

  func connect() throws -> UnixConnection {
    var connection = try UnixConnection(path: agent.socket("apps"))
    connection.patience = 120_000
    return connection
  }

  /// Descriptors that the agent has open.
  var descriptors: Int {
    (try? FileManager.default.contentsOfDirectory(
      atPath: "/proc/\(serving)/fd"))?.count ?? 0
  }

  /// The number in a line of `/proc/PID/status`; of memory in KiB.
  func status(_ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(serving)/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return try #require(
      line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  /// The started process executes the agent in its own place.
  private var serving: Int32 { agent.processIdentifier }
}
