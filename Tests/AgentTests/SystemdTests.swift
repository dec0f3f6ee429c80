import Foundation
import TestSupport
import Testing
import UnixSocket

/// The units of `Examples/systemd`, and the agent as a service manager sees it.
@Suite(.serialized) struct `The agent under systemd` {
  private static let examples =
    URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    + "/Examples/systemd"

  /// The units of `user` or `system` in a directory of the test's own, with the executable that was
  /// built in the place of the one that is installed.
  private func units(_ kind: String, in home: AgentHome) throws -> [String] {
    let folder = home.directory(kind)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false)
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(Self.examples)/\(kind)")
    return try names.sorted().map { name in
      let text = try String(contentsOfFile: "\(Self.examples)/\(kind)/\(name)", encoding: .utf8)
      let path = "\(folder)/\(name)"
      try AgentHome.write(
        text.replacing("/usr/local/bin/vault-agent", with: "\(AgentHome.executables)/vault-agent"),
        to: path, mode: 0o644)
      return path
    }
  }

  private func analyze(_ arguments: [String], _ home: AgentHome) throws -> (
    status: Int32, text: String
  ) {
    try AgentHome.run("/usr/bin/systemd-analyze", arguments, home.environment)
  }

  @Test(arguments: ["user", "system"])
  func `has units that systemd takes without a word`(_ kind: String) throws {
    let home = try AgentHome()
    let units = try units(kind, in: home)
    #expect(
      units.map { ($0 as NSString).lastPathComponent }
        == ["vault-agent-owner.socket", "vault-agent.service", "vault-agent.socket"])
    let verified = try analyze(["--\(kind)", "verify", "--man=no"] + units, home)
    #expect(verified.status == 0 && verified.text.isEmpty, "\(verified)")
    // It is known to find something.
    let service = units[1]
    let text = try String(contentsOfFile: service, encoding: .utf8)
    try AgentHome.write(
      text.replacing("LockPersonality=yes", with: "LockPersonality=maybe"), to: service)
    let wrong = try analyze(["--\(kind)", "verify", "--man=no"] + units, home)
    #expect(!wrong.text.isEmpty)
  }

  /// In tenths of a point, of which 100 is open to all. A person's manager cannot close more without
  /// `PrivateUsers=`, which would hide from the agent who connects.
  @Test(arguments: [("user", 65), ("system", 20)])
  func `has a service that is closed as far as it was said`(_ kind: String, _ limit: Int) throws {
    let home = try AgentHome()
    let service = try units(kind, in: home)[1]
    func judged(_ limit: Int) throws -> Int32 {
      let told = try analyze(
        ["--\(kind)", "security", "--offline=true", "--threshold=\(limit)", service], home)
      #expect(told.text.contains("Overall exposure level"), "\(told.text)")
      return told.status
    }
    #expect(try judged(limit) == 0)
    #expect(try judged(5) != 0)
  }

  @Test func `is started by a connection to a socket of the manager's`() throws {
    let home = try AgentHome()
    let folder = home.directory("sockets")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let owner = folder + "/owner.sock"
    let apps = folder + "/apps.sock"
    var through = ["/usr/bin/systemd-socket-activate", "--listen", apps, "--listen", owner]
    through += ["--fdname=apps:owner"]
    for (name, value) in home.environment { through.append("--setenv=\(name)=\(value)") }
    let agent = try home.start(home.withKeyFile, through: through)
    #expect(
      waits { agent.log.components(separatedBy: "Listening on").count == 3 }, "\(agent.log)")
    #expect(!FileManager.default.fileExists(atPath: home.place("agent.lock")))
    #expect(try askSocket(apps, "GET", "/v1/app").status == 401, "\(agent.log)")
    let told = try askSocket(owner, "GET", "/v1/status")
    #expect(told.text.contains(#""state":"unlocked""#), "\(told.text)")
    #expect(told.text.contains(#""pid":\#(agent.processIdentifier),"#), "\(told.text)")
    #expect(told.text.contains(apps))
    // `vault` finds it where it always does.
    #expect(try agent.status()["state"] as? String == "unlocked")
    #expect(!FileManager.default.fileExists(atPath: home.place("apps.sock")))
    agent.signal(SIGTERM)
    #expect(agent.end() == 0, "\(agent.log)")
    // Those of the manager stay.
    #expect(FileManager.default.fileExists(atPath: owner))
    #expect(FileManager.default.fileExists(atPath: apps))
    #expect(!FileManager.default.fileExists(atPath: home.place("owner.sock")))
    let unnamed = try home.start(
      home.withKeyFile, through: through.map { $0 == "--fdname=apps:owner" ? "--fdname=a:b" : $0 })
    #expect(
      waits { unnamed.log.components(separatedBy: "Listening on").count == 3 || !unnamed.isRunning }
    )
    _ = try? UnixConnection(path: apps)
    #expect(unnamed.end() == 78, "\(unnamed.log)")
    #expect(unnamed.log.contains("not owner or apps"), "\(unnamed.log)")
  }

  @Test func `tells the manager that it is ready, alive, and at its end`() throws {
    let home = try AgentHome()
    for isAbstract in [false, true] {
      let path = isAbstract ? "vault-test-\(UUID().uuidString)" : home.directory("notify")
      let manager = try NotifySocket(path, isAbstract: isAbstract)
      let agent = try home.start(
        home.withPassphrase + ["--lock-after", "1s"],
        environment: [
          "NOTIFY_SOCKET": (isAbstract ? "@" : "") + path, "WATCHDOG_USEC": "200000",
        ])
      // A sign of life or two may come first.
      #expect(waits { manager.told.contains { $0.hasPrefix("READY=1\nSTATUS=") } }, "\(agent.log)")
      #expect(try agent.status()["pid"] as? Int == Int(agent.processIdentifier))
      func signs() -> Int { manager.told.count { $0 == "WATCHDOG=1" } }
      #expect(waits { signs() >= 3 })
      // Locked by idleness, and by a signal, it lives on.
      #expect(try agent.lockReason() == "idle")
      #expect(try agent.unlock(AgentHome.passphrase).status == 200)
      agent.signal(SIGUSR1)
      #expect(try agent.lockReason() == "signal")
      let before = signs()
      #expect(waits { signs() >= before + 3 })
      // One that stands still says nothing more, and the manager may end it.
      agent.signal(SIGSTOP)
      #expect(
        waits {
          let count = signs()
          usleep(500_000)
          return signs() == count
        })
      agent.signal(SIGCONT)
      let then = signs()
      #expect(waits { signs() > then })
      agent.signal(SIGTERM)
      #expect(agent.end() == 0)
      #expect(waits { manager.told.contains { $0.hasPrefix("STOPPING=1\n") } }, "\(manager.told)")
      #expect(manager.told.last?.hasPrefix("STOPPING=1\n") == true)
      #expect(
        manager.told.allSatisfy { !$0.contains(AgentHome.passphrase) && !$0.contains("v.vault") })
    }
    // Meant for another process.
    let other = try NotifySocket(home.directory("other"), isAbstract: false)
    let agent = try home.startReady(
      home.withKeyFile,
      environment: [
        "NOTIFY_SOCKET": home.directory("other"), "WATCHDOG_USEC": "10000", "WATCHDOG_PID": "1",
      ])
    #expect(waits { other.told.contains { $0.hasPrefix("READY=1") } })
    agent.signal(SIGTERM)
    #expect(agent.end() == 0)
    #expect(waits { other.told.contains { $0.hasPrefix("STOPPING=1") } })
    #expect(!other.told.contains("WATCHDOG=1"))
  }
}

/// Where a service manager listens to its services.
private final class NotifySocket {
  private let descriptor: Int32
  private var all: [String] = []

  init(_ path: String, isAbstract: Bool) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(O_NONBLOCK), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = (isAbstract ? [0] : []) + Array(path.utf8)
    try #require(descriptor >= 0 && bytes.count < 100)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(2 + bytes.count)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    try #require(status == 0)
  }

  deinit { close(descriptor) }

  /// All datagrams that came so far.
  var told: [String] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return all }
      all.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
  }
}
