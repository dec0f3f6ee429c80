import Foundation
import TestSupport
import Testing

/// `vault agent --background`.
@Suite(.serialized) struct `The agent in the background` {
  @Test func `is ready when the command returns, and holds nothing of its caller's`() throws {
    let home = try AgentHome()
    // The command's own standard error is a pipe, whose end is seen only when nobody holds it.
    let started = try AgentHome.run(
      "\(AgentHome.executables)/vault",
      ["agent", "--background", "--vault", home.vaultPath] + home.withPassphrase, home.environment)
    #expect(started.status == 0, "\(started.text)")
    let status = try askSocket(home.place("owner.sock"), "GET", "/v1/status")
    #expect(status.text.contains(#""state":"unlocked""#), "\(status.text)")
    let agent = try home.holder()
    let second = try AgentHome.run(
      "\(AgentHome.executables)/vault",
      ["agent", "--background", "--vault", home.vaultPath] + home.withPassphrase, home.environment)
    #expect(second.status == 73)
    #expect(second.text.contains("already running as process \(agent)"), "\(second.text)")
    // The key that came through the pipe is kept nowhere once it is locked.
    #expect(try askSocket(home.place("owner.sock"), "POST", "/v1/lock").status == 200)
    if geteuid() == 0 {
      let passphrase = Array(AgentHome.passphrase.utf8)
      #expect(try waits(20) { try MemorySearch.occurrences(of: passphrase, in: agent) == 0 })
    }
    #expect(kill(agent, SIGTERM) == 0)
    #expect(waits { !FileManager.default.fileExists(atPath: home.place("owner.sock")) })
  }

  @Test func `passes its failure on`() throws {
    let home = try AgentHome()
    let wrong = try home.start(["--background", "--passphrase-file", home.directory("wrong")])
    #expect(wrong.end() == 85)
    #expect(wrong.log.contains("vault: error: "), "\(wrong.log)")
    #expect(!FileManager.default.fileExists(atPath: home.place("owner.sock")))
    let nowhere = try home.start(
      ["--background"] + home.withKeyFile, environment: ["XDG_RUNTIME_DIR": "/nowhere"])
    #expect(nowhere.end() == 78, "\(nowhere.log)")
    let other = try home.start(["--background", "--apps-mode", "9"] + home.withKeyFile)
    #expect(other.end() == 64, "\(other.log)")
    let missing = try home.start(["--background", "--passphrase-file", "/nowhere"])
    #expect(missing.end() == 84, "\(missing.log)")
  }
}
