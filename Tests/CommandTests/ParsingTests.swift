import Testing

@testable import Command

/// A command line that is refused, and the two lines that say so.
struct Refused: CustomTestStringConvertible, Sendable {
  let arguments: [String]
  let message: String
  let hint: String

  init(_ line: String, _ message: String, hint: String) {
    arguments = line.split(separator: " ").map(String.init)
    self.message = message
    self.hint = hint
  }

  var testDescription: String { arguments.joined(separator: " ") }
}

@Suite struct `A command line` {
  static let refused: [Refused] = [
    Refused("grnt", "grnt: unknown command (did you mean grant?)", hint: "vault help grant"),
    Refused("Zx9", "unknown command", hint: "vault help"),
    Refused("frobnicate x", "frobnicate: unknown command", hint: "vault help"),
    Refused(
      "grant --audiance friends", "grant: unknown option --audiance (did you mean --audience?)",
      hint: "vault help grant"),
    Refused(
      "grant --aud friends", "grant: unknown option --aud (did you mean --audience?)",
      hint: "vault help grant"),
    Refused(
      "accounts --jso", "accounts: unknown option --jso (did you mean --json?)",
      hint: "vault help accounts"),
    Refused(
      "accounts --pass=x", "an argument must not carry a passphrase: other programs can read it",
      hint: "vault accounts --passphrase-file FILE"),
    Refused("accounts --perms x", "accounts: unknown option --perms", hint: "vault help accounts"),
    Refused("accounts -x", "accounts: unknown option -x", hint: "vault help accounts"),
    Refused("accounts -1", "accounts: unknown option", hint: "vault help accounts"),
    Refused("accounts --s3cr3tV4lue", "accounts: unknown option", hint: "vault help accounts"),
    Refused(
      "accounts x", "accounts: takes no argument, and 1 was given", hint: "vault help accounts"),
    Refused(
      "show-account a b", "show-account: takes one argument, and 2 were given",
      hint: "vault help show-account"),
    Refused("show-account", "show-account: ACCOUNT is missing", hint: "vault help show-account"),
    Refused("grant --perms x", "grant: --app is missing", hint: "vault help grant"),
    Refused("grant --perms", "grant: --perms needs a value, P,…", hint: "vault help grant"),
    Refused("grant --app", "grant: --app needs a value, APP", hint: "vault help grant"),
    Refused(
      "grant --app 1 --app 2 --perms x", "grant: --app was given 2 times", hint: "vault help grant"),
    Refused(
      "grant --app 1 --perms x --audience all",
      "grant: --audience is none of those known: everyone, friends, only_me",
      hint: "vault help grant"),
    Refused(
      "history --event grantd", "history: --event is none of those known (did you mean granted?)",
      hint: "vault help history"),
    Refused("version --json=yes", "version: --json takes no value", hint: "vault help version"),
    Refused(
      "completions tcsh", "completions: SHELL is none of those known: bash, zsh, fish",
      hint: "vault help completions"),
    Refused("add-key", "add-key: --key-file or --recovery is missing", hint: "vault help add-key"),
    Refused(
      "add-key --recovery --key-file x", "add-key: --key-file and --recovery do not go together",
      hint: "vault help add-key"),
    Refused("prove", "prove: ENTRY or --against is missing", hint: "vault help prove"),
    Refused(
      "prove 1 --against x", "prove: ENTRY and --against do not go together",
      hint: "vault help prove"),
    Refused(
      "add-account --token-stdin --response x",
      "add-account: --response and --token-stdin and --sign-in do not go together",
      hint: "vault help add-account"
    ),
    Refused("accounts --vault=", "accounts: --vault is empty", hint: "vault help accounts"),
    Refused("--vault x", "no command was named", hint: "vault help"),
    Refused(
      "-- --help", "--help: unknown command (did you mean help?)", hint: "vault help help"),
  ]

  @Test(arguments: refused)
  func `that does not fit the table is a usage error`(_ refused: Refused) throws {
    let run = try CommandRun(refused.arguments)
    #expect(run.status == .usage)
    #expect(run.output.isEmpty)
    let text = "vault: error: \(refused.message)\nvault: hint: \(refused.hint)\n"
    #expect(run.error.hasSuffix(text), "\(run.error)")
    if refused.message != "no command was named" { #expect(run.error == text) }
  }

  @Test func `that is wrong ends standard error with an object, with JSON`() throws {
    let run = try CommandRun(["grant", "--json", "--perms", "x"])
    #expect(
      run.error.hasSuffix(
        #"{"error":{"code":"usage","message":"grant: --app is missing","hint":"vault help grant"}}"#
          + "\n"))
    #expect(run.error.split(separator: "\n").count == 3)
  }

  @Test func `that is quiet keeps the error and drops the hint`() throws {
    let run = try CommandRun(["grant", "--quiet"])
    #expect(run.error == "vault: error: grant: --app is missing\n")
  }

  private func parsed(_ arguments: String...) throws -> ParsedArguments {
    guard case .command(let parsed) = try ParsedLine.parse(arguments) else {
      throw CommandFailure(.failed, "no command")
    }
    return parsed
  }

  @Test func `may have its options anywhere`() throws {
    for words in [
      ["--vault", "v", "show-account", "a", "--json"],
      ["show-account", "--vault=v", "a", "--json"],
      ["--json", "show-account", "a", "--vault", "v"],
    ] {
      guard case .command(let line) = try ParsedLine.parse(words) else {
        Issue.record("\(words)")
        continue
      }
      #expect(line.command.name == "show-account")
      #expect(line.arguments == ["a"])
      #expect(line.text("vault") == "v")
      #expect(line.has("json"))
      #expect(!line.has("quiet"))
    }
  }

  @Test func `has no options after two dashes`() throws {
    let line = try parsed("show-account", "--json", "--", "--quiet")
    #expect(line.arguments == ["--quiet"])
    #expect(!line.has("quiet"))
  }

  @Test func `takes a lone dash as an argument`() throws {
    #expect(try parsed("check-provider", "-").arguments == ["-"])
    #expect(try parsed("add-account", "--response", "-").text("response") == "-")
  }

  @Test func `keeps the bytes of a value`() throws {
    let value = "a=b --json ü\u{202e}"
    #expect(
      try parsed("grant", "--app=1", "--perms", "x", "--reason", value).text("reason") == value)
    #expect(
      try parsed("grant", "--app=1", "--perms", "x", "--reason=\(value)").text("reason") == value)
    #expect(try parsed("grant", "--app=1", "--perms", "x", "--reason=").text("reason") == "")
  }

  @Test func `keeps the order of an option that is repeated`() throws {
    let line = try parsed("add-app", "1", "--name", "n", "--client", "a:1", "--client=b:2")
    #expect(line.texts("client") == ["a:1", "b:2"])
  }

  @Test func `takes a value that looks like an option`() throws {
    #expect(try parsed("add-app", "1", "--name", "--json").text("name") == "--json")
  }

  @Test func `is read without a trace of the one before`() {
    // The C library keeps what failed last, and `-h` is looked up among the same numbers.
    let table = CommandTable.options
    #expect(Word.read(["--app"], table: table) == [.valueMissing("app")])
    #expect(Word.read(["a", "-h"], table: table) == [.argument("a"), .option("help", value: nil)])
    #expect(Word.read(["--json=1"], table: table) == [.valueUnwanted("json")])
    #expect(Word.read(["-h", "a"], table: table) == [.option("help", value: nil), .argument("a")])
  }

  @Test func `gives the same however many are read at once`() async {
    await withTaskGroup { group in
      for index in 0..<200 {
        group.addTask {
          let words = Word.read(["grant", "--app=\(index)", "x"], table: CommandTable.options)
          #expect(
            words == [.argument("grant"), .option("app", value: "\(index)"), .argument("x")])
        }
      }
    }
  }

  @Test func `with an argument that is not UTF-8 is refused`() throws {
    let ended = try Executable.bash(#"vault accounts --vault $'\xff'; echo "? $?""#)
    #expect(ended.text == "vault: error: argument 3 is not UTF-8\n? 64\n")
  }
}

@Suite struct `A secret as an argument` {
  static let secret = "Xk29-hunter2-EAAB"

  @Test(
    arguments: [
      "token", "access-token", "refresh_token", "client-secret", "clientsecret", "passphrase",
      "password", "PASSPHRASE", "new-passphrase", "recovery-code", "key", "app-key",
    ].filter { $0 != "clientsecret" })
  func `is refused and not repeated`(_ name: String) throws {
    let forms = [
      ["accounts", "--\(name)", Self.secret], ["accounts", "--\(name)=\(Self.secret)"],
      ["--\(name)", Self.secret], ["-\(name)", Self.secret], ["token", "--\(name)", "--help"],
      ["accounts", "--json", "--\(name)=\(Self.secret)"],
    ]
    for form in forms {
      let run = try CommandRun(form)
      #expect(run.status == .usage)
      #expect(run.output.isEmpty)
      #expect(run.error.hasPrefix("vault: error: an argument must not carry a"), "\(form)")
      #expect(run.error.contains("vault: hint: vault "))
      #expect(!run.error.contains(Self.secret))
    }
  }

  @Test(arguments: [
    #"{"access_token":"EAAB","expires_in":5184000}"#, "oauth_token=abc&oauth_token_secret=def",
    "vrec_abcdefghijklmnopqrstuvwxyz234567", "--response=access_token=EAAB",
    "vapp_abcdefghijklmnopqrstuvwxyz234567",
  ])
  func `is known by its form`(_ argument: String) throws {
    let run = try CommandRun(["add-account", "--type", "x", "--response", argument])
    #expect(run.status == .usage)
    #expect(run.error.hasPrefix("vault: error: an argument must not carry a"))
    #expect(!run.error.contains("EAAB") && !run.error.contains("abc"))
  }

  @Test func `is not repeated where it stands in a wrong place`() throws {
    let lines = [
      [Self.secret], ["accounts", Self.secret], ["accounts", "--\(Self.secret)"],
      ["accounts", "-p\(Self.secret)"], ["accounts", "--json=\(Self.secret)"],
      ["add-account", "--token-stdin=\(Self.secret)"], ["grant", "--audience", Self.secret],
      ["help", Self.secret], ["completions", Self.secret], ["--\(Self.secret)=1", "accounts"],
    ]
    for line in lines {
      let run = try CommandRun(line)
      #expect(run.status == .usage)
      #expect(!run.error.contains("hunter2"), "\(run.error)")
    }
  }

  @Test func `may be named after two dashes`() throws {
    #expect(throws: Never.self) { try SecretArguments.refuse(in: ["a", "--", "--token", "x"]) }
  }
}

@Suite struct `A near miss` {
  @Test(arguments: [
    ("acounts", "accounts"), ("grnat", "grant"), ("tokne", "token"), ("verison", "version"),
    ("hist", "history"), ("chekpoint", "checkpoint"),
  ])
  func `is found`(_ pair: (String, String)) {
    #expect(NearMiss.of(pair.0, among: CommandTable.shown.map(\.name)) == pair.1)
  }

  @Test(arguments: ["x", "frobnicate", "", "show", "add"])
  func `is none where nothing or too much is near`(_ word: String) {
    #expect(NearMiss.of(word, among: CommandTable.shown.map(\.name)) == nil)
  }
}
