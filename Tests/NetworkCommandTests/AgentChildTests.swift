import AccountVault
import Foundation
import Sodium
import TestSupport
import Testing

@testable import Command

@Suite struct `A vault-agent that is started with the key` {
  /// A run of `vault accounts` at `vault`, whose standard error goes to `error`.
  private func withContext(
    vault: String, executable: String, error: String,
    _ body: (Context) throws -> Void
  ) throws {
    let descriptor = open(error, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var invocation = Invocation(
      arguments: ["accounts", "--vault", vault],
      environment: ProcessEnvironment(["HOME": "/nonexistent", "PATH": "/usr/bin:/bin"]),
      standardInput: 0, standardOutput: 1, standardError: descriptor)
    invocation.executable = executable
    var run = Run(invocation)
    let context = run.begin()
    try body(try #require(context))
  }

  private func passphrase(_ text: String) -> Key {
    var bytes = Array(text.utf8)
    return .passphrase(Secret(wiping: &bytes))
  }

  @Test func `unlocks with it, writes no data, and tells its errors`() throws {
    let directory = try TemporaryDirectory()
    let vault = try directory.newVault()
    let error = directory.newFile("error")
    try withContext(vault: vault, executable: Executables.vault, error: error) { context in
      let right = try runAgent(["keys"], key: passphrase("correct horse"), context: context)
      #expect(right == 0)
      let wrong = try runAgent(["keys"], key: passphrase("wrong horse"), context: context)
      #expect(wrong == 85)
    }
    #expect(try String(contentsOfFile: error, encoding: .utf8).contains("vault: error: "))
  }

  @Test func `has the key in a pipe and nowhere else`() throws {
    let directory = try TemporaryDirectory()
    let vault = try directory.newVault()
    let error = directory.newFile("error")
    // In the place of the real one: what a program that is started so is given.
    try directory.program(
      "vault-agent",
      """
      #!/bin/bash
      folder=$(dirname "$0")
      tr '\\0' '\\n' </proc/$$/cmdline >"$folder/arguments"
      tr '\\0' '\\n' </proc/$$/environ >"$folder/environment"
      files=$(for number in 0 1 2 3; do readlink /proc/$$/fd/$number; done)
      echo "$files" >"$folder/descriptors"
      ls /proc/$$/fd >"$folder/numbers"
      cat <&3 >"$folder/pipe"
      echo data
      exit 7
      """)
    try withContext(vault: vault, executable: directory("vault"), error: error) { context in
      let code = try runAgent(
        ["renew", "a b"], key: passphrase("correct horse"), context: context)
      #expect(code == 7)
    }
    let read = { (name: String) in try String(contentsOfFile: directory(name), encoding: .utf8) }
    #expect(
      try read("arguments").hasSuffix("\n--key-fd\n3\nrenew\na b\n--vault\n\(vault)\n"))
    #expect(try !read("environment").contains("horse"))
    let descriptors = try read("descriptors").split(separator: "\n")
    #expect(descriptors.count == 4)
    #expect(descriptors[0] == "/dev/null" && descriptors[1] == "/dev/null")
    #expect(descriptors[2] == error)
    #expect(descriptors[3].hasPrefix("pipe:"))
    // 255 is the shell's own, and ls has one for the folder.
    let extra = try read("numbers").split(separator: "\n").filter {
      !["0", "1", "2", "3", "255"].contains($0)
    }
    #expect(extra.count <= 1, "\(extra)")
    let pipe = try Data(contentsOf: URL(fileURLWithPath: directory("pipe")))
    #expect(pipe == Data([1, 0, 0, 0, 13] + Array("correct horse".utf8)))
  }

  @Test func `takes a passphrase as long as any`() throws {
    let directory = try TemporaryDirectory()
    let vault = try directory.newVault()
    let error = directory.newFile("error")
    try directory.program(
      "vault-agent", "#!/bin/bash\ncat <&3 | wc -c >\"$(dirname \"$0\")/count\"\n")
    try withContext(vault: vault, executable: directory("vault"), error: error) { context in
      let code = try runAgent(
        ["renew"], key: passphrase(String(repeating: "a", count: 65_536)), context: context)
      #expect(code == 0)
    }
    let count = try String(contentsOfFile: directory("count"), encoding: .utf8)
    #expect(count == "65541\n")
  }

  @Test func `that is killed is an error`() throws {
    let directory = try TemporaryDirectory()
    let vault = try directory.newVault()
    let error = directory.newFile("error")
    try directory.program("vault-agent", "#!/bin/bash\nkill -9 $$\n")
    try withContext(vault: vault, executable: directory("vault"), error: error) { context in
      let failure = #expect(throws: CommandFailure.self) {
        try runAgent(["renew"], key: passphrase("correct horse"), context: context)
      }
      #expect(failure?.message.contains("signal 9") == true)
    }
  }

  @Test func `is missed with an error that says where it should be`() throws {
    let directory = try TemporaryDirectory()
    let vault = try directory.newVault()
    let error = directory.newFile("error")
    try withContext(vault: vault, executable: directory("vault"), error: error) { context in
      let failure = #expect(throws: CommandFailure.self) {
        try runAgent(["renew"], key: passphrase("correct horse"), context: context)
      }
      #expect(failure?.message.contains(directory("vault-agent")) == true)
    }
  }
}
