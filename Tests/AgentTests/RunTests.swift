import Command
import Foundation
import TestSupport
import Testing

/// A command of the owner's that a running agent does.
@Suite(.serialized) struct `A command that the agent does` {
  private static let token = ["token", "--app", "123", "--perms", "tweet.read"]

  private func home() throws -> AgentHome {
    let home = try AgentHome()
    try home.addAccount(url: "http://127.0.0.1:9", access: "A1-token-of-the-account")
    try home.vault(["grant", "--app", "123", "--perms", "tweet.read"])
    return home
  }

  /// Runs `vault` so that it finds the agent and has no key of its own.
  private func vault(
    _ home: AgentHome, _ arguments: [String], _ more: [String: String] = [:]
  ) throws -> (status: Int32, text: String) {
    try AgentHome.run(
      "\(AgentHome.executables)/vault", arguments + ["--vault", home.vaultPath],
      home.environment.merging(more) { _, new in new })
  }

  /// How often the agent answered so.
  private func count(_ agent: AgentProcess, _ path: String, _ status: Int) throws -> Int {
    let line = try agent.ask("GET", "/v1/metrics").text.split(separator: "\n").first {
      $0.contains("path=\"\(path)\"") && $0.contains("status=\"\(status)\"")
        && $0.contains("socket=\"owner\"")
    }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
  }

  /// Asks the agent as `vault` does, and answers with the status.
  private func ask(
    _ agent: AgentProcess, _ words: [String], vault: String? = nil, version: String? = nil
  ) throws -> Int {
    var body = RunRequest(words, vault: vault, isColored: false).bytes
    if let version { body.replaceSubrange(..<body.firstIndex(of: 0)!, with: Array(version.utf8)) }
    return try agent.ask("POST", "/v1/run", body: body).status
  }

  @Test func `writes and answers what the command itself does, and needs no key`() throws {
    let home = try home()
    let reads = [
      Self.token, Self.token + ["--json"],
      ["token", "--app", "123", "--perms", "tweet.write", "--json"],
      ["token", "--app", "nobody", "--perms", "tweet.read"], ["accounts"], ["accounts", "--json"],
      ["show-account", "lestat"], ["show-account", "none", "--json"], ["clients"], ["apps"],
      ["show-app", "123", "--json"], ["asks"], ["access", "--app", "123"], ["explain", "lestat"],
      ["keys", "--json"], ["token", "--app", "123", "--perms", "re\u{1b}[31mad"],
    ]
    let alone = try reads.map { words in
      try AgentHome.run(
        "\(AgentHome.executables)/vault",
        words + ["--vault", home.vaultPath],
        home.environment.merging(["VAULT_KEY_FILE": home.directory("key")]) { _, new in new })
    }
    let agent = try home.startReady(home.withKeyFile)
    for (words, alone) in zip(reads, alone) {
      let done = try vault(home, words)
      #expect(done == alone, "\(words)")
    }
    #expect(alone[0] == (0, "A1-token-of-the-account\n"))
    #expect(try count(agent, "/v1/run", 200) == reads.count)
    #expect(try count(agent, "/v1/key", 200) == 0)
    // Changes are done once, and are in the ledger.
    for words in [
      ["grant", "--app", "7", "--perms", "tweet.read"],
      ["deny", "--app", "7", "--perms", "tweet.write"],
      ["add-app", "8", "--name", "Eight"], ["new-app-key", "8"], ["remove-app", "8"],
      ["rename-account", "lestat", "--username", "louis"],
    ] {
      let done = try vault(home, words)
      #expect(done.status == 0, "\(words): \(done.text)")
    }
    #expect(try count(agent, "/v1/run", 200) == reads.count + 6)
    let history = try vault(home, ["history", "--json"])
    #expect(history.text.split(separator: "\n").filter { $0.contains("\"granted\"") }.count == 2)
    #expect(try count(agent, "/v1/key", 200) == 1)
    agent.kill()
  }

  @Test func `B101 is done for thirty at once, with an agent and without`() async throws {
    let home = try home()
    for hasAgent in [true, false] {
      let agent = hasAgent ? try home.startReady(home.withKeyFile) : nil
      let more = hasAgent ? [:] : ["VAULT_KEY_FILE": home.directory("key")]
      let environment = home.environment.merging(more) { _, new in new }
      let words = Self.token + ["--vault", home.vaultPath]
      let ended = await withTaskGroup(of: String.self) { group in
        for _ in 0..<30 {
          group.addTask {
            await withCheckedContinuation { done in
              Thread.detachNewThread {
                do {
                  let run = try AgentHome.run(
                    "\(AgentHome.executables)/vault", words, environment)
                  done.resume(returning: "\(run.status) \(run.text)")
                } catch {
                  done.resume(returning: "\(error)")
                }
              }
            }
          }
        }
        return await group.reduce(into: [String]()) { $0.append($1) }
      }
      #expect(ended == Array(repeating: "0 A1-token-of-the-account\n", count: 30))
      if let agent {
        #expect(try count(agent, "/v1/run", 200) == 30)
        agent.kill()
      }
    }
    let uses = try home.vault(["history", "--json"]).split(separator: "\n").filter {
      $0.contains("token")
    }
    #expect(uses.count >= 60)
    try home.vault(["verify"])
  }

  @Test func `is left to its own process where the agent cannot do it`() throws {
    let home = try home()
    let agent = try home.startReady(home.withKeyFile)
    // A body that is no command, and commands that are not the agent's to do.
    #expect(try agent.ask("POST", "/v1/run", body: Array("{}".utf8)).status == 400)
    for words in [
      ["history"], ["verify"], ["add-account", "--type", "own", "--response", "/etc/passwd"],
      ["token"], ["--help"], [],
    ] {
      #expect(try ask(agent, words) == 409, "\(words)")
    }
    // What it does where it is asked so, and the same of another vault, or another version's program.
    let words = ["accounts", "--vault", "/v"]
    #expect(try ask(agent, words, vault: "/v") == 200)
    #expect(try ask(agent, words, vault: "") == 409)
    #expect(try ask(agent, ["accounts"], vault: "/v") == 409)
    #expect(try ask(agent, ["accounts", "--vault=/v", "--vault=/w"], vault: "/v") == 409)
    #expect(try ask(agent, ["accounts"], version: "0.0.0") == 409)
    // A file that others may read is closed by the process that opens it.
    #expect(chmod(home.vaultPath, 0o644) == 0)
    let opened = try vault(home, ["accounts"])
    #expect(opened.text.contains("could be read by others"), "\(opened.text)")
    #expect(try count(agent, "/v1/run", 200) == 1)
    // Locked: the key comes from elsewhere, or from nowhere.
    agent.signal(SIGUSR1)
    #expect(try agent.lockReason() == "signal")
    #expect(try vault(home, Self.token).status == 84)
    let given = try vault(home, Self.token, ["VAULT_KEY_FILE": home.directory("key")])
    #expect(given == (0, "A1-token-of-the-account\n"))
    agent.kill()
  }

  @Test func `is done, or said to be unsure, where the agent is killed in the midst of it`() throws
  {
    let home = try home()
    let key = ["VAULT_KEY_FILE": home.directory("key")]
    for (words, status) in [
      (Self.token, Int32(0)), (["grant", "--app", "9", "--perms", "tweet.read"], 75),
    ] {
      let agent = try home.startReady(home.withKeyFile)
      agent.signal(SIGSTOP)
      let done = Result.Box()
      let environment = home.environment.merging(key) { _, new in new }
      let all = words + ["--vault", home.vaultPath]
      Thread.detachNewThread {
        done.set(try? AgentHome.run("\(AgentHome.executables)/vault", all, environment))
      }
      // It waits for the agent, which stands still with the request in its socket.
      usleep(500_000)
      #expect(done.value == nil)
      agent.kill()
      #expect(waits { done.value != nil })
      #expect(done.value?.status == status, "\(done.value?.text ?? "-")")
      if status == 75 {
        #expect(done.value?.text.contains("whether it was done is not known") == true)
      }
    }
    try home.vault(["verify"])
  }

  private enum Result {
    final class Box: @unchecked Sendable {
      private let lock = NSLock()
      private var held: (status: Int32, text: String)?
      var value: (status: Int32, text: String)? { lock.withLock { held } }
      func set(_ value: (status: Int32, text: String)?) {
        lock.withLock { held = value ?? (-1, "not run") }
      }
    }
  }
}
