import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

@testable import Command

/// A vault with an account at a provider of this machine, whose API answers as a test says, and an app
/// that may read and post.
final class RequestPlace {
  let directory: TemporaryDirectory
  let server: ScriptedServer
  private let script: Script

  typealias Answer = @Sendable (HTTPServer.Request) -> HTTPServer.Response

  private final class Script: Sendable {
    let answers = Mutex<[String: Answer]>([:])
  }

  /// - Parameters:
  ///   - members: Of the provider's definition, in place of its `renewal`.
  ///   - response: The token response that the account begins with.
  init(
    _ members: String = "",
    response: String =
      #"{"access_token":"at-0","token_type":"bearer","expires_in":86400,"refresh_token":"rt-0"}"#,
    limits: HTTPServer.Limits = HTTPServer.Limits()
  ) throws {
    directory = try TemporaryDirectory()
    _ = try directory.newVault()
    let script = Script()
    self.script = script
    server = try ScriptedServer(limits: limits) { request, _ in
      script.answers.withLock { $0[request.path] }?(request) ?? .text("nothing here", status: 404)
    }
    let definition = try directory.text(
      "own.json",
      """
      {"id":"own","name":"Own","protocol":"oauth2",
       "endpoints":{"authorize":"\(server.url)/authorize","token":"\(server.url)/token"},
       "api_hosts":["127.0.0.1:\(server.port)"],
       \(members.isEmpty ? #""renewal":{"method":"refresh_token"}"# : members),
       "permissions":{"profile":{"group":"read","basic":true},"post":{"group":"write"}},
       "errors":[{"code":"gone","class":"revoked"},{"code":"narrow","class":"permission"},
        {"code":"old","class":"expired"},{"code":"bad","class":"content"}]}
      """)
    try `do`("add-provider", definition)
    let secret = try directory.text("secret", "client-secret-0")
    try `do`(
      "add-client", "--type", "own", "--client-id", "client-1", "--client-secret-stdin",
      input: secret)
    try `do`(
      "add-account", "--type", "own", "--username", "lestat", "--response",
      directory.text("response", response))
    try `do`("add-app", "123", "--name", "App", "--sign-only")
    try `do`("grant", "--app", "123", "--perms", "profile")
    try `do`("grant", "--app", "123", "--perms", "post", "--audience", "friends")
  }

  func on(_ path: String, _ answer: @escaping Answer) {
    script.answers.withLock { $0[path] = answer }
  }

  func on(_ path: String, _ response: HTTPServer.Response) { on(path) { _ in response } }

  func url(_ path: String) -> String { server.url + path }

  /// The requests to the API, without those to the provider's own addresses.
  var requests: [HTTPServer.Request] { server.requests.filter { $0.path != "/token" } }

  /// Runs a command that must succeed.
  func `do`(_ arguments: String..., input: String? = nil) throws {
    let ended = try run(arguments, input: input)
    try #require(ended.status == 0, "\(arguments): \(ended.error)")
  }

  func request(_ arguments: String..., input: String? = nil) throws -> Executables.Ended {
    try run(["request", "--app", "123"] + arguments, input: input)
  }

  func run(_ arguments: [String], input: String? = nil) throws -> Executables.Ended {
    let (output, error) = (directory.newFile("output"), directory.newFile("error"))
    let process = process(arguments)
    if let input { process.standardInput = FileHandle(forReadingAtPath: input) }
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: error)
    try process.run()
    process.waitUntilExit()
    return Executables.Ended(
      status: process.terminationStatus, output: try text("output"), error: try text("error"))
  }

  /// The command, not yet started.
  func process(_ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Executables.vault)
    process.arguments = arguments
    process.environment = [
      "VAULT_FILE": directory("v.vault"), "VAULT_PASSPHRASE_FILE": directory("passphrase"),
      "XDG_STATE_HOME": directory("state"), "PATH": "/usr/bin:/bin", "HOME": directory.path,
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    process.standardInput = FileHandle.nullDevice
    return process
  }

  func text(_ name: String) throws -> String {
    String(decoding: try bytes(name), as: UTF8.self)
  }

  func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: directory(name)))
  }
}
