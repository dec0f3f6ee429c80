import Foundation
import TestSupport
import Testing

/// Many programs at once, in another language than the agent's.
@Suite struct `The agent under load` {
  private static let seconds =
    ProcessInfo.processInfo.environment["VAULT_THOROUGH"] == nil ? 8 : 60

  /// Starts a program of Tests/AgentClients; its standard output goes into a file.
  private static func start(_ name: String, _ arguments: [String], output: String) throws -> Process
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "AgentClients")
    process.arguments = ["-B", folder.appending(path: name).path] + arguments
    _ = FileManager.default.createFile(atPath: output, contents: nil)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: output)
    try process.run()
    return process
  }

  /// Waits until it has ended; kills it and fails when that takes too long.
  private static func end(_ process: Process, seconds: Int, output: String) throws -> [String: Any]
  {
    let end = ContinuousClock.now + .seconds(seconds)
    while process.isRunning, ContinuousClock.now < end { usleep(20_000) }
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      Issue.record("the client did not end")
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: output))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  /// Kibibytes of a process's own memory, and how many descriptors it has open.
  private static func use(_ process: Int32) throws -> (memory: Int, descriptors: Int) {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    let memory = try #require(Int(line.filter(\.isNumber)))
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    return (memory, descriptors.count)
  }

  @Test(.timeLimit(.minutes(5)))
  func `answers 64 clients without an error and with flat memory`() throws {
    let agent = try RunningAgent.withBot(token: "EAAB0loadtoken")
    try agent.start("--app-rate", "1000000")
    defer { agent.stop() }
    let output = agent.directory("load.json")
    let client = try Self.start(
      "load.py",
      [try agent.socket("apps"), agent.directory("app.key"), "64", String(Self.seconds)],
      output: output)
    // What is made once (threads, sessions, their caches) is there after a quarter of the time.
    usleep(UInt32(Self.seconds) * 250_000)
    let early = try Self.use(agent.processIdentifier)
    usleep(UInt32(Self.seconds) * 650_000)
    let late = try Self.use(agent.processIdentifier)
    let told = try Self.end(client, seconds: 120, output: output)
    #expect(told["errors"] as? Int == 0, "\(told)")
    #expect(told["never_answered"] as? Int == 0)
    #expect((told["requests"] as? Int ?? 0) > Self.seconds * 500, "\(told)")
    #expect(late.memory - early.memory < 2048, "\(early) \(late) KiB")
    // All are gone, and nothing was left open.
    for _ in 0..<500
    where try Self.use(agent.processIdentifier).descriptors > early.descriptors - 32 {
      usleep(10_000)
    }
    #expect(try Self.use(agent.processIdentifier).descriptors < early.descriptors - 32)
    // Each use is in the ledger: the first of a minute, and the count of the rest.
    agent.stop()
    let uses = try agent.history("--event", "token_used")
    #expect(!uses.isEmpty)
    #expect(try agent.run(["verify"]).status == 0)
  }

  @Test(.timeLimit(.minutes(5)))
  func `ends within seconds of SIGTERM, whoever is busy with it, and leaves the vault whole`()
    throws
  {
    let agent = try RunningAgent.withBot(token: "EAAB0loadtoken")
    try agent.start("--app-rate", "1000000")
    let output = agent.directory("load.json")
    let sockets = [try agent.socket("apps"), try agent.socket("owner")]
    let client = try Self.start(
      "load.py", [sockets[0], agent.directory("app.key"), "20", "120"], output: output)
    defer { kill(client.processIdentifier, SIGKILL) }
    // They are all there: the agent holds a connection for each.
    let idle = try Self.use(agent.processIdentifier).descriptors
    for _ in 0..<1000
    where try Self.use(agent.processIdentifier).descriptors < idle + 20 { usleep(10_000) }
    try #require(try Self.use(agent.processIdentifier).descriptors >= idle + 15)
    let began = ContinuousClock.now
    #expect(agent.stop() == 0)
    // Not how fast it is: systemd would kill it after 90 seconds, and a person sooner.
    #expect(ContinuousClock.now - began < .seconds(10))
    for socket in sockets { #expect(!FileManager.default.fileExists(atPath: socket)) }
    #expect(!(try agent.history("--event", "token_used")).isEmpty)
    #expect(try agent.run(["verify"]).status == 0)
  }

  @Test(.timeLimit(.minutes(5)), arguments: ["apps", "owner"])
  func `answers only what it may to bytes that no client should send`(socket: String) throws {
    let agent = try RunningAgent.withBot(token: "EAAB0loadtoken")
    try agent.start("--app-rate", "1000000")
    defer { agent.stop() }
    let count = ProcessInfo.processInfo.environment["VAULT_THOROUGH"] == nil ? 1000 : 6000
    let output = agent.directory("fuzz.json")
    let client = try Self.start(
      "fuzz.py",
      [
        try agent.socket(socket), agent.directory("app.key"), "20261130", String(count),
        socket == "apps" ? "/v1/app" : "/v1/status",
      ], output: output)
    let told = try Self.end(client, seconds: 240, output: output)
    let findings = try #require(told["findings"] as? [Any])
    #expect(findings.isEmpty, "\(told)")
    #expect(told["sent"] as? Int == count)
    #expect(try Self.use(agent.processIdentifier).memory < 64 << 10)
    #expect(agent.stop() == 0)
    #expect(!agent.log.contains("EAAB0loadtoken"))
  }
}
