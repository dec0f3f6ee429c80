import Foundation
import JSON
import Testing

@testable import Command

@Suite struct `Every command` {
  /// What is run with --json, in order, in one vault that has two accounts and an app.
  private static let lines = """
    version
    help
    completions bash
    accounts
    accounts --type x
    accounts --type nosuch
    accounts --app 123
    accounts --app nosuch
    show-account facebook:lestat.ali
    show-account nosuch
    rename-account facebook:lestat.ali --username lestat.b
    rename-account twitter:lestat --username lestat
    add-account --type facebook --username lestat.b
    add-account --type nosuch --username lestat.b
    add-account --type weibo --username wei --client nosuch
    add-account --type weibo --username wei
    add-client --type facebook --client-id 77 --name mine
    add-client --type facebook --client-id 77
    clients
    remove-client facebook:77
    remove-client facebook:77
    add-app 55 --name Bot
    add-app 55 --name Bot
    add-app 56 --name Bot --client x:none
    add-app 57 --name Signer --sign-only
    apps
    show-app 55
    show-app nosuch
    new-app-key 55
    grant --app 55 --perms email,user_likes --until 30d
    grant --app 55 --perms nosuch
    grant --app 57 --perms publish_actions --audience friends
    deny --app 56 --perms email --account facebook:lestat.b
    revoke --app 55 --perms user_likes
    revoke --app nosuch
    access --app 55
    access --app 55 --perms email
    access --app 55 --perms email,user_likes
    access --app 55 --perms read_stream
    access --app 56 --perms email
    request-access --app 58 --type facebook --perms email
    request-access --app 55 --type facebook --perms email
    request-access --app 56 --type facebook --perms email
    request-access --app 55 --type x --perms tweet.read
    request-access --app 55 --type facebook --perms user_likes
    asks
    token --app 55 --perms email
    token --app 55 --perms user_likes
    token --app 55 --perms read_stream
    token --app 56 --perms email
    token --app 57 --perms publish_actions
    token --app 123 --perms write
    token --app 123
    token --app nosuch
    explain facebook:lestat.b
    explain facebook:lestat.b --app 55 --perms email
    explain facebook:lestat.b --app 56 --perms email
    explain weibo:wei
    history
    history --app 55 --limit 2
    history --account facebook:lestat.b
    history --event verified
    history --app nosuch
    verify
    checkpoint
    prove 0
    prove 4000
    keys
    add-key --recovery
    remove-key 2
    remove-key 2
    remove-key 1
    rotate-key
    backup b.vault
    backup b.vault
    restore b.vault --to r/r.vault
    restore b.vault --to r/r.vault
    restore nosuch --to r2/r.vault
    doctor
    reset-anchor
    status
    lock
    unlock
    providers
    show-provider facebook
    show-provider nosuch
    check-provider own.json
    check-provider wrong.json
    add-provider own.json
    add-provider wrong.json
    add-provider builtin.json
    remove-app 55
    remove-app 55
    remove-account facebook:lestat.b
    history --account facebook:lestat.b
    change-passphrase --new-passphrase-file passphrase
    init --vault new/new.vault --key-file new.key
    init
    """

  @Test func `prints with JSON the keys that the table has, in their order`() throws {
    let vault = try ScratchVault.filled()
    let files = vault.directory
    try files.file("own.json", #"{"id":"own","name":"Own","extends":"facebook"}"#)
    try files.file("wrong.json", #"{"id":"own","name":"Own","extends":"facebook","colour":1}"#)
    try files.file("builtin.json", #"{"id":"facebook","name":"Own","extends":"facebook"}"#)
    try files.file("passphrase", "correct horse battery staple\n")
    let names = [
      "b.vault", "r/r.vault", "r2/r.vault", "own.json", "wrong.json", "builtin.json", "passphrase",
      "new/new.vault", "new.key", "nosuch/r.vault",
    ]
    var printed: Set<String> = []
    for line in Self.lines.split(separator: "\n") {
      let words = line.split(separator: " ").map { word in
        names.contains(String(word)) ? files(String(word)) : String(word)
      }
      let ended = try vault.run(words + ["--json"])
      let command = try #require(CommandTable.command(named: words[0]))
      if try check(ended, command) { printed.insert(command.name) }
      try checkError(ended, line: String(line))
    }
    // What needs the network has tests of its own, with a provider; what needs an agent, with one.
    let offline = CommandTable.shown.filter {
      !$0.needs.contains(.network) && !["lock", "unlock"].contains($0.name)
    }
    let silent = Set(offline.map(\.name)).subtracting(printed)
    #expect(silent.isEmpty)
  }

  /// - Returns: Whether it printed data.
  private func check(_ ended: CommandRun, _ command: CommandSpec) throws -> Bool {
    let lines = ended.output.split(separator: "\n")
    for line in lines {
      guard case .object(let members) = try JSONValue.parse(String(line)) else {
        Issue.record("\(command.name): no object: \(line)")
        continue
      }
      let names = members.map(\.name)
      switch command.json {
      case .none: Issue.record("\(command.name) prints JSON, and the table has none")
      case .document: #expect(lines.count == 1)
      case .object(let keys):
        #expect(lines.count == 1)
        // OAuth 1.0a has a second half.
        #expect(
          names == keys || command.name == "token" && names == keys + ["token_secret"],
          "\(command.name)")
      case .lines(let keys): #expect(names == keys, "\(command.name)")
      }
    }
    return !lines.isEmpty
  }

  /// With --json an error ends standard error as an object, with the code's name.
  private func checkError(_ ended: CommandRun, line: String) throws {
    let last = ended.error.split(separator: "\n").last.map(String.init) ?? ""
    guard ended.status != .ok else {
      #expect(!last.hasPrefix("{"), "\(line): \(last)")
      return
    }
    let object = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
    let error = try #require(object?["error"] as? [String: Any], "\(line)")
    #expect(error["code"] as? String == ended.status.name, "\(line)")
    #expect(Set(error.keys) == ["code", "message", "hint"], "\(line)")
    #expect(ended.error.contains("vault: error: "), "\(line)")
  }
}
