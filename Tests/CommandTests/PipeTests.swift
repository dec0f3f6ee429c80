import Foundation
import Testing

@testable import Command

@Suite struct `In a pipe the command` {
  private func shell(_ vault: ScratchVault, _ script: String) throws -> Executable.Ended {
    try Executable.bash(
      "export VAULT_FILE=\(vault.path) VAULT_KEY_FILE=\(vault.directory("key")) "
        + "HOME=\(vault.directory.path)\ncd\n" + script, session: true)
  }

  @Test func `says nothing where its reader has enough`() throws {
    let vault = try ScratchVault.filled()
    let ended = try shell(
      vault,
      "for n in $(seq 20); do vault history --json; done | head -1 | wc -l; "
        + "vault accounts | head -1 >/dev/null; vault help | head -c 1")
    #expect(ended.text == "1\nv")
  }

  @Test func `ends while it follows an idle ledger and its reader goes away`() throws {
    let vault = try ScratchVault.filled()
    let ended = try shell(
      vault,
      "mkfifo f; (timeout 20 vault history --follow --json >f; echo \"? $?\") & "
        + "exec 3<f; read -u 3 line; exec 3<&-; wait; echo ${line:0:10}")
    #expect(ended.text == "? 0\n{\"entry\":0\n", "\(ended.text)")
  }

  @Test(arguments: ["TERM", "INT"])
  func `ends while it follows by a signal`(_ signal: String) throws {
    let vault = try ScratchVault.filled()
    let ended = try shell(
      vault,
      "set -m; vault history --follow >out & sleep 1; kill -\(signal) $!; wait $!; echo \"? $?\"; "
        + "wc -l <out")
    let lines = ended.text.split(separator: "\n")
    #expect(lines.contains(signal == "TERM" ? "? 143" : "? 130"), "\(ended.text)")
    #expect((lines.last.flatMap { Int($0) } ?? 0) > 5)
  }

  @Test func `shows each entry once while it follows`() throws {
    let vault = try ScratchVault.filled()
    let ended = try shell(
      vault,
      """
      vault history --follow --json >followed & follower=$!
      for n in $(seq 30); do vault grant --app 7 --perms publish_actions --quiet >/dev/null; done
      sleep 1; kill $follower; vault history --json >all; cmp followed all && wc -l <all
      """)
    let count = ended.text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    #expect(count >= 36, "\(ended.text)")
  }

  @Test func `hands out the token and its newline alone`() throws {
    let vault = try ScratchVault.filled()
    let one = try vault.run("token --app 123 --perms publish_actions")
    #expect(one.output == "EAAB0example0token\n")
    #expect(one.error.isEmpty)
    let two = try vault.run("token --app 123 --perms write")
    #expect(two.output == "12-example\n")
    #expect(
      two.error == "vault: an OAuth 1.0a token has a secret beside it: --json shows it\n")
    let pair = try vault.run("token --app 123 --perms write --json")
    #expect(pair.output.contains(#""token":"12-example","token_type":"oauth1","expires_at":null"#))
    #expect(pair.output.hasSuffix(#""token_secret":"example0secret"}"# + "\n"))
  }

  @Test(arguments: ["accounts", "apps", "clients", "asks", "history --limit 0"])
  func `prints nothing for an empty list`(_ line: String) throws {
    let vault = try ScratchVault()
    for json in ["", " --json"] {
      let ended = try vault.run(line + json)
      #expect(ended.status == .ok)
      #expect(ended.output.isEmpty && ended.error.isEmpty)
    }
  }
}
