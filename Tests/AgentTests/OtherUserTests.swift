import Foundation
import TestSupport
import Testing
import UnixSocket

/// The sockets as another user of the machine meets them (B85).
@Suite(.serialized, .ownThreads, .timeLimit(.minutes(10))) struct `Another user of the machine` {
  private let app = "GET /v1/app HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n\r\n"

  @Test func `reaches neither socket where nothing else was said, whatever the umask`() throws {
    try OtherUser.required()
    let home = try AgentHome()
    for mask in [0o000, 0o022] {
      let agent = try home.startReady(home.withKeyFile, mask: mask)
      // Even where he gets through the directories above.
      chmod(home.directory.path, 0o711)
      chmod(home.directory("run"), 0o711)
      for name in ["owner.sock", "apps.sock"] {
        #expect(try OtherUser.nobody.talk(home.place(name), app) == "refused")
        chmod(home.directory("run/vault"), 0o711)
        chmod(home.place(), 0o711)
        #expect(try OtherUser.nobody.talk(home.place(name), app) == "refused")
        chmod(home.directory("run/vault"), 0o700)
        chmod(home.place(), 0o700)
      }
      agent.signal(SIGTERM)
      #expect(agent.end() == 0)
      chmod(home.directory("run"), 0o700)
    }
  }

  @Test func `is cut off by owner.sock before a byte, where its file lets him in`() throws {
    try OtherUser.required()
    let home = try AgentHome()
    let agent = try home.startReady(home.withKeyFile)
    for path in [
      home.directory.path, home.directory("run"), home.directory("run/vault"), home.place(),
    ] { chmod(path, 0o711) }
    chmod(home.place("owner.sock"), 0o666)
    let status = "GET /v1/status HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n\r\n"
    for request in [
      "", status, status.replacingOccurrences(of: "GET /v1/status", with: "POST /v1/key"),
    ] {
      #expect(try OtherUser.nobody.talk(home.place("owner.sock"), request) == "")
    }
    #expect(agent.log.contains("a connection of another user was refused"), "\(agent.log)")
    #expect(agent.log.contains("uid=65534"), "\(agent.log)")
    #expect(try agent.ask("GET", "/v1/status").status == 200)
  }

  @Test func `finds no moment in which a socket is open to him, while agents start`() throws {
    try OtherUser.required()
    let home = try AgentHome()
    let folder = try OtherUser.openDirectory("apps", in: home.directory)
    let socket = folder + "/apps.sock"
    // Tries without a pause until it is told to end.
    let trying = Process()
    let script = """
      import os, socket, sys
      closed = met = 0
      print("begun", flush=True)
      while not os.path.exists(sys.argv[2]):
          s = socket.socket(socket.AF_UNIX)
          try:
              s.connect(sys.argv[1])
              met += 1
          except PermissionError:
              closed += 1
          except OSError:
              pass
          s.close()
      print(met, closed > 0)
      """
    let prefix = OtherUser.nobody.prefix
    trying.executableURL = URL(fileURLWithPath: prefix[0])
    trying.arguments =
      Array(prefix.dropFirst()) + ["/usr/bin/python3", "-c", script, socket, folder + "/end"]
    let output = Pipe()
    trying.standardOutput = output
    try trying.run()
    defer { if trying.isRunning { trying.terminate() } }
    #expect(output.fileHandleForReading.readData(ofLength: 6) == Data("begun\n".utf8))
    for round in 0..<12 {
      let agent = try home.startReady(home.withKeyFile + ["--apps-socket", socket], mask: 0)
      if round % 2 == 0 { agent.kill() } else { agent.signal(SIGTERM) }
      #expect(agent.end() != nil)
    }
    try AgentHome.write("", to: folder + "/end")
    let said = output.fileHandleForReading.readDataToEndOfFile()
    trying.waitUntilExit()
    #expect(String(decoding: said, as: UTF8.self) == "0 True\n")
  }

  @Test func `uses apps.sock with its key, whole, where the owner opened it to all`() throws {
    try OtherUser.required()
    let app = try AppPlace("--uid", "65534", "--uid", "\(geteuid())")
    let folder = try OtherUser.openDirectory("apps", in: app.agent.directory)
    try app.agent.start("--apps-socket", folder + "/apps.sock", "--apps-mode", "0666")
    let mine = try OtherUser.openDirectory("mine", in: app.agent.directory)
    try app.writeFiles(in: mine)
    try OtherUser.nobody.own(mine + "/app.key")
    try AppPlace.copyExample("python/app.py", to: mine + "/app.py")
    let prefix = OtherUser.nobody.prefix
    let output = try app.run(
      prefix[0],
      prefix.dropFirst() + [
        "/usr/bin/python3", mine + "/app.py", folder + "/apps.sock", mine + "/app.key", app.api,
        mine + "/picture",
      ])
    #expect(output.hasPrefix("app bot\naccount own lestat\n"), "\(output)")
    #expect(output.hasSuffix("upload 201\nerror never_asked\n"), "\(output)")
  }

  @Test func `needs the group that the socket was given to`() throws {
    try OtherUser.required()
    let agent = try RunningAgent()
    let key = try agent.addApp("bot")
    let folder = try OtherUser.openDirectory("apps", in: agent.directory)
    let socket = folder + "/apps.sock"
    let group = try #require(getgrnam("daemon")).pointee.gr_gid
    try agent.start("--apps-socket", socket, "--apps-group", "daemon")
    let file = folder + "/key"
    try AgentHome.write(key, to: file, mode: 0o444)
    let member = OtherUser(65534, groups: [Int(group)])
    #expect(try member.ask(socket, keyFile: file).hasPrefix(#"200 {"id":"bot","#))
    #expect(try OtherUser.nobody.ask(socket, keyFile: file) == "refused")
  }

  @Test func `cannot use the key of an app that is bound to others, and that is recorded`() throws {
    try OtherUser.required()
    let agent = try RunningAgent()
    let key = try agent.addApp("bot", "--uid", "65534")
    let folder = try OtherUser.openDirectory("apps", in: agent.directory)
    let socket = folder + "/apps.sock"
    try agent.start("--apps-socket", socket, "--apps-mode", "0666")
    try AgentHome.write(key, to: folder + "/key", mode: 0o444)
    try AgentHome.write(String(key.dropLast()), to: folder + "/wrong", mode: 0o444)
    #expect(try OtherUser.nobody.ask(socket, keyFile: folder + "/key").hasPrefix("200 "))
    let bound = try OtherUser.stranger.ask(socket, keyFile: folder + "/key")
    #expect(bound.hasPrefix("401 "))
    // Just what a key is told that is no app's.
    #expect(try OtherUser.stranger.ask(socket, keyFile: folder + "/wrong") == bound)
    let refused = try agent.history("--app", "bot", "--event", "use_refused")
    #expect(refused.count == 1)
    #expect(refused.first?["reason"] as? String == "its key was shown by user 65533")
  }

  @Test func `and his links and directories are no place for sockets`() throws {
    try OtherUser.required()
    let home = try AgentHome()
    func refused(
      _ status: Int32, _ options: [String] = [], _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let agent = try home.start(home.withKeyFile + options)
      #expect(agent.end() == status, "\(agent.log)", sourceLocation: sourceLocation)
    }
    // A directory of another user, and one in which others may write, for apps.sock.
    let folder = try OtherUser.openDirectory("apps", in: home.directory)
    try OtherUser.nobody.own(folder)
    try refused(78, ["--apps-socket", folder + "/apps.sock"])
    chown(folder, 0, 0)
    chmod(folder, 0o777)
    try refused(78, ["--apps-socket", folder + "/apps.sock"])
    chmod(folder, 0o755)
    // A link where the socket is to stand; what it leads to stays as it is.
    let target = home.directory("target")
    try AgentHome.write("mine", to: target)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/apps.sock", withDestinationPath: target)
    try refused(73, ["--apps-socket", folder + "/apps.sock"])
    try FileManager.default.removeItem(atPath: folder + "/apps.sock")
    let first = try home.startReady(home.withKeyFile)
    first.signal(SIGTERM)
    #expect(first.end() == 0)
    for name in ["owner.sock", "apps.sock"] {
      try FileManager.default.createSymbolicLink(
        atPath: home.place(name), withDestinationPath: target)
      try refused(73)
      try FileManager.default.removeItem(atPath: home.place(name))
    }
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
    // The directories below: another user's, open to others, or a link.
    for path in [home.place(), home.directory("run/vault/by-file")] {
      chown(path, 65534, 65534)
      try refused(78)
      chown(path, 0, 0)
      chmod(path, 0o750)
      try refused(78)
      chmod(path, 0o700)
      try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: path + ".moved")
      try refused(78)
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
    }
    let last = try home.startReady(home.withKeyFile)
    #expect(last.isRunning)
  }
}
