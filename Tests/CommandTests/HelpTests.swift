import Foundation
import Testing

@testable import Command

@Suite struct `Help` {
  @Test func `is one screen, compared whole`() throws {
    let run = try CommandRun(["help"])
    #expect(run.status == .ok)
    #expect(run.error.isEmpty)
    try Snapshot.expect(run.output, is: "Tests/CommandTests/Snapshots/help.txt")
  }

  @Test(arguments: CommandTable.shown.map(\.name))
  func `for a command is compared whole`(_ name: String) throws {
    let run = try CommandRun(["help", name])
    #expect(run.status == .ok)
    #expect(run.error.isEmpty)
    try Snapshot.expect(run.output, is: "Tests/CommandTests/Snapshots/help-\(name).txt")
  }

  @Test func `fits eighty columns but where a word does not`() throws {
    for text in [HelpScreen.text] + CommandTable.shown.map(CommandHelp.text) {
      for line in text.split(separator: "\n") where line.count > 80 {
        #expect(line.hasPrefix("  vault "), "\(line)")
      }
    }
  }

  @Test func `names every command on its own line and no hidden one`() throws {
    for command in CommandTable.all {
      let isNamed = HelpScreen.text.split(separator: "\n")
        .contains { $0.hasPrefix("  \(command.name) ") }
      #expect(isNamed == !command.isHidden, "\(command.name)")
    }
  }

  @Test(arguments: [["grant", "--help"], ["--help", "grant"], ["grant", "--app", "1", "-h"]])
  func `is had by an option anywhere`(_ arguments: [String]) throws {
    let run = try CommandRun(arguments)
    #expect(run.status == .ok)
    #expect(run.output == CommandHelp.text(of: try #require(CommandTable.command(named: "grant"))))
  }

  @Test func `goes to standard error where no command was named`() throws {
    let run = try CommandRun([])
    #expect(run.status == .usage)
    #expect(run.output.isEmpty)
    #expect(run.error.hasPrefix(HelpScreen.text))
    #expect(run.error.hasSuffix("vault: error: no command was named\nvault: hint: vault help\n"))
  }

  @Test func `for a command that there is not is a usage error`() throws {
    let run = try CommandRun(["help", "grnt"])
    #expect(run.status == .usage)
    #expect(
      run.error
        == "vault: error: help: unknown command (did you mean grant?)\n"
        + "vault: hint: vault help grant\n")
  }

  @Test func `with JSON is an object for each command`() throws {
    let run = try CommandRun(["help", "--json"])
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == CommandTable.shown.count)
    for (line, command) in zip(lines, CommandTable.shown) {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
      #expect(object?["command"] == command.name)
      #expect(object?.keys.sorted() == ["command", "group", "summary", "usage"])
    }
  }
}

@Suite struct `The manual page` {
  @Test func `is the one in Documentation`() throws {
    let run = try CommandRun(["manual"])
    #expect(run.status == .ok)
    try Snapshot.expect(run.output, is: "Documentation/vault.1")
  }

  @Test func `has every command, option and exit code`() throws {
    let page = ManualPage.text.replacing("\\-", with: "-")
    for command in CommandTable.shown {
      #expect(page.contains(".SS \(command.name)\n"))
      for option in command.options {
        let letter = option.letter.map { "-\($0), " } ?? ""
        #expect(page.contains("\\fB\(letter)--\(option.name)\\fR"))
      }
    }
    for status in Command.ExitStatus.allCases { #expect(page.contains(".B \(status.code)\n")) }
  }

  @Test func `is read by man without a warning`() throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/man") else { return }
    let ended = try Executable.bash(
      "LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings=w -l \(Snapshot.root.path)/Documentation/vault.1 "
        + "2>&1 >/dev/null")
    #expect(ended.status == 0)
    #expect(ended.text.isEmpty)
  }
}

@Suite struct `The version` {
  @Test func `is one line`() throws {
    let run = try CommandRun(["version"])
    #expect(run.status == .ok)
    #expect(run.output == "vault 0.1.0\n")
  }

  @Test func `with JSON is the contract's object`() throws {
    let run = try CommandRun(["version", "--json"])
    #expect(run.output == #"{"version":"0.1.0","json_format":1,"vault_format":1}"# + "\n")
    #expect(run.error.isEmpty)
  }
}
