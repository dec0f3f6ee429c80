import AccountVault
import Foundation
import JSON
import Sodium
import TestSupport
import Testing

@testable import Command
@testable import NetworkCommand

@Suite struct `Handing over to vault-agent` {
  private func invocation(
    _ arguments: [String] = [], executable: String?, error: Int32 = 2
  ) -> Invocation {
    var invocation = Invocation(
      arguments: arguments, environment: ProcessEnvironment(["HOME": "/nonexistent"]),
      standardInput: 0, standardOutput: 1, standardError: error)
    invocation.executable = executable
    return invocation
  }

  @Test func `keeps arguments, environment and standard output`() async {
    let result = await #expect(
      processExitsWith: .exitCode(66), observing: [\.standardErrorContent]
    ) {
      setenv("VAULT_FILE", "/nonexistent/a b.vault", 1)
      var invocation = Invocation(
        arguments: ["accounts", "--type", "x y"], standardInput: 0, standardOutput: 1,
        standardError: 2)
      invocation.executable = Executables.vault
      _ = AgentProgram.become(invocation)
      // Not reached: this process is vault-agent by now.
      exit(1)
    }
    let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(error.contains("/nonexistent/a b.vault"), "\(error)")
    let version = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      var invocation = Invocation(
        arguments: ["version"], standardInput: 0, standardOutput: 1, standardError: 2)
      invocation.executable = Executables.vault
      _ = AgentProgram.become(invocation)
      exit(1)
    }
    let output = String(decoding: version?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.hasSuffix("vault \(Release.version)\n"))
  }

  @Test func `looks beside the executable, then in libexec, and nowhere else`() throws {
    let directory = try TemporaryDirectory()
    for folder in ["bin", "libexec/accountvault"] {
      try FileManager.default.createDirectory(
        atPath: directory(folder), withIntermediateDirectories: true)
    }
    let run = invocation(executable: directory("bin/vault"))
    let failure = #expect(throws: CommandFailure.self) { try AgentProgram.path(for: run) }
    #expect(failure?.status == .failed)
    #expect(failure?.message.contains(directory("bin/vault-agent")) == true)
    #expect(failure?.hint != nil)
    // One that cannot be run is none.
    try directory.text("bin/vault-agent", "", mode: 0o600)
    try directory.text("libexec/accountvault/vault-agent", "", mode: 0o700)
    #expect(
      try AgentProgram.path(for: run) == directory("bin/../libexec/accountvault/vault-agent"))
    try directory.text("bin/vault-agent", "", mode: 0o700)
    #expect(try AgentProgram.path(for: run) == directory("bin/vault-agent"))
  }

  @Test func `is refused where vault itself stands under that name`() throws {
    var run = invocation(executable: Executables.vault)
    run.calledAs = "/somewhere/vault-agent"
    let failure = #expect(throws: CommandFailure.self) { try AgentProgram.path(for: run) }
    #expect(failure?.message.contains("this is vault") == true)
  }

  @Test func `is looked at by the doctor`() throws {
    let directory = try TemporaryDirectory()
    let missing = AgentProgram.finding(invocation(executable: directory("vault")))
    #expect(missing?["state"] == .string("warning"))
    let there = AgentProgram.finding(invocation(executable: Executables.vault))
    #expect(there?["state"] == .string("ok"))
    #expect(AgentProgram.finding(invocation(executable: nil)) == nil)
  }

  @Test func `is refused where no executable runs`() throws {
    #expect(throws: CommandFailure.self) {
      try AgentProgram.path(for: invocation(executable: nil))
    }
  }
}

@Suite struct `The executable vault-agent` {
  @Test func `does what vault does`() throws {
    for arguments in [["version"], ["help"], ["help", "token"], ["accounts", "--nonsense"]] {
      let agent = try Executables.run(Executables.agent, arguments)
      let vault = try Executables.run(Executables.vault, arguments)
      #expect(agent.status == vault.status)
      #expect(agent.output == vault.output)
      #expect(agent.error == vault.error)
    }
  }

  @Test func `alone takes a key from a descriptor`() throws {
    let vault = try Executables.run(Executables.vault, ["--key-fd", "3", "version"])
    #expect(vault.status == 64)
    for number in ["x", "0", "2", "-1", "987"] {
      let agent = try Executables.run(Executables.agent, ["--key-fd", number, "version"])
      #expect(agent.status == 64 || agent.status == 84, "\(number): \(agent.status)")
    }
    #expect(try Executables.run(Executables.agent, ["--key-fd"]).status == 64)
  }

  @Test func `has a function for each command and option that needs the network`() {
    // It is the part `Agent`'s, which stands above, and is handed in; its own tests start it.
    let agent = "agent"
    for command in CommandTable.all {
      let isNetworked =
        command.needs.contains(.network) || command.options.contains { $0.needsNetwork }
      #expect(
        (NetworkCommand.Registry.function(named: command.name) != nil)
          == (isNetworked && command.name != agent),
        "\(command.name)")
    }
    #expect(CommandTable.all.contains { $0.name == agent && $0.needs.contains(.network) })
  }
}
