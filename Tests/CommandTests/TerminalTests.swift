import Foundation
import JSON
import Sodium
import Testing
import Time

@testable import Command

@Suite struct `Text from outside` {
  @Test(arguments: [
    ("plain ü 漢字", "plain ü 漢字"), ("\u{1b}[2J", "\\u{1B}[2J"),
    ("a\nb\tc\rd", "a\\u{A}b\\u{9}c\\u{D}d"),
    ("\u{7f}\u{9b}", "\\u{7F}\\u{9B}"), ("a\u{202e}b\u{2066}c", "a\\u{202E}b\\u{2066}c"),
    ("a\u{200b}b\u{feff}c\u{2060}", "a\\u{200B}b\\u{FEFF}c\\u{2060}"),
    ("\u{3164}\u{115f}\u{ad}", "\\u{3164}\\u{115F}\\u{AD}"), ("\u{e0041}", "\\u{E0041}"),
    ("\u{2028}\u{fff9}\u{61c}", "\\u{2028}\\u{FFF9}\\u{61C}"),
  ])
  func `shows what it hides`(_ pair: (String, String)) {
    #expect(EscapedText.of(pair.0) == pair.1)
  }

  @Test func `is capped`() {
    #expect(EscapedText.of(String(repeating: "x", count: 500)).count == 401)
    #expect(EscapedText.of("abcdef", limit: 3) == "abc…")
  }

  @Test func `in JSON reads as the same and hides nothing`() throws {
    let text = "a\u{202e}b \u{7f} \u{e0041} ü \u{1b} \" \\"
    var object = JSONObject()
    object.add("text", text)
    let line = object.line
    #expect(line.unicodeScalars.allSatisfy(EscapedText.isVisible))
    let read = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
    #expect(read == ["text": text])
  }
}

@Suite struct `Output` {
  let directory: TemporaryDirectory
  let output: Int32
  let error: Int32

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    directory = try TemporaryDirectory()
    output = open(directory("output"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    error = open(directory("error"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  }

  private func terminal(
    json: Bool = false, quiet: Bool = false, verbose: Bool = false, output: Int32? = nil
  ) -> Terminal {
    let invocation = Invocation(
      arguments: [], standardInput: -1, standardOutput: output ?? self.output,
      standardError: error)
    return Terminal(invocation, json: json, quiet: quiet, verbose: verbose)
  }

  private var outputText: String {
    get throws { try String(contentsOfFile: directory("output"), encoding: .utf8) }
  }
  private var errorText: String {
    get throws { try String(contentsOfFile: directory("error"), encoding: .utf8) }
  }

  private func account(_ id: String, _ name: String?) -> JSONObject {
    var object = JSONObject()
    object.add("id", id)
    object.add("name", name)
    object.add("perms", ["a", "b"])
    object.add("count", Int64(3))
    object.add("live", true)
    object.add("since", Timestamp(seconds: 0))
    return object
  }

  private let columns = [
    Column("ID", "id"), Column("NAME", "name"), Column("PERMS", "perms"), Column("LIVE", "live"),
  ]

  @Test func `of a list is an aligned table`() throws {
    let terminal = terminal()
    var list = Listing(terminal, columns: columns)
    try list.add(account("1", "lestat"))
    try list.add(account("22222", nil))
    try list.add(account("3", "漢字\u{1b}"))
    try list.finish()
    try terminal.flush()
    #expect(
      try outputText == """
        ID     NAME        PERMS  LIVE
        1      lestat      a,b    yes
        22222  -           a,b    yes
        3      漢字\\u{1B}  a,b    yes

        """)
  }

  @Test func `of a list with JSON is an object a line`() throws {
    let terminal = terminal(json: true)
    var list = Listing(terminal, columns: columns)
    try list.add(account("1", nil))
    try list.finish()
    try terminal.flush()
    #expect(
      try outputText
        == #"{"id":"1","name":null,"perms":["a","b"],"count":3,"live":true,"since":"1970-01-01T00:00:00Z"}"#
        + "\n")
  }

  @Test func `of an empty list is empty`() throws {
    let terminal = terminal()
    try Listing(terminal, columns: columns).finish()
    try terminal.flush()
    #expect(try outputText.isEmpty)
  }

  @Test func `of one thing is a line for each row`() throws {
    let terminal = terminal()
    try terminal.show(account("1", "a"), rows: columns)
    try terminal.flush()
    #expect(try outputText == "ID     1\nNAME   a\nPERMS  a,b\nLIVE   yes\n")
  }

  @Test func `of a secret is its bytes, in order with the rest`() throws {
    let terminal = terminal()
    try terminal.data("before ")
    let secret = SecretBytes(copying: Array("EAAB".utf8).span.bytes)
    try terminal.data(secret)
    try terminal.line("")
    try terminal.flush()
    #expect(try outputText == "before EAAB\n")
  }

  @Test func `of an object with secrets is JSON whatever they hold`() throws {
    let hard = "q\"b\\n\n\u{1f}ü\u{7f}" + String(repeating: "x", count: 5000)
    var object = SecretObject()
    object.add("token", secret: SecretBytes(copying: Array(hard.utf8).span.bytes))
    var rest = JSONObject()
    rest.add("expires_at", String?.none)
    rest.add("account", "a\u{202e}")
    object.add(rest)
    object.add("token_secret", secret: SecretBytes(count: 0))
    let line = object.finish()
    let terminal = terminal(json: true)
    try terminal.data(line)
    let text = try outputText
    #expect(text.hasSuffix(#","expires_at":null,"account":"a\u202e","token_secret":""}"# + "\n"))
    let read = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(read?["token"] as? String == hard)
  }

  @Test func `says notes, hints, warnings and errors as the contract has them`() throws {
    let terminal = terminal()
    terminal.error(CommandFailure(.denied, "mail: mutt holds no grant", hint: "vault grant"))
    terminal.note("a\nb")
    terminal.warning("w")
    terminal.detail("d")
    terminal.progress("half")
    #expect(
      try errorText == """
        vault: error: mail: mutt holds no grant
        vault: hint: vault grant
        vault: a\\u{A}b
        vault: warning: w

        """)
  }

  @Test func `says less when quiet and more when verbose`() throws {
    let quiet = terminal(quiet: true, verbose: true)
    quiet.note("note")
    quiet.hint("hint")
    quiet.warning("warning")
    quiet.detail("detail")
    #expect(try errorText == "vault: warning: warning\nvault: detail\n")
  }

  @Test func `is colored on a terminal unless NO_COLOR is set`() throws {
    let screen = try PseudoTerminal()
    let descriptor = open(screen.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(descriptor) }
    for environment in [[:], ["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let invocation = Invocation(
        arguments: [], environment: ProcessEnvironment(environment), standardInput: -1,
        standardOutput: output, standardError: descriptor)
      let terminal = Terminal(invocation, json: false, quiet: false, verbose: false)
      terminal.progress("half")
      terminal.error(CommandFailure(.failed, "no"))
    }
    let parts = screen.screen.components(separatedBy: "\r\u{1b}[Khalf\r\u{1b}[K")
    #expect(
      parts == [
        "", "vault: \u{1b}[1;31merror: \u{1b}[0mno\r\n", "vault: error: no\r\n",
        "vault: error: no\r\n",
      ])
  }

  @Test func `to a full disk is an io error, said once`() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let status = Command.run(
      Invocation(
        arguments: ["version", "--json"], standardInput: -1, standardOutput: full,
        standardError: error))
    #expect(status == .io)
    #expect(
      try errorText == """
        vault: error: standard output: no space left on device
        {"error":{"code":"io","message":"standard output: no space left on device","hint":null}}

        """)
  }

  @Test func `to a reader that went away ends without a word`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let status = Command.run(
      Invocation(
        arguments: ["help", "--json"], standardInput: -1, standardOutput: ends[1],
        standardError: error))
    #expect(status == .io)
    #expect(try errorText.isEmpty)
  }

  @Test func `goes out in order with messages`() throws {
    let both = open(directory("both"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(both) }
    let invocation = Invocation(
      arguments: [], standardInput: -1, standardOutput: both, standardError: both)
    let terminal = Terminal(invocation, json: false, quiet: false, verbose: false)
    try terminal.line("one")
    terminal.note("two")
    try terminal.line("three")
    try terminal.flush()
    #expect(
      try String(contentsOfFile: directory("both"), encoding: .utf8) == "one\nvault: two\nthree\n")
  }
}

@Suite struct `A value` {
  private func context(_ arguments: String...) throws -> Context {
    guard case .command(let parsed) = try ParsedLine.parse(arguments) else {
      throw CommandFailure(.failed, "no command")
    }
    let clock = Clock(now: { Timestamp(seconds: 1_000_000_000) }, sinceBoot: { 0 })
    let invocation = Invocation(
      arguments: arguments, standardInput: -1, standardOutput: -1, standardError: -1, clock: clock)
    return Context(
      invocation, parsed, Terminal(invocation, json: false, quiet: true, verbose: false))
  }

  @Test(
    arguments: [
      ("2026-11-30T06:10:00Z", 1_796_019_000), ("2026-11-30T07:10:00+01:00", 1_796_019_000),
      ("2026-11-30", 1_795_996_800), ("30d", 1_000_000_000 + 30 * 86_400), ("0s", 1_000_000_000),
    ] as [(String, Int64)])
  func `of a time is a moment, a day or a duration`(_ pair: (String, Int64)) throws {
    let context = try context("grant", "--app", "1", "--perms", "x", "--until", pair.0)
    #expect(try context.time("until", .fromNow)?.seconds == pair.1)
  }

  @Test func `of a time counts back where it is asked to`() throws {
    let context = try context("history", "--since", "2h")
    #expect(try context.time("since", .ago)?.seconds == 1_000_000_000 - 7200)
  }

  @Test(arguments: ["", "yesterday", "2026-13-01", "30", "-1d", "999999999w"])
  func `of a time that is none is a usage error`(_ text: String) throws {
    let context = try context("history", "--since=\(text)")
    #expect {
      try context.time("since", .ago)
    } throws: { error in
      (error as? CommandFailure)?.status == .usage
    }
  }

  @Test(
    arguments: [
      ("64M", 67_108_864), ("64MiB", 67_108_864), ("1g", 1_073_741_824), ("512kb", 524_288),
      ("9", 9),
    ] as [(String, UInt64)])
  func `of a size is bytes`(_ pair: (String, UInt64)) throws {
    #expect(try context("init", "--kdf-memory", pair.0).size("kdf-memory") == pair.1)
  }

  @Test(arguments: ["", "M", "-1M", "64T", "1.5G", "99999999999999G", "64 M", "٣M"])
  func `of a size that is none is a usage error`(_ text: String) throws {
    let context = try context("init", "--kdf-memory=\(text)")
    #expect {
      try context.size("kdf-memory")
    } throws: { error in
      (error as? CommandFailure)?.message
        == "init: --kdf-memory takes a size such as 64M, 256M or 1G"
    }
  }

  @Test func `of a list is its words, each once`() throws {
    #expect(
      try context("grant", "--app", "1", "--perms", "b,a,b").list("perms") == ["b", "a"])
    for text in ["", ",", "a,", "a,,b"] {
      let context = try context("grant", "--app", "1", "--perms=\(text)")
      #expect(throws: CommandFailure.self) { try context.list("perms") }
    }
  }

  @Test func `of a number is within its range`() throws {
    #expect(try context("history", "--limit", "10").integer("limit", in: 1...100) == 10)
    #expect(throws: CommandFailure.self) {
      try context("history", "--limit", "0").integer("limit", in: 1...100)
    }
    #expect(try context("history").integer("limit", in: 1...100) == nil)
  }

  @Test func `of several failures is the highest-ranking`() throws {
    var context = try context("accounts")
    context.report(CommandFailure(.denied, "a"))
    context.report(CommandFailure(.damaged, "b"))
    context.report(CommandFailure(.usage, "c"))
    #expect(context.worst?.status == .damaged)
  }
}
