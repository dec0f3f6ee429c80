import Foundation
import TestSupport
import Testing

/// A person's home with a new vault, and the executables that were built beside these tests.
final class VaultHome {
  let directory: TemporaryDirectory
  /// For each run; `BROWSER` is put in for a sign-in.
  var environment: [String: String]

  /// The folder with `vault` and `vault-agent`: that of `VAULT_EXECUTABLE`, else beside the tests.
  static var executables: String {
    if let path = ProcessInfo.processInfo.environment["VAULT_EXECUTABLE"] {
      return URL(fileURLWithPath: path).deletingLastPathComponent().path
    }
    return Bundle.main.bundleURL.path
  }

  /// - Parameter definitions: Provider definitions, in JSON, that are added.
  init(_ definitions: [String] = []) throws {
    directory = try TemporaryDirectory()
    environment = [
      "HOME": directory.path, "PATH": "\(Self.executables):/usr/bin:/bin",
      "VAULT_KEY_FILE": directory("key"), "SWIFT_BACKTRACE": "enable=no",
    ]
    try must(["init", "--key-file", directory("key"), "--no-recovery"])
    for definition in definitions { try must(["add-provider", "-"], input: definition) }
  }

  /// Starts a command and returns while it runs.
  func start(
    _ arguments: [String], input: String = "", browser: Browser? = nil, seconds: Int = 90
  ) throws -> Running {
    var environment = environment
    if let browser { environment["BROWSER"] = browser.command }
    return try Running(
      Self.executables + "/vault", arguments, environment: environment, input: input,
      seconds: seconds)
  }

  func run(
    _ arguments: [String], input: String = "", browser: Browser? = nil
  ) throws -> Running.Ended {
    try start(arguments, input: input, browser: browser).end()
  }

  /// Runs what must work.
  @discardableResult
  func must(
    _ arguments: [String], input: String = "", browser: Browser? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Running.Ended {
    let ended = try run(arguments, input: input, browser: browser)
    try #require(
      ended.status == 0, "\(arguments): \(ended.status) \(ended.errors)",
      sourceLocation: sourceLocation)
    return ended
  }

  /// Registers a client of a peer's with a definition.
  func add(_ client: Peer.Client, of type: String, redirect: String? = nil) throws {
    var arguments = ["add-client", "--type", type, "--client-id", client.id]
    if let redirect { arguments += ["--redirect", redirect] }
    if client.secret != nil { arguments.append("--client-secret-stdin") }
    try must(arguments, input: client.secret.map { $0 + "\n" } ?? "")
  }

  /// The account's one credential, as `show-account` tells it.
  func credential(of account: String) throws -> JSONReply {
    let shown = try must(["show-account", account, "--json"]).json()
    try #require(shown["credentials"].list.count == 1, "\(shown)")
    return shown["credentials"][0]
  }

  /// What the ledger says happened to the account, the newest last.
  func events(of account: String) throws -> [String] {
    try must(["history", "--account", account, "--json"]).output
      .split(separator: "\n").compactMap { try JSONReply(String($0))["event"].text }
  }
}
