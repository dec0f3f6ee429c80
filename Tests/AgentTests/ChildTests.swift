import Foundation
import TestSupport
import Testing

/// B83: what the agent denies itself is not denied to what it starts.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A program that the agent starts` {
  /// Writes what its process is like to a file in the home, whole.
  private static let script = """
    #!/bin/sh
    ls -l /proc/self/fd >"$HOME/TOLD.open"
    {
      cat /proc/self/limits
      umask
      grep -E '^(SigBlk|SigIgn|NoNewPrivs|Seccomp)' /proc/self/status
      stat -c 'dumpable %u' /proc/$$/environ
    } >"$HOME/TOLD.new"
    mv "$HOME/TOLD.new" "$HOME/TOLD"

    """

  @Test(arguments: [false, true])
  func `has the limits and signals of the shell before, and holds nothing else open`(
    background: Bool
  ) throws {
    let server = try ScriptedServer { _, _ in
      .json(
        #"{"access_token":"A2","token_type":"bearer","expires_in":3600,"refresh_token":"R2"}"#)
    }
    let plain = try PlainUser { home in
      try home.addAccount(url: server.url, expiresIn: 1)
      let hooks = home.directory("config/vault/hooks")
      try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
      for (path, file) in [
        (hooks + "/renewed", "hook"), (home.directory("say"), "word"),
        (home.directory("script"), "shell"),
      ] {
        var text = Self.script.replacing("TOLD", with: file)
        if file == "word" { text += "cat \"$HOME/passphrase\"\n" }
        try AgentHome.write(text, to: path, mode: 0o700)
      }
    }
    let home = plain.home
    // Limits that are nobody's usual ones, and a file that is left open by mistake.
    let shell = """
      ulimit -S -c 8; ulimit -H -c 16; ulimit -S -l 8192; ulimit -n 300; ulimit -t 5000
      exec 9<"$HOME/passphrase"
      """
    let usual = try home.start(through: plain.through(shell) + [home.directory("script")])
    #expect(usual.end() == 0, "\(usual.log)")
    let expected = try String(contentsOfFile: home.directory("shell"), encoding: .utf8)
    #expect(expected.contains("dumpable \(PlainUser.user.id)\n"))
    #expect(
      expected.range(of: "Max core file size +4096 +8192", options: .regularExpression) != nil
        && expected.range(of: "Max locked memory +8388608", options: .regularExpression) != nil,
      "\(expected)")
    #expect(
      try String(contentsOfFile: home.directory("shell.open"), encoding: .utf8)
        .contains(home.directory("passphrase")))
    let agent = try plain.start(
      background ? ["--background"] : [], name: "vault", shell: shell,
      environment: ["VAULT_PASSPHRASE_COMMAND": home.directory("say")])
    #expect(
      waits { FileManager.default.fileExists(atPath: home.directory("hook")) }, "\(agent.log)")
    for name in ["hook", "word"] {
      let told = try String(contentsOfFile: home.directory(name), encoding: .utf8)
      #expect(told == expected, "\(name)")
      let open = try String(contentsOfFile: home.directory(name + ".open"), encoding: .utf8)
      // What the shell was given it hands on; beside its three, ls has the directory open.
      let others = open.split(separator: "\n").dropFirst().filter { line in
        !(0...2).contains { line.contains(" \($0) -> ") }
      }
      #expect(
        others.count == 1 && others[0].contains(" 3 -> /proc/"),
        "\(name): \(others.joined(separator: "; "))")
    }
    let holder = try home.holder()
    // The agent itself has another one.
    let limits = try String(contentsOfFile: "/proc/\(holder)/limits", encoding: .utf8)
    #expect(
      limits.range(of: "Max core file size +0 +8192", options: .regularExpression) != nil,
      "\(limits)")
    #expect(kill(holder, SIGTERM) == 0)
    #expect(waits { !FileManager.default.fileExists(atPath: agent.owner) })
  }
}
