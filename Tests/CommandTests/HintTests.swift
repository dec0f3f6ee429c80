import Foundation
import Testing

@testable import Command

/// Hints are pasted into a shell: each is a command, and it works there.
@Suite struct `A hint` {
  /// Calls that fail, one a line, in a vault with accounts lestat.ali of Facebook and lestat of
  /// Twitter, lestat.ali of Weibo without a credential, and app 123; `=` begins the input.
  static let calls = """
    nosuch
    grnt
    help grnt
    token
    token --app 123 --perm write
    token --app nosuch
    token --app 123
    token --app 123 --perms nosuch
    token --app 123 --perms email
    token --app 124 --perms email
    token --app 125 --perms email
    token --app 126 --perms email
    token --app 127 --perms publish_actions
    token --app 128 --perms email --account weibo:lestat.ali
    token --app 'a b' --perms email
    accounts --type nosuch
    accounts --app nosuch
    show-account nosuch
    show-account lestat.ali
    rename-account lestat.ali --username x
    rename-account facebook:lestat.ali --username taken
    remove-account nosuch
    add-account --type facebook
    add-account --type nosuch --username a
    add-account --type facebook --username lestat.ali
    add-account --type facebook --username it's --client no'ne
    add-account --type facebook --username a --response nosuch
    add-account --type facebook --username a --response - ={"error":{"code":190}}
    add-account --type facebook --username a --response - =neither this nor that
    add-account --type facebook --username a --token-stdin =to ken
    add-account --type facebook --username a --token-stdin =
    add-account --type twitter --username a --token-stdin =token
    add-account --type twitter --user-id 99 --response - =oauth_token=12-example&oauth_token_secret=example0secret&user_id=12&screen_name=$(touch${IFS}pwned)
    add-account --token EAAB
    add-account --type facebook --username a --response - --passphrase-fd 0
    add-client --type nosuch --client-id a
    add-client --type facebook --client-id it's
    remove-client nosuch
    remove-client facebook:no
    remove-client facebook:used
    add-app 127 --name b
    add-app 130 --name b --client facebook:no'ne
    add-app 130 --name b --client nosuch
    add-app b?d --name b
    add-app 130 --name b --uid x
    show-app nosuch
    remove-app nosuch
    new-app-key nosuch
    grant --app 123
    grant --app 123 --perms nosuch
    grant --app 123 --perms email
    grant --app 123 --perms email --account facebook:lestat.ali --audience friends
    grant --app 123 --perms publish_actions --until 2001-01-01
    grant --app 123 --perms publish_actions --until never
    grant --app 123 --perms publish_actions --audience all
    grant --app 123 --perms write --audience friends
    deny --app 123 --perms ,
    revoke --app nosuch
    revoke --app 124
    access --app nosuch
    access --app 124 --perms email
    access --app 126 --perms email
    access --app 123 --perms nosuch
    explain nosuch
    explain weibo:lestat.ali
    explain facebook:lestat.ali --perms email
    explain facebook:lestat.ali --app 124 --perms email
    request-access --app 9 --type facebook --perms email --account facebook:lestat.ali
    request-access --app 9 --type facebook --perms nosuch
    request-access --app 9 --type facebook --perms email,publish_actions
    request-access --app 9 --type facebook --perms publish_actions
    request-access --app 9 --type facebook --perms offline_access
    request-access --app 9 --type facebook --perms read_mailbox,email
    request-access --app 9 --type x --perms tweet.read
    request-access --app 9 --type nosuch --perms tweet.read
    request-access --app 124 --type facebook --perms email
    request-access --app 125 --type facebook --perms email
    history --app nosuch
    history --account nosuch
    history --event grant
    history --limit x
    history --since x
    verify --against nosuch
    verify --against junk
    prove
    prove x
    prove 5000
    prove --against junk
    keys --passphrase-file nosuch
    keys --passphrase-file passphrase
    keys --passphrase-fd 99
    keys --passphrase-fd x
    keys --key-file nosuch
    keys --key-file junk
    keys --key-file other.key
    add-key
    add-key --key-file junk
    remove-key x
    remove-key 77
    change-passphrase
    change-passphrase --new-passphrase-file nosuch
    change-passphrase --new-passphrase-file empty
    rotate-key --passphrase-file empty
    backup junk
    backup nosuch/b
    restore nosuch --to r
    restore junk --to r
    restore empty --to r
    restore b.vault --to junk
    doctor --vault nosuch
    init
    init --vault q/ --key-file new.key
    init --vault q/q --kdf-memory 1M --passphrase-file passphrase
    init --vault q/q --kdf-memory much
    init --vault q/q --passphrase-file empty
    accounts --vault nosuch
    accounts --vault junk
    accounts --vault empty
    accounts --vault link
    accounts --vault .
    show-provider nosuch
    add-provider junk
    add-provider builtin.json
    check-provider wrong.json
    check-provider nosuch
    completions tcsh
    """

  private static func vault() throws -> ScratchVault {
    let vault = try ScratchVault.filled()
    let files = vault.directory
    try files.file("junk", "neither a vault, nor a key, nor a checkpoint\n")
    try files.file("empty", "")
    try files.file("passphrase", "correct horse\n")
    try files.file("token.json", ScratchVault.response)
    try files.file("token.form", ScratchVault.response1)
    try files.file("other.key", Data(repeating: 7, count: 32))
    try files.file("wrong.json", #"{"id":"own","name":"Own","extends":"facebook","colour":1}"#)
    try files.file("builtin.json", #"{"id":"facebook","name":"Own","extends":"facebook"}"#)
    try FileManager.default.createSymbolicLink(
      atPath: files("link"), withDestinationPath: vault.path)
    for line in """
    add-account --type weibo --username lestat.ali
    add-account --type facebook --username taken
    remove-account facebook:taken
    add-account --type facebook --username taken
    add-client --type facebook --client-id it's
    add-client --type facebook --client-id used
    add-app 131 --name b --client facebook:used
    deny --app 124 --perms email --account facebook:lestat.ali
    grant --app 125 --perms email --account facebook:lestat.ali
    revoke --app 125 --account facebook:lestat.ali
    grant --app 126 --perms user_likes --account facebook:lestat.ali
    add-app 127 --name b --sign-only
    grant --app 127 --perms publish_actions --account facebook:lestat.ali
    grant --app 128 --perms email --account weibo:lestat.ali
    backup \(files("b.vault"))
    """.split(separator: "\n") { try vault.must(String(line)) }
    return vault
  }

  @Test func `is a command that works when it is pasted`() throws {
    let vault = try Self.vault()
    let files = vault.directory
    let known = [
      "nosuch/b", "junk", "empty", "passphrase", "other.key", "wrong.json", "builtin.json", "link",
      "b.vault", "key", "new.key", "q/", "q/q",
    ]
    var count = 0
    for call in Self.calls.split(separator: "\n") {
      let parts = call.split(separator: " =", maxSplits: 1, omittingEmptySubsequences: false)
      let words = parts[0].split(separator: " ").map { word in
        known.contains(String(word)) ? files(String(word)) : String(word)
      }
      let ended = try vault.run(words, input: parts.count > 1 ? parts[1] + "\n" : "")
      #expect(ended.status != .ok, "\(call)")
      guard let hint = ended.hint else { continue }
      count += 1
      try paste(hint, vault, number: count, call: String(call))
    }
    #expect(count > 100)
    #expect(!FileManager.default.fileExists(atPath: files("pwned")))
  }

  /// Words of capitals are for the person to fill in; all else stays as it is.
  private func paste(_ hint: String, _ vault: ScratchVault, number: Int, call: String) throws {
    let files = vault.directory
    let response = files(hint.contains("--type twitter") ? "token.form" : "token.json")
    var line = hint.replacing("--response FILE", with: "--response \(response)")
      .replacing("VAULT_KEY_FILE=FILE", with: "VAULT_KEY_FILE=\(files("key"))")
      .replacing("VAULT_PASSPHRASE_FILE=FILE", with: "VAULT_PASSPHRASE_FILE=\(files("passphrase"))")
      .replacing("restore FILE", with: "restore \(files("b.vault"))")
      .replacing("restore BACKUP", with: "restore \(files("b.vault"))")
      .replacing("--key-file FILE", with: "--key-file \(files("key"))")
    for word in ["FILE", "PATH"] {
      line.replace(word, with: files("new-\(number)"))
    }
    line.replace(" NAME", with: " name-\(number)")
    line.replace(" --user-id ID", with: " --user-id 4711")
    line.replace(" ID", with: " facebook:lestat.ali")
    let variables = vault.environment.map { "export \($0.key)='\($0.value)'; " }.joined()
    // A copy, so that what one hint does is not there for the next.
    let ended = try Executable.bash(
      "\(variables) cp -a $HOME $HOME.copy && mv $HOME $HOME.kept && mv $HOME.copy $HOME; "
        + "cd $HOME; ( \(line) ) </dev/null; code=$?; "
        + "rm -r $HOME; mv $HOME.kept $HOME; exit $code", session: true)
    let first = line.split(separator: " ").first.map(String.init)
    let commands = ["vault", "export", "chmod", "readlink", "ls", "ulimit"]
    let text = String(ended.text.suffix(300))
    #expect(commands.contains(first ?? ""), "\(call): \(hint)")
    #expect(ended.status != 64, "\(call): \(hint): \(text)")
    #expect(ended.status < 120, "\(call): \(hint): \(text)")
    #expect(!text.contains("vault: error:") || !text.contains(": unknown "), "\(call): \(text)")
  }

  @Test func `names the vault and the key that the command was given`() throws {
    let vault = try ScratchVault.filled()
    let key = vault.directory("key")
    vault.environment = ["HOME": vault.directory.path]
    let ended = try vault.run(
      "token --app 124 --perms email --vault \(vault.path) --key-file \(key)")
    #expect(ended.status == .notFound)
    #expect(ended.hint == "vault add-app --vault \(vault.path) --key-file \(key) 124 --name NAME")
  }
}
