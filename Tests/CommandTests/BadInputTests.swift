import Foundation
import Testing

@testable import Command

/// What goes wrong in daily life: each thing has its exit code and a text that names it, and the
/// vault's files stay as they were.
@Suite(.serialized) struct `Bad input` {
  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var line: String
    var input = ""
    var status: Command.ExitStatus
    var says: String

    init(
      _ name: String, _ line: String, input: String = "", _ status: Command.ExitStatus,
      _ says: String
    ) {
      testDescription = name
      self.line = line
      self.input = input
      self.status = status
      self.says = says
    }
  }

  static let cases = [
    Case("a wrong passphrase", "accounts --passphrase-file wrong", .wrongKey, "does not open"),
    Case("a wrong key", "accounts --key-file wrong.key", .wrongKey, "does not open"),
    Case("an empty passphrase", "accounts --passphrase-file empty", .locked, "empty"),
    Case("a passphrase file that is not there", "accounts --passphrase-file no", .locked, "/no:"),
    Case("a key file that is too short", "accounts --key-file short.key", .locked, "32 bytes"),
    Case("a key file that others can read", "accounts --key-file open.key", .locked, "mode 0644"),
    Case("no vault", "accounts --vault no", .notFound, "no vault at"),
    Case("an empty file", "accounts --vault empty", .damaged, "is not a vault: it is empty"),
    Case("a foreign file", "accounts --vault foreign", .damaged, "is not a vault"),
    Case("a newer file", "accounts --vault newer", .newerFormat, "made by a later version"),
    Case("a damaged file", "verify --vault damaged", .damaged, ""),
    Case("a damaged file, used", "accounts --vault damaged", .damaged, ""),
    Case("a cut file", "accounts --vault cut", .damaged, ""),
    Case("a directory", "accounts --vault .", .damaged, "is not a file"),
    Case("a link", "accounts --vault link", .io, "symbolic link"),
    Case(
      "an unknown permission", "grant --app 123 --perms publish_action", .usage,
      #"facebook has no permission "publish_action"; near it: publish_actions"#),
    Case(
      "an unknown permission that an app asks for",
      "request-access --app 123 --type facebook --perms e-mail --account facebook:lestat.ali",
      .usage, #"no permission "e-mail""#),
    Case("an unknown app", "token --app 999 --perms email", .notFound, "no app 999"),
    Case("an unknown account", "show-account nobody", .notFound, #"no account "nobody""#),
    Case(
      "an unknown provider", "add-account --type friendster --username a", .notFound, "friendster"),
    Case("several accounts", "grant --app 9 --perms email", .ambiguous, "2 accounts fit"),
    Case("a secret as an argument", "add-account --token EAAB0secret", .usage, "--token"),
    Case(
      "a token with a newline inside", "add-account --type facebook --username b --token-stdin",
      input: "EAAB\n0example\n", .usage, "line"),
    Case(
      "a token with a newline inside a response",
      "add-account --type facebook --username b --response -",
      input: #"{"access_token":"EAAB\n0example"}"#, .usage, "token"),
    Case("a definition with an unknown member", "add-provider odd.json", .config, "colour"),
    Case("an unknown command", "grnat", .usage, "did you mean grant?"),
    Case("an unknown flag", "accounts --frob", .usage, "unknown option --frob"),
    Case(
      "a grant that is over", "grant --app 123 --perms publish_actions --until 2012-06-11", .usage,
      "is over"),
    Case(
      "an account that is there", "add-account --type facebook --username lestat.ali", .exists,
      "facebook:lestat.ali"),
  ]

  private static func vault() throws -> ScratchVault {
    let vault = try ScratchVault.filled()
    let files = vault.directory
    try vault.must("add-account --type weibo --username lestat.ali")
    try files.file("wrong", "not it\n")
    try files.file("empty", "")
    try files.file("wrong.key", Data(repeating: 7, count: 32))
    try files.file("short.key", Data(repeating: 7, count: 31))
    try files.file("open.key", Data(repeating: 7, count: 32), mode: 0o644)
    try files.file("odd.json", #"{"id":"own","name":"Own","extends":"facebook","colour":1}"#)
    try files.file("foreign", "SQLite format 4\0 not at all" + String(repeating: "x", count: 4096))
    // A whole copy without a log beside it.
    try vault.must("backup \(files("whole"))")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: files("whole")))
    try files.file("cut", bytes.prefix(bytes.count / 2))
    var newer = bytes
    newer.replaceSubrange(60..<64, with: [0, 0, 0, 99])
    try files.file("newer", newer)
    for offset in stride(from: 4096 + 100, to: bytes.count, by: 512) { bytes[offset] ^= 0x20 }
    try files.file("damaged", bytes)
    try FileManager.default.createSymbolicLink(
      atPath: files("link"), withDestinationPath: vault.path)
    return vault
  }

  @Test func `has its own exit code and text, and leaves the files as they were`() throws {
    let vault = try Self.vault()
    let files = vault.directory
    let known = Set([
      "wrong", "empty", "no", "wrong.key", "short.key", "open.key", "foreign", "newer", "damaged",
      "cut", "link", "odd.json",
    ])
    for each in Self.cases {
      let words = each.line.split(separator: " ").map { word in
        known.contains(String(word)) ? files(String(word)) : String(word)
      }
      let before = try Self.contents(files.path)
      let ended = try vault.run(words, input: each.input)
      #expect(ended.status == each.status, "\(each.testDescription): \(ended.error)")
      #expect(ended.output.isEmpty, "\(each.testDescription)")
      #expect(
        each.says.isEmpty || ended.error.contains(each.says),
        "\(each.testDescription): \(ended.error)")
      #expect(ended.error.hasPrefix("vault: error: "), "\(each.testDescription): \(ended.error)")
      #expect(try Self.contents(files.path) == before, "\(each.testDescription)")
    }
  }

  /// Every file's bytes but the shared memory beside a vault, which holds locks and no data.
  static func contents(_ directory: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    let walk = FileManager.default.enumerator(atPath: directory)
    while let name = walk?.nextObject() as? String {
      if name.hasSuffix("-shm") { continue }
      var isDirectory: ObjCBool = false
      let path = directory + "/" + name
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
        continue
      }
      // Whoever opens a vault makes its log, which is empty where nothing is written.
      if name.hasSuffix("-wal"),
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0
      {
        continue
      }
      if !isDirectory.boolValue {
        contents[name] = try Data(contentsOf: URL(fileURLWithPath: path))
      }
    }
    return contents
  }

  @Test func `of a terminal that is not there ends within a second each`() throws {
    let vault = try ScratchVault.filled()
    let start = ContinuousClock.now
    let ended = try Executable.bash(
      "export VAULT_FILE=\(vault.path); vault accounts; echo \"? $?\"; vault init --vault $VAULT_FILE.2;"
        + " echo \"? $?\"", session: true)
    #expect(ContinuousClock.now - start < .seconds(2))
    #expect(
      ended.text == """
        vault: error: no passphrase or key was given, and there is no terminal to ask on
        vault: hint: export VAULT_PASSPHRASE_FILE=FILE
        ? 84
        vault: error: no passphrase or key was given, and there is no terminal to ask on
        vault: hint: vault init --vault \(vault.path).2 --key-file FILE
        ? 84

        """)
  }

  @Test func `of a file that another program writes to is told as busy`() throws {
    let vault = try ScratchVault.filled()
    let holder = """
      import sqlite3, sys
      c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE')
      print('held', flush=True); sys.stdin.read()
      """
    let ended = try Executable.bash(
      """
      export VAULT_FILE=\(vault.path) VAULT_KEY_FILE=\(vault.directory("key"))
      coproc python3 -c "$HOLDER" $VAULT_FILE; read -u ${COPROC[0]}
      sha256sum $VAULT_FILE $VAULT_FILE-wal >\(vault.directory("sums"))
      vault grant --app 123 --perms publish_actions; code=$?
      vault accounts >/dev/null || echo no reading
      sha256sum -c --quiet \(vault.directory("sums")) || echo changed
      exit $code
      """.replacing("$HOLDER", with: holder))
    #expect(ended.status == 75)
    #expect(
      ended.text.hasPrefix("vault: error: vault is busy: another process is writing")
        && ended.text.hasSuffix("vault: hint: vault doctor\n"), "\(ended.text)")
  }

  /// Runs a script on a small file system of its own, which needs root to be mounted.
  private func onSmallDisk(_ script: String) throws -> Executable.Ended {
    let directory = try TemporaryDirectory()
    let ended = try Executable.bash(
      """
      mount -t tmpfs -o size=512k,mode=0700 tmpfs \(directory.path) || exit 99
      trap 'cd /; umount \(directory.path)' EXIT
      cd \(directory.path); mkdir keys head; export XDG_STATE_HOME=$PWD/head
      export VAULT_FILE=$PWD/v VAULT_KEY_FILE=$PWD/keys/key
      \(script)
      """)
    try #require(ended.status != 99, "the small disk could not be mounted")
    return ended
  }

  @Test(.enabled(if: geteuid() == 0, "mounting a small disk needs root"))
  func `of a full disk changes nothing`() throws {
    let script = """
      vault init --key-file keys/key --no-recovery --quiet >/dev/null
      vault add-account --type facebook --username a >/dev/null
      vault history --json >before
      dd if=/dev/zero of=filler bs=1k count=1000 2>/dev/null
      for n in $(seq 60); do
        error=$(vault grant --app 123 --perms publish_actions 2>&1 >/dev/null) && continue
        echo "? $?"; echo "$error"; break
      done
      rm filler
      vault verify >/dev/null && echo whole
      """
    let ended = try onSmallDisk(script)
    #expect(ended.text.contains("? 74\nvault: error: disk is full"), "\(ended.text)")
    #expect(ended.text.hasSuffix("whole\n"), "\(ended.text)")
  }

  @Test(.enabled(if: geteuid() == 0, "mounting a small disk needs root"))
  func `of a file system that is read only changes nothing`() throws {
    let script = """
      vault init --key-file keys/key --no-recovery --quiet >/dev/null
      vault add-account --type facebook --username a >/dev/null
      sha256sum v v-wal >/dev/shm/$$; mount -o remount,ro $PWD
      vault grant --app 123 --perms publish_actions; echo "? $?"
      vault init --vault w --key-file keys/key; echo "? $?"
      sha256sum -c --quiet /dev/shm/$$ && echo same; rm /dev/shm/$$
      """
    let ended = try onSmallDisk(script)
    let codes = ended.text.split(separator: "\n").filter { $0.hasPrefix("? ") }
    #expect(codes == ["? 74", "? 74"], "\(ended.text)")
    #expect(ended.text.hasSuffix("same\n"), "\(ended.text)")
  }
}
