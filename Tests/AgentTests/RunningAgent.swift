import Foundation
import Sodium
import Synchronization
import TestSupport
import Testing
import UnixSocket

/// A vault in a home of its own, and a real agent that serves it: the built executables, real sockets.
///
/// The commands of ``vault(_:input:)`` do not see the agent: they run as another process of the owner's
/// does.
final class RunningAgent: Sendable {
  /// What a command, or the agent, ended with.
  struct Ended: Sendable {
    let status: Int32
    let output: String
    let errors: String
  }

  let directory: TemporaryDirectory
  /// Of commands and agent.
  let environment: [String: String]
  private let process = Mutex<Process?>(nil)
  /// Where `apps.sock` stands when `--apps-socket` was given.
  private let appsPath = Mutex<String?>(nil)
  /// All bytes that came over `apps.sock` by ``ask(_:_:key:body:headers:)``.
  let received = Mutex<[UInt8]>([])

  static var executables: String { Bundle.main.bundleURL.path }

  /// A vault with a key file, and no agent yet.
  ///
  /// - Parameter definitions: Provider definitions, in JSON.
  init(definitions: [String] = []) throws {
    directory = try TemporaryDirectory()
    environment = [
      "HOME": directory.path, "PATH": "\(Self.executables):/usr/bin:/bin",
      "VAULT_FILE": directory("accounts.vault"), "VAULT_KEY_FILE": directory("key"),
      "SWIFT_BACKTRACE": "enable=no",
    ]
    try FileManager.default.createDirectory(
      atPath: directory("run"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try vault(["init", "--key-file", directory("key"), "--no-recovery"])
    for definition in definitions { try vault(["add-provider", "-"], input: definition) }
  }

  deinit { stop() }

  /// With an account whose token that is, an app `bot` that was granted its address, and the app's key
  /// in the file `app.key`.
  static func withBot(token: String) throws -> RunningAgent {
    let agent = try RunningAgent()
    try agent.vault(
      "add-account --type facebook --username lestat.ali --user-id 4 --response -",
      input: #"{"access_token":"\#(token)","token_type":"bearer","expires_in":5183944}"#)
    let key = try agent.addApp("bot")
    try agent.vault("grant --app bot --perms email")
    try key.write(toFile: agent.directory("app.key"), atomically: false, encoding: .utf8)
    return agent
  }

  // MARK: The owner

  /// Runs a command that must work.
  @discardableResult
  func vault(
    _ arguments: [String], input: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let ended = try run(arguments, input: input)
    try #require(
      ended.status == 0, "\(arguments): \(ended.status) \(ended.errors)",
      sourceLocation: sourceLocation)
    return ended.output
  }

  /// The same for words without spaces in them.
  @discardableResult
  func vault(
    _ line: String, input: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    try vault(
      line.split(separator: " ").map(String.init), input: input, sourceLocation: sourceLocation)
  }

  /// - Parameter more: Variables beside ``environment``, or in the place of those.
  func run(
    _ arguments: [String], input: String = "", adding more: [String: String] = [:]
  ) throws -> Ended {
    let process = try Self.process("vault", arguments, environment.merging(more) { $1 })
    let files = ["input", "output", "errors"].map { directory("\(UUID().uuidString)-\($0)") }
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    for file in files { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    try input.write(toFile: files[0], atomically: false, encoding: .utf8)
    process.standardInput = FileHandle(forReadingAtPath: files[0])
    process.standardOutput = FileHandle(forWritingAtPath: files[1])
    process.standardError = FileHandle(forWritingAtPath: files[2])
    try process.run()
    process.waitUntilExit()
    return Ended(
      status: process.terminationStatus,
      output: try String(contentsOfFile: files[1], encoding: .utf8),
      errors: try String(contentsOfFile: files[2], encoding: .utf8))
  }

  /// Adds an app and returns its key.
  func addApp(_ id: String, _ options: String...) throws -> String {
    try addApp(id, options: options)
  }

  func addApp(_ id: String, options: [String]) throws -> String {
    try Self.key(in: vault(["add-app", id, "--name", "App \(id)", "--json"] + options))
  }

  /// Gives an app a new key and returns it.
  func newKey(of app: String) throws -> String {
    try Self.key(in: vault(["new-app-key", app, "--json"]))
  }

  private static func key(in output: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    return try #require(object?["key"] as? String)
  }

  /// The entries of the ledger, each as `vault history --json` prints it.
  func history(_ options: String...) throws -> [[String: Any]] {
    try vault(["history", "--json"] + options).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  // MARK: The agent

  /// Starts it, and waits until it answers.
  ///
  /// - Parameter unlocked: Whether it has the key file.
  func start(_ options: String..., unlocked: Bool = true) throws {
    var environment = environment
    environment["XDG_RUNTIME_DIR"] = directory("run")
    if !unlocked { environment["VAULT_KEY_FILE"] = nil }
    let place = options.firstIndex(of: "--apps-socket").map { options[$0 + 1] }
    appsPath.withLock { $0 = place }
    let process = try Self.process("vault-agent", ["agent"] + options, environment)
    process.standardInput = FileHandle.nullDevice
    _ = FileManager.default.createFile(atPath: directory("log"), contents: nil)
    process.standardOutput = FileHandle(forWritingAtPath: directory("log"))
    process.standardError = process.standardOutput
    try process.run()
    self.process.withLock { $0 = process }
    let end = ContinuousClock.now + .seconds(60)
    while (try? UnixConnection(path: socket("apps"))) == nil {
      guard process.isRunning, ContinuousClock.now < end else {
        throw CocoaError(.executableLoad, userInfo: ["log": log])
      }
      usleep(5000)
    }
  }

  /// The path of `owner.sock` or `apps.sock`.
  func socket(_ name: String) throws -> String {
    if name == "apps", let path = appsPath.withLock({ $0 }) { return path }
    let folder = directory("run/vault")
    let vaults = try FileManager.default.contentsOfDirectory(atPath: folder)
    let vault = vaults.first {
      FileManager.default.fileExists(atPath: "\(folder)/\($0)/\(name).sock") && $0 != "by-file"
    }
    return "\(folder)/\(vault ?? "none")/\(name).sock"
  }

  /// What the agent wrote on standard error so far.
  var log: String {
    String(
      decoding: FileManager.default.contents(atPath: directory("log")) ?? Data(), as: UTF8.self)
  }

  var processIdentifier: Int32 { process.withLock { $0?.processIdentifier ?? 0 } }

  /// Sends the agent a signal.
  func signal(_ signal: Int32) {
    let identifier = processIdentifier
    if identifier > 0 { kill(identifier, signal) }
  }

  /// Ends it; nothing happens where it does not run.
  ///
  /// - Returns: Its exit status.
  @discardableResult
  func stop() -> Int32? {
    guard
      let process = process.withLock({ process in
        defer { process = nil }
        return process
      })
    else { return nil }
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// A process of a built executable, its signals unblocked: the threads of these tests block some,
  /// which a child would inherit. It is killed after ten minutes.
  private static func process(
    _ name: String, _ arguments: [String], _ environment: [String: String]
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/perl")
    process.arguments =
      [
        "-e",
        "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); alarm 600; exec @ARGV; exit 127",
        "\(executables)/\(name)",
      ] + arguments
    process.environment = environment
    return process
  }

  // MARK: An app

  /// What the agent answered.
  struct Reply: Sendable {
    let status: Int
    /// Names in lower case.
    let headers: [(name: String, value: String)]
    let body: String

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The body's members.
    var object: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }

    /// The `code` of an error.
    var code: String? { (object["error"] as? [String: Any])?["code"] as? String }
  }

  /// Asks once on `apps.sock`, on a connection of its own.
  func ask(
    _ method: String, _ path: String, key: String? = nil, body: String? = nil,
    headers: [String] = []
  ) throws -> Reply {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: vault\r\n"
    if let key { head += "Authorization: Bearer \(key)\r\n" }
    for header in headers { head += "\(header)\r\n" }
    if let body {
      if !headers.contains(where: { $0.lowercased().hasPrefix("content-type:") }) {
        head += "Content-Type: application/json\r\n"
      }
      head += "Content-Length: \(body.utf8.count)\r\n"
    }
    return try exchange(head + "\r\n" + (body ?? ""), isHead: method == "HEAD")
  }

  /// Sends bytes as they are, and reads one answer.
  func exchange(_ bytes: String, isHead: Bool = false) throws -> Reply {
    var connection = try UnixConnection(path: socket("apps"))
    connection.patience = 60_000
    try connection.send(Array(bytes.utf8).span.bytes)
    let head = try connection.receiveHead()
    var body: [UInt8] = []
    if !isHead {
      let error = connection.receiveBody(of: head) { piece in
        for offset in 0..<piece.byteCount {
          body.append(piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
        }
      }
      if let error { throw error }
    }
    let headBytes = head.headers.map { "\($0.name): \($0.value)\n" }.joined().utf8
    received.withLock { $0 += Array(headBytes) + body }
    return Reply(
      status: head.status, headers: head.headers, body: String(decoding: body, as: UTF8.self))
  }
}
