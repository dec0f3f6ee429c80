import AccountVault
import Command
import Foundation
import Sodium
import TestSupport
import Testing
import UnixSocket

/// A vault with a passphrase and a key file in a home of its own, for tests that start agents in all
/// kinds of ways. What was started is killed with the value.
final class AgentHome {
  let directory: TemporaryDirectory
  let vaultPath: String
  let vaultID: String
  private(set) var started: [AgentProcess] = []

  static var executables: String { Bundle.main.bundleURL.path }
  static let passphrase = "correct horse"

  init() throws {
    directory = try TemporaryDirectory()
    vaultPath = directory("v.vault")
    for name in ["run", "state", "config"] {
      try FileManager.default.createDirectory(
        atPath: directory(name), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    for (name, text) in [("passphrase", Self.passphrase), ("wrong", "wrong")] {
      try Self.write(text + "\n", to: directory(name))
    }
    let made = try Self.run(
      "\(Self.executables)/vault",
      [
        "init", "--vault", vaultPath, "--passphrase-file", directory("passphrase"),
        "--key-file", directory("key"), "--kdf-memory", "19M", "--no-recovery", "--json",
      ], Self.environment(directory))
    try #require(made.status == 0, "\(made.text)")
    let object =
      try JSONSerialization.jsonObject(with: Data(made.text.prefix { $0 != "\n" }.utf8))
      as? [String: Any]
    vaultID = try #require(object?["vault"] as? String)
  }

  deinit {
    for process in started { process.kill() }
    // One that left whoever started it.
    if let text = try? String(contentsOfFile: place("agent.lock"), encoding: .utf8),
      let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)),
      let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe"),
      name.hasSuffix("/vault-agent"),
      let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline"),
      String(decoding: words, as: UTF8.self).contains(vaultPath)
    {
      kill(process, SIGKILL)
    }
  }

  /// The process that holds this vault's lock.
  func holder() throws -> Int32 {
    let text = try String(contentsOfFile: place("agent.lock"), encoding: .utf8)
    return try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// A provider of the test's own, and an account whose token ends after so many seconds.
  func addAccount(
    url: String, name: String = "lestat", access: String = "A1", refresh: String = "R1",
    expiresIn: Int = 3600
  ) throws {
    try vault(
      ["add-provider", "-"],
      input: """
        {"id":"own","name":"Own","extends":"x","endpoints":{"token":"\(url)/token",
         "revoke":"\(url)/revoke"},"api_hosts":["api.example"],"client_auth":"post",
         "renewal":{"method":"refresh_token","margin_seconds":600,"rotation":"single_use"},
         "revocation":"rfc7009"}
        """)
    try vault(
      ["add-client", "--type", "own", "--client-id", "c1", "--client-secret-stdin"],
      input: "client-secret\n")
    try addAccount(account: name, access: access, refresh: refresh, expiresIn: expiresIn)
  }

  /// Another one of the same provider's.
  func addAccount(
    account name: String, access: String, refresh: String, expiresIn: Int = 3600
  ) throws {
    try vault(
      [
        "add-account", "--type", "own", "--username", name, "--user-id", "id-\(name)",
        "--client", "c1", "--response", "-",
      ],
      input:
        #"{"access_token":"\#(access)","token_type":"bearer","expires_in":\#(expiresIn),"#
        + #""refresh_token":"\#(refresh)"}"#)
  }

  static func write(_ text: String, to path: String, mode: Int = 0o600) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  private static func environment(_ directory: TemporaryDirectory) -> [String: String] {
    [
      "HOME": directory.path, "XDG_STATE_HOME": directory("state"),
      "XDG_CONFIG_HOME": directory("config"), "XDG_RUNTIME_DIR": directory("run"),
      "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "SWIFT_BACKTRACE": "enable=no",
    ]
  }

  var environment: [String: String] { Self.environment(directory) }

  /// `run/vault/ID`, or a file in it.
  func place(_ name: String = "") -> String {
    directory("run/vault/\(vaultID)") + (name.isEmpty ? "" : "/" + name)
  }

  var withPassphrase: [String] { ["--passphrase-file", directory("passphrase")] }
  var withKeyFile: [String] { ["--key-file", directory("key")] }

  /// Runs a command of `vault` on the file, and returns what it wrote.
  @discardableResult
  func vault(
    _ arguments: [String], input: String? = nil, unlocking: [String]? = nil, status: Int32 = 0
  ) throws -> String {
    var environment = environment
    environment["XDG_RUNTIME_DIR"] = nil
    let ended = try Self.run(
      "\(Self.executables)/vault", arguments + ["--vault", vaultPath] + (unlocking ?? withKeyFile),
      environment,
      input: input)
    try #require(ended.status == status, "\(arguments): \(ended.text)")
    return ended.text
  }

  /// Runs a program and waits for its end; its errors stand behind its output.
  static func run(
    _ program: String, _ arguments: [String], _ environment: [String: String],
    input: String? = nil
  ) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    if let input {
      let pipe = Pipe()
      process.standardInput = pipe
      // As long as a pipe holds.
      try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try pipe.fileHandleForWriting.close()
    }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  // MARK: Agents

  /// Starts an agent and does not wait for anything.
  ///
  /// - Parameters:
  ///   - program: What is started; nil for the agent that was built.
  ///   - through: A program and its arguments that starts the agent.
  ///   - mask: The umask.
  func start(
    _ options: [String] = [], program: String? = nil, through: [String] = [], mask: Int = 0o022,
    environment more: [String: String?] = [:]
  ) throws -> AgentProcess {
    let log = directory("log-\(started.count)")
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/perl")
    process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    process.arguments =
      [
        // The threads of these tests block signals, and other suites have SIGPIPE ignored, all of which
        // a child would inherit.
        "-e",
        "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); $SIG{PIPE} = 'DEFAULT'; "
          + "umask(shift); alarm 600; "
          + "exec @ARGV; exit 127", "\(mask)",
      ] + through
      + [program ?? "\(Self.executables)/vault-agent", "agent", "--vault", vaultPath] + options
    var environment = environment
    for (name, value) in more { environment[name] = value }
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: log)
    process.standardError = process.standardOutput
    try process.run()
    let agent = AgentProcess(process, log: log, owner: place("owner.sock"))
    started.append(agent)
    return agent
  }

  /// Starts an agent that must get ready.
  func startReady(
    _ options: [String] = [], program: String? = nil, through: [String] = [], mask: Int = 0o022,
    environment: [String: String?] = [:]
  ) throws -> AgentProcess {
    let agent = try start(
      options, program: program, through: through, mask: mask, environment: environment)
    try #require(waits { agent.log.contains(" ready ") || !agent.isRunning }, "\(agent.log)")
    try #require(agent.isRunning, "\(agent.log)")
    return agent
  }
}

/// Looks until something is so, for a minute.
func waits(_ seconds: Int = 60, _ holds: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while true {
    if try holds() { return true }
    if ContinuousClock.now > end { return false }
    usleep(5000)
  }
}

/// A process of the agent, or one that starts it.
final class AgentProcess {
  private let process: Process
  private let logPath: String
  let owner: String

  init(_ process: Process, log: String, owner: String) {
    self.process = process
    logPath = log
    self.owner = owner
  }

  var isRunning: Bool { process.isRunning }
  var processIdentifier: Int32 { process.processIdentifier }

  /// What it wrote so far.
  var log: String {
    String(decoding: FileManager.default.contents(atPath: logPath) ?? Data(), as: UTF8.self)
  }

  func signal(_ signal: Int32) {
    if process.isRunning { Foundation.kill(process.processIdentifier, signal) }
  }

  func kill() {
    signal(SIGKILL)
    _ = waits { !process.isRunning }
  }

  /// Waits for its end: its exit code, a signal as a negative number, nil where it goes on.
  func end(within seconds: Int = 60) -> Int32? {
    guard waits(seconds, { !process.isRunning }) else { return nil }
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }

  /// Asks on `owner.sock`.
  func ask(_ method: String, _ path: String, body: [UInt8]? = nil) throws -> (
    status: Int, text: String
  ) {
    try askSocket(owner, method, path, body: body)
  }

  /// The members of the status.
  func status() throws -> [String: Any] {
    let reply = try ask("GET", "/v1/status")
    try #require(reply.status == 200, "\(reply.text)")
    return try JSONSerialization.jsonObject(with: Data(reply.text.utf8)) as? [String: Any] ?? [:]
  }

  /// Waits until it is locked, and tells why.
  func lockReason() throws -> String? {
    _ = try waits { try status()["state"] as? String == "locked" }
    return try status()["reason"] as? String
  }

  func unlock(_ passphrase: String) throws -> (status: Int, text: String) {
    try ask("POST", "/v1/unlock", body: key(passphrase: passphrase))
  }
}

/// A passphrase as ``Command/InheritedKey`` has it: one field with its tag.
func key(passphrase: String) -> [UInt8] {
  var bytes = Array(passphrase.utf8)
  let key = Key.passphrase(Secret(SecretBytes(wiping: &bytes)))
  return InheritedKey.bytes(of: key).withBytes { span in
    span.withUnsafeBytes { Array($0) }
  }
}

/// One request on a connection of its own.
func askSocket(
  _ socket: String, _ method: String, _ path: String, body: [UInt8]? = nil
) throws -> (status: Int, text: String) {
  var connection = try UnixConnection(path: socket)
  connection.patience = 60_000
  let head =
    "\(method) \(path) HTTP/1.1\r\nHost: vault\r\nContent-Length: \(body?.count ?? 0)\r\n"
    + "Content-Type: application/octet-stream\r\n\r\n"
  let bytes = Array(head.utf8) + (body ?? [])
  try connection.send(bytes.span.bytes)
  let reply = try connection.receiveHead()
  var text: [UInt8] = []
  let error = connection.receiveBody(of: reply) { piece in
    piece.withUnsafeBytes { text += $0 }
  }
  if let error { throw error }
  return (reply.status, String(decoding: text, as: UTF8.self))
}
