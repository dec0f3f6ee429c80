import Foundation
import Synchronization
import TestSupport
import Testing
import UnixSocket

/// Where the agent's sockets stand, and that there is one agent (B85).
@Suite(.serialized) struct `The agent's place` {
  private func mode(_ path: String) throws -> Int {
    try #require(
      FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func `is closed to others from its first moment, whatever the umask`() throws {
    for mask in [0o000, 0o022, 0o077] {
      let home = try AgentHome()
      let agent = try home.startReady(home.withKeyFile, mask: mask)
      #expect(try mode(home.directory("run/vault")) == 0o700)
      #expect(try mode(home.directory("run/vault/by-file")) == 0o700)
      #expect(try mode(home.place()) == 0o700)
      for name in ["owner.sock", "apps.sock", "agent.lock"] {
        #expect(try mode(home.place(name)) == 0o600, "\(name)")
      }
      // The link by which a command finds it, made of one look at the file.
      var found = stat()
      #expect(stat(home.vaultPath, &found) == 0)
      let name = String(found.st_dev, radix: 16) + "-" + String(found.st_ino, radix: 16)
      #expect(
        try FileManager.default.destinationOfSymbolicLink(
          atPath: home.directory("run/vault/by-file/\(name)")) == "../\(home.vaultID)")
      #expect(try agent.status()["vault"] as? String == home.vaultID)
      agent.signal(SIGTERM)
      #expect(agent.end() == 0, "\(agent.log)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.place()) == ["agent.lock"])
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: home.directory("run/vault/by-file"))
          .isEmpty)
    }
  }

  @Test func `is refused where it is open to others, another user's, or a link`() throws {
    let home = try AgentHome()
    func refused(_ why: String) throws {
      let agent = try home.start(home.withKeyFile)
      #expect(agent.end() == 78, "\(agent.log)")
      #expect(agent.log.contains(why), "\(agent.log)")
    }
    let vault = home.directory("run/vault")
    try FileManager.default.createDirectory(
      atPath: vault, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    try refused("open to others")
    #expect(try mode(vault) == 0o755)
    try FileManager.default.removeItem(atPath: vault)
    try FileManager.default.createSymbolicLink(
      atPath: vault, withDestinationPath: home.directory("config"))
    try refused("run/vault")
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.directory("config")).isEmpty)
    try FileManager.default.removeItem(atPath: vault)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: home.directory("run"))
    try refused("others may write in it")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: home.directory("run"))
    if geteuid() == 0 {
      try FileManager.default.createDirectory(
        atPath: vault, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      #expect(chown(vault, 65534, 65534) == 0)
      try refused("another user owns it")
    }
  }

  @Test func `has one agent: a second one names the first`() throws {
    let home = try AgentHome()
    let first = try home.startReady(home.withKeyFile)
    let second = try home.start(home.withKeyFile)
    #expect(second.end() == 73)
    #expect(
      second.log.contains("already running as process \(first.processIdentifier)"),
      "\(second.log)")
    #expect(try first.status()["state"] as? String == "unlocked")
  }

  @Test func `is taken over after a kill`() throws {
    let home = try AgentHome()
    let first = try home.startReady(home.withKeyFile)
    first.kill()
    #expect(throws: SocketError.nobody) { _ = try UnixConnection(path: first.owner) }
    let second = try home.startReady(home.withKeyFile)
    #expect(try second.status()["pid"] as? Int == Int(second.processIdentifier))
  }

  @Test func `is never taken from a program that listens, nor from a file`() throws {
    let home = try AgentHome()
    let first = try home.startReady(home.withKeyFile)
    first.signal(SIGTERM)
    #expect(first.end() == 0)
    let foreign = try UnixListener.open(path: home.place("apps.sock"), mode: 0o600)
    let second = try home.start(home.withKeyFile)
    #expect(second.end() == 73, "\(second.log)")
    #expect(second.log.contains("another program listens there"))
    _ = try UnixConnection(path: home.place("apps.sock"))
    #expect(!FileManager.default.fileExists(atPath: home.place("owner.sock")))
    close(foreign)
    try FileManager.default.removeItem(atPath: home.place("apps.sock"))
    try AgentHome.write("mine", to: home.place("apps.sock"))
    let third = try home.start(home.withKeyFile)
    #expect(third.end() == 73, "\(third.log)")
    #expect(try String(contentsOfFile: home.place("apps.sock"), encoding: .utf8) == "mine")
  }

  @Test func `may not be too long a path`() throws {
    let home = try AgentHome()
    let long = home.directory("run/" + String(repeating: "x", count: 120))
    try FileManager.default.createDirectory(
      atPath: long, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let agent = try home.start(home.withKeyFile, environment: ["XDG_RUNTIME_DIR": long])
    #expect(agent.end() == 78)
    #expect(agent.log.contains("a socket's path has at most 107 bytes"), "\(agent.log)")
  }

  @Test func `for apps may be another, with a mode and a group`() throws {
    let home = try AgentHome()
    let folder = home.directory("apps")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    let group = String(cString: getgrgid(getegid()).pointee.gr_name)
    let agent = try home.startReady(
      home.withKeyFile + ["--apps-socket", folder + "/s", "--apps-group", group])
    #expect(try mode(folder + "/s") == 0o660)
    #expect(try agent.status()["apps_socket"] as? String == folder + "/s")
    #expect(!FileManager.default.fileExists(atPath: home.place("apps.sock")))
    #expect(try askSocket(folder + "/s", "GET", "/v1/app").status == 401)
    agent.signal(SIGTERM)
    #expect(agent.end() == 0)
    #expect(!FileManager.default.fileExists(atPath: folder + "/s"))
    let open = try home.startReady(home.withKeyFile + ["--apps-mode", "0666"])
    #expect(try mode(home.place("apps.sock")) == 0o666)
    open.kill()
    chmod(folder, 0o777)
    let refused = try home.start(home.withKeyFile + ["--apps-socket", folder + "/s"])
    #expect(refused.end() == 78, "\(refused.log)")
    for wrong in [["--apps-mode", "0466"], ["--apps-mode", "x"], ["--apps-socket", "s"]] {
      let agent = try home.start(home.withKeyFile + wrong)
      #expect(agent.end() == 64, "\(agent.log)")
    }
    let nobody = try home.start(home.withKeyFile + ["--apps-group", "no-such-group"])
    #expect(nobody.end() == 78, "\(nobody.log)")
  }

  @Test func `is found without XDG_RUNTIME_DIR only where the machine has one for the user`() throws
  {
    let home = try AgentHome()
    let usual = "/run/user/\(geteuid())"
    if FileManager.default.fileExists(atPath: usual) {
      let agent = try home.start(home.withKeyFile, environment: ["XDG_RUNTIME_DIR": String?.none])
      let socket = "\(usual)/vault/\(home.vaultID)/owner.sock"
      #expect(waits { (try? askSocket(socket, "GET", "/v1/status"))?.status == 200 })
      agent.signal(SIGTERM)
      #expect(agent.end() == 0)
      try FileManager.default.removeItem(atPath: "\(usual)/vault/\(home.vaultID)")
    } else {
      let agent = try home.start(home.withKeyFile, environment: ["XDG_RUNTIME_DIR": String?.none])
      #expect(agent.end() == 78)
      #expect(agent.log.contains("$XDG_RUNTIME_DIR is not set"), "\(agent.log)")
    }
  }

  @Test func `has one winner each time that two agents race for it`() throws {
    let home = try AgentHome()
    for round in 0..<20 {
      let pair = [try home.start(home.withKeyFile), try home.start(home.withKeyFile)]
      #expect(waits { pair.contains { !$0.isRunning } }, "\(round)")
      let loser = try #require(pair.first { !$0.isRunning })
      let winner = try #require(pair.first { $0 !== loser })
      #expect(loser.end() == 73, "\(loser.log)")
      #expect(waits { winner.log.contains(" ready ") || !winner.isRunning })
      #expect(winner.isRunning, "\(winner.log)")
      #expect(try winner.status()["pid"] as? Int == Int(winner.processIdentifier))
      // Half of them end in order, half are killed.
      winner.signal(round % 2 == 0 ? SIGTERM : SIGKILL)
      #expect(winner.end() != nil)
    }
  }
}
