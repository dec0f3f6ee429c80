import Testing

@testable import Command

@Suite struct `The vault file` {
  private func path(_ arguments: [String], _ environment: [String: String]) throws -> String {
    guard case .command(let parsed) = try ParsedLine.parse(["accounts"] + arguments) else {
      return "none"
    }
    return try VaultLocation.path(parsed, ProcessEnvironment(environment))
  }

  @Test func `is looked for in the contract's order`() throws {
    var environment = ["HOME": "/home/a"]
    #expect(try path([], environment) == "/home/a/.local/share/vault/accounts.vault")
    environment["XDG_DATA_HOME"] = "/data"
    #expect(try path([], environment) == "/data/vault/accounts.vault")
    environment["VAULT_FILE"] = "mine.vault"
    #expect(try path([], environment) == "mine.vault")
    #expect(try path(["--vault", "yours.vault"], environment) == "yours.vault")
  }

  @Test func `is not looked for by an empty variable or a relative XDG path`() throws {
    let environment = ["HOME": "/home/a", "XDG_DATA_HOME": "data", "VAULT_FILE": ""]
    #expect(try path([], environment) == "/home/a/.local/share/vault/accounts.vault")
  }

  @Test func `is nowhere without a home`() {
    #expect(
      throws: CommandFailure(
        .usage, "no vault was named, and $HOME is not set", hint: "export VAULT_FILE=PATH")
    ) {
      try path([], ["HOME": ""])
    }
  }

  @Test func `is not guessed from a variable that is not UTF-8`() throws {
    let ended = try Executable.bash(
      #"VAULT_FILE=$'\xff' vault version; echo "? $?""#)
    #expect(ended.text == "vault 0.1.0\n? 0\n")
    let environment = ProcessEnvironment(["HOME": "/home/a"], unreadable: ["VAULT_FILE"])
    #expect(throws: CommandFailure(.usage, "$VAULT_FILE is not UTF-8")) {
      try environment.value("VAULT_FILE")
    }
  }
}
