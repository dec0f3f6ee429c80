import Foundation
import TestSupport
import Testing

/// What the agent says of itself, held against it by a tester that others wrote (schemathesis), which
/// makes of it requests that are right and requests that are not.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `The agent's description` {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `is what the agent does`() throws {
    let python = Self.root.appending(path: ".build/description/bin/python").path
    try #require(
      FileManager.default.isExecutableFile(atPath: python), "run Scripts/setup --tests")
    let agent = try RunningAgent.withBot(token: "EAAB0described")
    try agent.start("--app-rate", "1000000")
    defer { agent.stop() }
    // It writes into the folder in which it runs.
    let work = agent.directory("work")
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
    let seconds = ProcessInfo.processInfo.environment["VAULT_THOROUGH"] == nil ? "10" : "40"
    // The threads of these tests block signals, which a child would inherit.
    let begin =
      "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); alarm 240; chdir shift; exec @ARGV"
    let ended = try AgentHome.run(
      "/usr/bin/perl",
      [
        "-e", begin, work, python, "-B",
        Self.root.appending(path: "Tests/Peers/description.py").path,
        try agent.socket("apps"), agent.directory("app.key"), seconds,
      ], agent.environment)
    // Of a long address or body the beginning will do.
    let told = ended.text.split(separator: "\n").map { String($0.prefix(300)) }
    #expect(ended.status == 0, "\(told.joined(separator: "\n"))")
    // It did something: all operations but those that are left out.
    #expect(ended.text.contains("Tested: 6"))
    let cases = ended.text.firstMatch(of: /([0-9]+) generated/).flatMap { Int($0.1) }
    #expect(try #require(cases) > 100)
    #expect(agent.stop() == 0)
    #expect(!agent.log.contains("EAAB0described"))
    #expect(try agent.run(["verify"]).status == 0)
  }
}
