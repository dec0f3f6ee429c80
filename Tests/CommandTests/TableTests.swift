import Testing

@testable import Command

@Suite struct `The table of commands` {
  @Test func `names what the contract names`() {
    let names = """
      init add-account sign-in accounts show-account rename-account remove-account add-client clients \
      remove-client add-app apps show-app remove-app new-app-key grant deny revoke request-access \
      access token request renew explain history verify checkpoint prove change-passphrase keys add-key \
      remove-key rotate-key backup restore doctor reset-anchor asks providers show-provider \
      add-provider check-provider completions help version agent unlock lock status
      """
    let shown = CommandTable.shown.map(\.name)
    #expect(Set(shown) == Set(names.split(separator: " ").map(String.init)))
    #expect(Set(shown).count == shown.count)
  }

  @Test func `says of every command what an agent does for it`() {
    let told = AgentUse.runs + AgentUse.runsOnce + CommandSpec.agentUses.keys
    #expect(CommandTable.all.map(\.name).sorted() == told.sorted())
  }

  @Test func `has options that take a value everywhere or nowhere`() {
    for command in CommandTable.all {
      for option in command.options {
        let known = CommandTable.options.first { $0.name == option.name }
        #expect((known?.value == nil) == (option.value == nil), "\(command.name) --\(option.name)")
      }
      #expect(Set(command.options.map(\.name)).count == command.options.count)
    }
  }

  @Test func `has no option that would carry a secret`() {
    for option in CommandTable.options {
      #expect(throws: Never.self) {
        try SecretArguments.refuse(in: ["--\(option.name)"])
      }
    }
  }

  @Test func `has names in its combinations that are options or arguments`() {
    for command in CommandTable.all {
      let names = Set(command.options.map(\.name) + command.arguments.map(\.name))
      for set in command.exclusive + command.oneOf { #expect(names.isSuperset(of: set)) }
    }
  }

  @Test func `has examples that parse`() throws {
    for command in CommandTable.all {
      #expect(!command.examples.isEmpty)
      for example in command.examples {
        let words = example.command.split(whereSeparator: { " ()|".contains($0) }).map(String.init)
        let start = try #require(
          words.firstIndex { $0 == "vault" || $0.hasSuffix("=$") || $0 == "TOKEN=$" })
        let arguments = words[(words[start] == "vault" ? start : start + 1)...].dropFirst()
          .prefix { !$0.hasPrefix("<") && !$0.hasPrefix(">") && $0 != "man" }
        // A quoted word of two is the only thing that a shell would join here.
        let joined = arguments.joined(separator: " ")
          .replacing("'Photo Bot'", with: "Photo-Bot").split(separator: " ").map(String.init)
        let line = try ParsedLine.parse(joined)
        guard case .command(let parsed) = line else {
          Issue.record("\(example.command): no command")
          continue
        }
        #expect(parsed.command.name == command.name, "\(example.command)")
      }
    }
  }

  @Test func `has a function for each command that needs no network, and for no other`() {
    for command in CommandTable.all {
      #expect(
        (Registry.function(named: command.name) == nil) == command.needs.contains(.network),
        "\(command.name)")
    }
  }
}

@Suite struct `An exit status` {
  @Test func `has the code and the name of the contract`() {
    let contract = """
      0 ok 1 failed 64 usage 65 damaged 66 not_found 73 exists 74 io 75 try_again 77 denied \
      78 config 80 never_asked 81 revoked 82 sign_in 83 ambiguous 84 locked 85 wrong_key \
      86 newer_format 87 wrong_user
      """
    #expect(
      Command.ExitStatus.allCases.map { "\($0.code) \($0.name)" }.joined(separator: " ") == contract
    )
  }

  @Test func `of several things is the highest in the order of the contract`() {
    let order: [Int32] = [
      65, 86, 74, 85, 84, 64, 66, 73, 78, 87, 82, 75, 83, 77, 81, 80, 1, 0,
    ]
    #expect(Command.ExitStatus.ranking.map(\.code) == order)
    #expect(Set(order).count == Command.ExitStatus.allCases.count)
    for (high, first) in Command.ExitStatus.ranking.enumerated() {
      for second in Command.ExitStatus.ranking[high...] {
        #expect(first.combined(with: second) == first)
        #expect(second.combined(with: first) == first)
      }
    }
  }
}
