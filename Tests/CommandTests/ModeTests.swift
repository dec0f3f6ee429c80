import Foundation
import Testing

@testable import Command

/// Nobody else reads what the command makes, whatever the umask is.
@Suite struct `Every file` {
  @Test func `is closed to others under a umask that closes nothing`() throws {
    let directory = try TemporaryDirectory()
    let script = """
      umask 000; export HOME=\(directory.path)/home; mkdir -m 700 $HOME; cd $HOME
      export VAULT_FILE=$HOME/deep/er/v.vault VAULT_KEY_FILE=$HOME/key
      vault init --key-file key --quiet >/dev/null
      echo '\(ScratchVault.response)' | vault add-account --type facebook --username a --response - >/dev/null
      vault grant --app 1 --perms publish_actions --quiet >/dev/null
      vault token --app 1 >/dev/null
      vault add-key --key-file second.key >/dev/null
      vault backup $HOME/b.vault >/dev/null
      vault restore $HOME/b.vault --to $HOME/again/r.vault --quiet >/dev/null
      vault rotate-key --quiet >/dev/null
      vault init --vault $HOME/other/o.vault --key-file third.key --anchor-file $HOME/heads/o --quiet >/dev/null
      vault accounts --vault $HOME/other/o.vault --key-file third.key
      python3 -c "import sqlite3, sys; c = sqlite3.connect('$VAULT_FILE'); c.execute('select 1 from sqlite_schema').fetchall(); sys.stdout.write('')"
      find . -mindepth 1 -type f ! -perm 600 -o -mindepth 1 -type d ! -perm 700 | grep -v '^./.local$\\|^./.local/state$'
      find . -type f | wc -l
      """
    let ended = try Executable.bash(script)
    let lines = ended.text.split(separator: "\n")
    #expect(lines.count == 1, "\(ended.text)")
    #expect((lines.last.flatMap { Int($0) } ?? 0) >= 10, "\(ended.text)")
  }

  @Test func `that others could read is closed with a warning`() throws {
    let vault = try ScratchVault.filled()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: vault.path)
    let ended = try vault.run("accounts")
    #expect(ended.status == .ok)
    #expect(
      ended.error == "vault: warning: \(vault.path) could be read by others; its mode is now 0600\n"
    )
    let mode = try FileManager.default.attributesOfItem(atPath: vault.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test(arguments: ["accounts.vault", "accounts.vault-wal", "accounts.vault-shm"])
  func `that is a link is refused`(_ name: String) throws {
    let vault = try ScratchVault.filled()
    let path = vault.directory("v/\(name)")
    let files = FileManager.default
    let elsewhere = vault.directory("elsewhere")
    if files.fileExists(atPath: path) {
      try files.moveItem(atPath: path, toPath: elsewhere)
    } else {
      try vault.directory.file("elsewhere", "")
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: elsewhere))
    try files.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
    let ended = try vault.run("grant --app 123 --perms publish_actions")
    #expect(ended.status == .io, "\(ended.error)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: elsewhere)) == before)
  }

  @Test func `of a backup, a restored vault and a key is not written through a link`() throws {
    let vault = try ScratchVault.filled()
    let link = vault.directory("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: vault.directory("target"))
    #expect(try vault.run("backup \(link)").status == .exists)
    try vault.must("backup \(vault.directory("b"))")
    #expect(try vault.run("restore \(vault.directory("b")) --to \(link)").status == .exists)
    #expect(try vault.run("add-key --key-file \(link)").status != .ok)
    #expect(try vault.run("init --vault \(link)").status == .exists)
    #expect(!FileManager.default.fileExists(atPath: vault.directory("target")))
  }
}
