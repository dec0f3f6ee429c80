import Foundation
import TestSupport
import Testing

/// `vault status`, `lock` and `unlock`, and commands with the key that a running agent lends.
@Suite struct `A vault whose agent runs` {
  /// An agent that `vault` finds.
  private func agent(unlocked: Bool = true) throws -> RunningAgent {
    let agent = try RunningAgent()
    try agent.start(unlocked: unlocked)
    return agent
  }

  private func state(_ output: String) throws -> String? {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
    return object?["state"] as? String
  }

  @Test func `says how its agent stands`() throws {
    let agent = try agent()
    let unlocked = try agent.run(seeing: ["status", "--json"])
    #expect(unlocked.status == 0 && unlocked.errors == "")
    #expect(try state(unlocked.output) == "unlocked")
    let locked = try agent.run(seeing: ["lock", "--json"])
    #expect(locked.status == 0)
    #expect(try state(locked.output) == "locked")
    let then = try agent.run(seeing: ["status", "--json"])
    #expect(then.status == 84)
    #expect(try state(String(then.output)) == "locked")
    #expect(then.errors.contains("vault unlock"))
  }

  @Test func `says that none runs, of a vault and of a path without one`() throws {
    let agent = try RunningAgent()
    for command in ["status", "lock", "unlock"] {
      let none = try agent.run(seeing: [command, "--json"])
      #expect(none.status == 66)
      #expect(none.errors.contains("vault agent"), "\(none.errors)")
      if command == "status" { #expect(try state(none.output) == "none") }
      let missing = try agent.run(seeing: [command, "--vault", agent.directory("no.vault")])
      #expect(missing.status == 66 && missing.errors.contains("not there"))
    }
  }

  @Test func `is used with the key that the agent lends`() throws {
    let agent = try agent()
    let used = try agent.run(seeing: ["backup", agent.directory("b")], key: false)
    #expect(used.status == 0, "\(used.errors)")
    _ = try agent.run(seeing: ["lock"])
    let refused = try agent.run(seeing: ["backup", agent.directory("c")], key: false)
    #expect(refused.status == 84 && refused.errors.contains("agent of this vault is locked"))
    #expect(refused.errors.contains("hint: vault unlock\n"))
    // A locked agent counts as none.
    let own = try agent.run(seeing: ["backup", agent.directory("c")])
    #expect(own.status == 0)
  }

  @Test func `is not taken for another that has the number of its file`() throws {
    let agent = try agent()
    let link = try #require(
      try FileManager.default.contentsOfDirectory(atPath: agent.directory("run/vault/by-file"))
        .first)
    // What a link leads to that a killed agent left, once another vault's file has its number.
    let other = agent.directory("other.vault")
    try agent.vault([
      "init", "--vault", other, "--key-file", agent.directory("key"), "--no-recovery",
    ])
    let facts = try FileManager.default.attributesOfItem(atPath: other)
    let device = try #require(facts[.systemNumber] as? Int)
    let inode = try #require(facts[.systemFileNumber] as? Int)
    let place = agent.directory("run/vault/by-file/")
    try FileManager.default.copyItem(
      atPath: place + link,
      toPath: place + String(device, radix: 16) + "-" + String(inode, radix: 16))
    try agent.vault(["add-app", "of-the-first", "--name", "A"])
    for command in [["apps"], ["add-app", "of-the-other", "--name", "B"]] {
      let done = try agent.run(seeing: command + ["--vault", other])
      #expect(done.status == 0 && !done.output.contains("of-the-first"), "\(done)")
    }
    #expect(try !agent.vault(["apps"]).contains("of-the-other"))
    let none = try agent.run(seeing: ["status", "--vault", other])
    #expect(none.status == 66 && none.errors.contains("no agent of this vault runs"))
    // Nor is its key lent.
    let locked = try agent.run(seeing: ["apps", "--vault", other], key: false)
    #expect(locked.status == 84, "\(locked)")
  }

  @Test func `whose agent was stopped holds no command for ever`() throws {
    let agent = try agent()
    agent.signal(SIGSTOP)
    defer { agent.signal(SIGCONT) }
    let read = try agent.run(seeing: ["apps"])
    #expect(read.status == 0 && read.errors.contains("the agent does not answer"), "\(read)")
    // Its queue of connections is full: not even a connect comes back by itself.
    let place = try agent.socket("owner")
    var queued: [Int32] = []
    defer { for descriptor in queued { close(descriptor) } }
    while let descriptor = try connection(to: place) { queued.append(descriptor) }
    for (command, status) in [("apps", Int32(0)), ("status", 75), ("lock", 75), ("unlock", 75)] {
      let done = try agent.run(seeing: [command])
      #expect(done.status == status, "\(command) \(done)")
      #expect(done.errors.contains("the agent does not answer"), "\(command) \(done)")
    }
  }

  /// A connection that nobody has to take; nil where there is room for no more.
  private func connection(to path: String) throws -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if connected == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  @Test func `has a key that it keeps, if it is told so`() throws {
    let agent = try RunningAgent()
    try agent.start("--keep-key")
    let refused = try agent.run(seeing: ["backup", agent.directory("b")], key: false)
    #expect(refused.status == 84)
    #expect(try agent.run(seeing: ["backup", agent.directory("b")]).status == 0)
  }

  @Test func `is unlocked, and stays as it is with a wrong key`() throws {
    let agent = try agent(unlocked: false)
    #expect(try agent.run(seeing: ["status"]).status == 84)
    let wrong = agent.directory("wrong")
    try Data(count: 32).write(to: URL(fileURLWithPath: wrong))
    chmod(wrong, 0o600)
    let refused = try agent.run(seeing: ["unlock", "--key-file", wrong], key: false)
    #expect(refused.status == 85 && refused.output == "", "\(refused.errors)")
    #expect(try agent.run(seeing: ["status"]).status == 84)
    let nothing = try agent.run(seeing: ["unlock"], key: false)
    #expect(nothing.status == 84)
    let unlocked = try agent.run(seeing: ["unlock", "--json"])
    #expect(unlocked.status == 0)
    #expect(try state(unlocked.output) == "unlocked")
    #expect(try agent.run(seeing: ["unlock", "--key-file", wrong], key: false).status == 85)
    #expect(try agent.run(seeing: ["status"]).status == 0)
  }

  @Test func `is not rotated with a lent key`() throws {
    let agent = try agent()
    let refused = try agent.run(seeing: ["rotate-key"], key: false)
    #expect(refused.status == 84)
    #expect(try agent.run(seeing: ["rotate-key"]).status == 0)
    // The agent's key is the old one: it opens nothing any more.
    let stale = try agent.run(seeing: ["backup", agent.directory("b")], key: false)
    #expect(stale.status != 0)
  }

  @Test func `of another user's making is not asked`() throws {
    let agent = try agent()
    let place = agent.directory("run/vault")
    // Open to others: somebody else's socket could stand there.
    chmod(place, 0o770)
    let told = try agent.run(seeing: ["status"])
    #expect(told.status == 78 && told.errors.contains("not yours alone"), "\(told.errors)")
    let unasked = try agent.run(seeing: ["backup", agent.directory("b")], key: false)
    #expect(unasked.status == 84 && unasked.errors.contains("not yours alone"))
    chmod(place, 0o700)
    let socket = try agent.socket("owner")
    try #require(getuid() != 0 || chown(socket, 12_345, 12_345) == 0)
    if getuid() == 0 {
      #expect(try agent.run(seeing: ["status"]).status == 78)
    }
  }

  @Test func `has a socket that its killed agent left, and goes on without`() throws {
    let agent = try agent()
    agent.signal(SIGKILL)
    agent.stop()
    #expect(try agent.run(seeing: ["status"]).status == 66)
    #expect(try agent.run(seeing: ["accounts"]).status == 0)
    let locked = try agent.run(seeing: ["accounts"], key: false)
    #expect(locked.status == 84)
  }
}

extension RunningAgent {
  /// Runs a command that finds the agent.
  ///
  /// - Parameter key: Whether the command has the key file as well.
  func run(seeing arguments: [String], key: Bool = true) throws -> Ended {
    var more = ["XDG_RUNTIME_DIR": directory("run")]
    if !key { more["VAULT_KEY_FILE"] = "" }
    return try run(arguments, adding: more)
  }
}
