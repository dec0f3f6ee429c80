import Faults
import Foundation
import Listener
import TestSupport
import Testing

@testable import Agent

/// `Documentation/Agent.md`: what it tells to type is typed, and what it shows of programs is theirs.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `The page about the agent` {
  /// A fenced block, and the comment above it that says what it is.
  private struct Block {
    let mark: String
    let lines: [String]
    let number: Int

    var text: String { lines.map { $0 + "\n" }.joined() }

    /// Whether the block stands in a file, indented as a whole by any depth.
    func stands(in file: [String]) -> Bool {
      guard let first = lines.first else { return false }
      return file.indices.contains { start in
        guard file[start].hasSuffix(first), start + lines.count <= file.count else { return false }
        let indent = file[start].dropLast(first.count)
        guard indent.allSatisfy({ $0 == " " }) else { return false }
        return zip(lines, file[start...]).allSatisfy { shown, real in
          shown.isEmpty ? real.isEmpty : real == indent + shown
        }
      }
    }
  }

  private static let root = `An example of an app`.examples.deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  private static func blocks() throws -> [Block] {
    let lines = try text("Documentation/Agent.md").components(separatedBy: "\n")
    var blocks: [Block] = []
    var start: Int?
    for (number, line) in lines.enumerated() where line.hasPrefix("```") {
      if let begun = start {
        let mark = lines[begun - 1]
        blocks.append(
          Block(
            mark: mark.hasPrefix("<!-- ") ? String(mark.dropFirst(5).dropLast(4)) : "",
            lines: Array(lines[(begun + 1)..<number]), number: begun + 1))
        start = nil
      } else {
        start = number
      }
    }
    try #require(start == nil && blocks.count > 20)
    return blocks
  }

  @Test func `shows each program, and each piece of one, as it is`() throws {
    for block in try Self.blocks() {
      let words = block.mark.split(separator: " ").map(String.init)
      switch words.first {
      case "file:": #expect(try Self.text(words[1]) == block.text, "line \(block.number)")
      case "in:":
        let file = try Self.text(words[1]).components(separatedBy: "\n")
        #expect(block.stands(in: file), "line \(block.number) is not in \(words[1])")
      case "runs", "runs:": break
      default: Issue.record("line \(block.number) says neither where it is from nor that it runs")
      }
    }
    // What this test would find.
    let other = Block(mark: "", lines: ["app = 1", "", "  b"], number: 0)
    #expect(other.stands(in: ["x", "    app = 1", "", "      b"]))
    #expect(!other.stands(in: ["    app = 1", "", "    b"]))
  }

  @Test func `tells every endpoint, code, status and limit`() throws {
    let page = try Self.text("Documentation/Agent.md")
    let description = try JSONSerialization.jsonObject(
      with: Data(try Self.text("Sources/Agent/openapi.json").utf8))
    let paths = try #require((description as? [String: Any])?["paths"] as? [String: [String: Any]])
    for (path, methods) in paths where path != "/v1/openapi.json" {
      let headings =
        path == "/v1/request" ? [path] : methods.keys.map { "\($0.uppercased()) \(path)" }
      for heading in headings { #expect(page.contains("\n## \(heading)\n")) }
    }
    #expect(page.contains("`GET /v1/openapi.json`"))
    let rows = page.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
    for code in VaultError.Code.allCases {
      let reasons: [VaultError.Reason] = [.appKey, .appRate, .tooLong, .mediaType, .busy]
      let status: Set<Int> =
        switch code {
        case .usage, .tryAgain: Set(reasons.map { code.httpStatus($0) })
        case .wrongKey: [code.httpStatus(.appKey)]
        default: [code.httpStatus(.busy)]
        }
      let row = rows.first { $0.prefix { $0 != "4" && $0 != "5" }.contains("`\(code.rawValue)`") }
      let told = row.map {
        Set($0.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }.filter { $0 >= 400 })
      }
      #expect(told == status, "\(code.rawValue)")
    }
    let limits = AppService.limits
    for line in [
      "| request line and headers | \(limits.head >> 10) KiB |",
      "| a JSON body | \(limits.body >> 10) KiB |",
      "must be whole | \(limits.request / 1000) seconds |",
      "stand still | \(limits.stall / 1000) seconds |",
      "| connections | \(limits.connections), and \(limits.connectionsPerUser) of one user",
      "| requests of one app | \(AppGate.usualRate) a second",
    ] { #expect(page.contains(line), "\(line)") }
  }

  @Test func `tells commands that work, one after the other`() throws {
    try OtherUser.required()
    let place = try SendPlace()
    let agent = place.agent
    place.on("/me", .json(#"{"name":"Lestat"}"#))
    place.on("/photos", .json("{}", status: 201))
    let sockets = try OtherUser.openDirectory("bots", in: agent.directory)
    let work = agent.directory("work")
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: work + "/Examples", withDestinationPath: Self.root.path + "/Examples")
    var environment = agent.environment
    environment["XDG_RUNTIME_DIR"] = agent.directory("run")
    // An agent in the background is no child of this process.
    func endAgent() throws {
      let status = try AgentHome.run(
        "\(RunningAgent.executables)/vault", ["status", "--json"], environment)
      let object = try? JSONSerialization.jsonObject(with: Data(status.text.utf8))
      guard let process = (object as? [String: Any])?["pid"] as? Int else { return }
      kill(Int32(process), SIGTERM)
      try #require(waits { kill(Int32(process), 0) != 0 })
    }
    defer { try? endAgent() }
    var outputs: [(command: String, text: String)] = []
    for block in try Self.blocks() where block.mark.hasPrefix("runs") {
      if block.mark == "runs: alone" { try endAgent() }
      // What stands for places, names and addresses of the reader's own.
      var script = block.text
      for (shown, real) in [
        ("/run/bots", sockets), ("--apps-group bots", "--apps-group daemon"),
        ("https://api.example", place.server.url), ("\"example\"", "\"own\""),
      ] { script = script.replacingOccurrences(of: shown, with: real) }
      if block.mark == "runs: follows" {
        script = "timeout --kill-after 60 3 " + script + "[[ $? == 124 ]]"
      } else {
        script = "set -euo pipefail\n" + script
      }
      // The container follows events until this was granted.
      if script.contains("run.sh") {
        try agent.vault("grant --app bot --perms post --audience friends --account lestat")
      }
      // The threads of these tests block signals, which a child would inherit; so it would a umask.
      let begin =
        "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); umask 022; alarm 120; chdir shift; exec @ARGV"
      let ended = try AgentHome.run(
        "/usr/bin/perl", ["-e", begin, work, "/bin/bash", "-c", script], environment)
      #expect(ended.status == 0, "line \(block.number): \(ended.text)")
      outputs.append((block.text, ended.text))
    }
    func output(of words: String) -> String {
      outputs.first { $0.command.contains(words) }?.text ?? ""
    }
    #expect(output(of: "vault status").contains("unlocked"))
    #expect(output(of: "vault history").contains("app_added"))
    #expect(output(of: "run.sh").contains("upload 201"))
    #expect(output(of: "v1/metrics").contains("vault_agent_unlocked 1"))
    for (path, answer) in [
      ("v1/app\n", #"{"id":"bot","name":"Photo Bot""#), ("v1/accounts", #""username":"lestat""#),
      ("v1/access?", #""state":"granted""#), ("v1/access\n", #""decision":"granted""#),
      ("v1/request", #"{"name":"Lestat"}"#), ("v1/token", #"{"token":"\#(SendPlace.token)""#),
      ("v1/sign", #""name":"Authorization""#), ("v1/events", "event: granted"),
    ] { #expect(output(of: path).contains(answer), "\(path): \(output(of: path))") }
  }
}
