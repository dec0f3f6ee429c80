import Foundation
import Synchronization
import TestSupport
import Testing
import UnixSocket

/// What the agent does to its process and to others.
@Suite(.serialized) struct `The agent's process` {
  @Test func `works where no memory may be locked, and says so`() throws {
    let home = try AgentHome()
    var through = ["/usr/bin/prlimit", "--memlock=0:0"]
    // Root may lock what it likes.
    if geteuid() == 0 { through += ["/usr/bin/setpriv", "--bounding-set=-ipc_lock"] }
    let agent = try home.startReady(home.withKeyFile, through: through)
    #expect(try agent.status()["memory_locked"] as? Bool == false)
    #expect(try agent.status()["state"] as? String == "unlocked")
    #expect(agent.log.contains("warning memory is not locked"), "\(agent.log)")
    agent.kill()
    let usual = try home.startReady(home.withKeyFile)
    #expect(try usual.status()["memory_locked"] as? Bool == true)
    #expect(!usual.log.contains("memory is not locked"))
    let facts = try String(
      contentsOfFile: "/proc/\(usual.processIdentifier)/status", encoding: .utf8)
    let locked = facts.split(separator: "\n").first { $0.hasPrefix("VmLck:") } ?? ""
    #expect(
      locked.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 > 0, "\(locked)")
  }

  @Test func `leaves no core behind`() throws {
    let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    let home = try AgentHome()
    func cores() throws -> [String] { try home.directory.names().filter { $0.hasPrefix("core") } }
    let through = ["/usr/bin/prlimit", "--core=unlimited:unlimited"]
    let agent = try home.startReady(home.withKeyFile, through: through)
    agent.signal(SIGABRT)
    #expect(agent.end() == -SIGABRT)
    #expect(try cores().isEmpty)
    // Another program that is ended so does leave one, where the machine writes them here.
    if pattern.hasPrefix("core") {
      let sleeper = Process()
      sleeper.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
      sleeper.arguments = [
        "--core=unlimited:unlimited", "/usr/bin/perl", "-e",
        "use POSIX; sigprocmask(SIG_SETMASK, POSIX::SigSet->new()); kill 'ABRT', $$; sleep 60",
      ]
      sleeper.currentDirectoryURL = URL(fileURLWithPath: home.directory.path)
      try sleeper.run()
      #expect(waits { !sleeper.isRunning })
      #expect(try !cores().isEmpty)
    }
  }

  @Test func `is closed to its own user`() throws {
    let home = try AgentHome()
    // Root without any right of its own is as another user is with its own.
    let plain =
      geteuid() == 0 ? ["/usr/bin/setpriv", "--inh-caps=-all", "--bounding-set=-all"] : []
    let agent = try home.startReady(home.withKeyFile, through: plain)
    let sleeper = Process()
    sleeper.executableURL = URL(fileURLWithPath: (plain + ["/usr/bin/sleep"])[0])
    sleeper.arguments = Array((plain + ["/usr/bin/sleep", "600"]).dropFirst())
    try sleeper.run()
    // It may have inherited that other signals are blocked.
    defer { kill(sleeper.processIdentifier, SIGKILL) }
    func read(_ process: Int32, _ file: String) throws -> Bool {
      let words = plain + ["/usr/bin/head", "-c", "1", "/proc/\(process)/\(file)"]
      return try AgentHome.run(words[0], Array(words.dropFirst()), home.environment).status == 0
    }
    for file in ["environ", "maps", "auxv"] {
      #expect(try waits(10) { try read(sleeper.processIdentifier, file) }, "\(file)")
      #expect(try !read(agent.processIdentifier, file), "\(file)")
    }
  }

  /// B83: what a child may do is what the agent's own start was allowed.
  @Test
  func `hands its limits and signals on to hooks as they were, and none of its service manager`()
    throws
  {
    let home = try AgentHome()
    let server = try ScriptedServer { _, _ in
      .json(
        #"{"access_token":"A2","token_type":"bearer","expires_in":3600,"refresh_token":"R2"}"#)
    }
    try home.addAccount(url: server.url, expiresIn: 1)
    let hooks = home.directory("config/vault/hooks")
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    let script = """
      #!/bin/sh
      { ulimit -Hc; ulimit -Sc; ulimit -Hn; umask; grep -E 'Sig(Blk|Ign)' /proc/self/status
        ls /proc/$$/fd | sort -n | tr '\\n' ' '; echo; env | grep -c NOTIFY; } >"$HOME/TOLD.new"
      mv "$HOME/TOLD.new" "$HOME/TOLD"

      """
    for (name, file) in [(hooks + "/renewed", "hook"), (home.directory("script"), "shell")] {
      try AgentHome.write(script.replacing("TOLD", with: file), to: name, mode: 0o700)
    }
    let limits = ["/usr/bin/prlimit", "--core=4096:8192"]
    let agent = try home.startReady(
      home.withKeyFile, through: limits,
      environment: ["NOTIFY_SOCKET": home.directory("nobody.sock")])
    let hook = home.directory("hook")
    #expect(waits { FileManager.default.fileExists(atPath: hook) }, "\(agent.log)")
    let shell = try home.start(through: limits + [home.directory("script")])
    #expect(shell.end() == 0, "\(shell.log)")
    var told = try String(contentsOfFile: hook, encoding: .utf8).split(separator: "\n")
    var plain = try String(contentsOfFile: home.directory("shell"), encoding: .utf8)
      .split(separator: "\n")
    try #require(told.count == 8 && plain.count == 8, "\(told) \(plain)")
    // Descriptors: none that the shell does not have, which may hold some of this process's.
    let (open, usual) = (told.remove(at: 6), plain.remove(at: 6))
    #expect(Set(open.split(separator: " ")).isSubset(of: usual.split(separator: " ")), "\(open)")
    #expect(told == plain)
    #expect(told.last == "0")
    // In blocks of 512 bytes.
    #expect(Array(told.prefix(2)) == ["16", "8"], "\(told)")
  }
}
