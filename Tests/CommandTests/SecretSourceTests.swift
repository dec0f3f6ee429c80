import AccountVault
import Foundation
import Sodium
import Testing

@testable import Command

/// What a secret source gave: compared as text, because these are not the person's secrets.
enum Given: Equatable {
  case passphrase([UInt8])
  case keyFile([UInt8])
  case nothing

  static func passphrase(_ text: String) -> Given { .passphrase(Array(text.utf8)) }
}

func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
  secret.withBytes { span in span.withUnsafeBytes { Array($0) } }
}

@Suite struct `The secret that unlocks` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// The secret that a command line and an environment give, without a terminal.
  private func given(
    _ arguments: [String] = [], _ environment: [String: String] = [:], terminal: String? = nil,
    input: Int32 = -1
  ) throws -> Given {
    let (context, _) = try self.context(["accounts"] + arguments, environment, input: input)
    switch try context.secrets.givenKey() {
    case .passphrase(let secret)?: return .passphrase(bytes(secret.bytes))
    case .keyFile(let secret)?: return .keyFile(bytes(secret.bytes))
    case .lent?: throw CommandFailure(.failed, "a lent key")
    case nil: return .nothing
    }
  }

  /// A context whose messages go to the file `messages`.
  private func context(
    _ arguments: [String], _ environment: [String: String] = [:], input: Int32 = -1
  ) throws -> (Context, messages: String) {
    let messages = directory("messages")
    let error = open(messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    let invocation = Invocation(
      arguments: arguments, environment: ProcessEnvironment(environment), standardInput: input,
      standardOutput: error, standardError: error)
    guard case .command(let parsed) = try ParsedLine.parse(arguments) else {
      throw CommandFailure(.failed, "no command")
    }
    let terminal = Terminal(invocation, json: false, quiet: false, verbose: false)
    return (Context(invocation, parsed, terminal), messages)
  }

  private func failure(
    _ arguments: [String] = [], _ environment: [String: String] = [:], input: Int32 = -1
  ) throws -> CommandFailure {
    do {
      let secret = try given(arguments, environment, input: input)
      throw CommandFailure(.ok, "it gave \(secret)")
    } catch let failure as CommandFailure {
      return failure
    }
  }

  private func key(_ byte: UInt8, _ name: String, mode: Int = 0o600, count: Int = 32) throws
    -> String
  {
    try directory.file(name, Data(repeating: byte, count: count), mode: mode)
  }

  @Test func `comes from the first source of the contract's order`() throws {
    let credentials = try TemporaryDirectory()
    try credentials.file("vault.passphrase", "from credentials\n")
    var environment = ["PATH": "/usr/bin:/bin", "CREDENTIALS_DIRECTORY": credentials.path]
    #expect(try given([], environment) == .passphrase("from credentials"))
    environment["VAULT_PASSPHRASE_COMMAND"] = "echo from command"
    #expect(try given([], environment) == .passphrase("from command"))
    environment["VAULT_KEY_FILE"] = try key(1, "key-environment")
    #expect(try given([], environment) == .keyFile(Array(repeating: 1, count: 32)))
    environment["VAULT_PASSPHRASE_FILE"] = try directory.file("environment", "from variable\n")
    #expect(try given([], environment) == .passphrase("from variable"))
    var arguments = ["--key-file", try key(2, "key-option")]
    #expect(try given(arguments, environment) == .keyFile(Array(repeating: 2, count: 32)))
    arguments += ["--passphrase-file", try directory.file("option", "from file\n")]
    #expect(try given(arguments, environment) == .passphrase("from file"))
    let descriptor = open(try directory.file("descriptor", "from descriptor\n"), O_RDONLY)
    defer { close(descriptor) }
    arguments += ["--passphrase-fd", "\(descriptor)"]
    #expect(try given(arguments, environment) == .passphrase("from descriptor"))
  }

  @Test func `is nothing where nothing was given, and empty variables are nothing`() throws {
    #expect(try given() == .nothing)
    let empty = [
      "VAULT_PASSPHRASE_FILE": "", "VAULT_KEY_FILE": "", "VAULT_PASSPHRASE_COMMAND": "",
      "CREDENTIALS_DIRECTORY": "",
    ]
    #expect(try given([], empty) == .nothing)
    #expect(try given([], ["CREDENTIALS_DIRECTORY": directory.path]) == .nothing)
  }

  @Test(arguments: [
    ("open sesame\n", "open sesame"), ("no newline", "no newline"), (" spaces \n", " spaces "),
    ("carriage return\r\n", "carriage return\r"), ("a\u{0}b\n", "a\u{0}b"), ("\u{fc}\n", "\u{fc}"),
    ("\t\n", "\t"),
  ])
  func `is one line, its bytes as they are`(_ pair: (String, String)) throws {
    let file = try directory.file("passphrase", pair.0)
    #expect(try given(["--passphrase-file", file]) == .passphrase(pair.1))
  }

  @Test func `need not be UTF-8`() throws {
    let file = try directory.file("passphrase", Data([0xff, 0x00, 0xfe, 0x0a]))
    #expect(try given(["--passphrase-file", file]) == .passphrase([0xff, 0x00, 0xfe]))
  }

  @Test func `has up to 64 KiB`() throws {
    let most = String(repeating: "x", count: 65_536)
    let file = try directory.file("passphrase", most)
    #expect(try given(["--passphrase-file", file]) == .passphrase(most))
    try directory.file("passphrase", most + "y")
    let failure = try failure(["--passphrase-file", file])
    #expect(failure == CommandFailure(.locked, "\(file): more than 65536 bytes"))
  }

  @Test(arguments: [
    ("", "empty"), ("\n", "empty"), ("a\nb", "more than one line"), ("a\n\n", "more than one line"),
    ("\n\n", "more than one line"),
  ])
  func `that is no line is refused`(_ pair: (String, String)) throws {
    let file = try directory.file("passphrase", pair.0)
    #expect(
      try failure(["--passphrase-file", file]) == CommandFailure(.locked, "\(file): \(pair.1)"))
  }

  @Test func `that is not there is an error, and the next source is not tried`() throws {
    let other = ["VAULT_PASSPHRASE_FILE": try directory.file("other", "other\n")]
    let missing = directory("missing")
    #expect(
      try failure(["--passphrase-file", missing], other)
        == CommandFailure(
          .locked, "\(missing): no such file or directory",
          hint: "export VAULT_PASSPHRASE_FILE=FILE"))
    #expect(
      try failure(["--passphrase-file", directory.path], other)
        == CommandFailure(
          .locked, "\(directory.path): a directory", hint: "export VAULT_PASSPHRASE_FILE=FILE"))
    #expect(try failure(["--key-file", missing], other).status == .locked)
    #expect(
      try failure(["--passphrase-fd", "971"], other)
        == CommandFailure(
          .locked, "file descriptor 971: not open",
          hint: "export VAULT_PASSPHRASE_FILE=FILE"))
    let dash = try failure(["--passphrase-file", "-"])
    #expect(dash.hint == "vault accounts --passphrase-fd 0 <FILE")
  }

  @Test(arguments: ["hunter2", "-1", "3x", "99999999999"])
  func `given in place of a descriptor's number is not repeated`(_ text: String) throws {
    let failure = try failure(["--passphrase-fd=\(text)"])
    #expect(failure.status == .usage)
    #expect(failure.message == "--passphrase-fd takes the number of an open file")
  }

  @Test func `comes from a pipe to its end`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = ends[1]
    Thread.detachNewThread {
      for piece in ["open ", "sesame", "\n"] {
        _ = piece.withCString { write(writer, $0, strlen($0)) }
        usleep(20_000)
      }
      close(writer)
    }
    #expect(try given(["--passphrase-fd", "\(ends[0])"]) == .passphrase("open sesame"))
    // The descriptor is the caller's and stays open.
    #expect(fcntl(ends[0], F_GETFD) >= 0)
    close(ends[0])
  }

  @Test func `comes from a FIFO whose writer is late`() throws {
    let path = directory("fifo")
    #expect(mkfifo(path, 0o600) == 0)
    Thread.detachNewThread {
      usleep(100_000)
      let writer = open(path, O_WRONLY)
      _ = write(writer, "late\n", 5)
      close(writer)
    }
    #expect(try given(["--passphrase-file", path]) == .passphrase("late"))
  }

  @Test func `in a file that others can read is used with a warning`() throws {
    let file = try directory.file("pass phrase", "x\n", mode: 0o644)
    let (context, messages) = try context(["accounts", "--passphrase-file", file])
    _ = try context.secrets.givenKey()
    #expect(
      try String(contentsOfFile: messages, encoding: .utf8)
        == "vault: warning: \(file): other users can read this passphrase\n"
        + "vault: hint: chmod 600 '\(file)'\n")
  }

  @Test(arguments: [0o644, 0o640, 0o660, 0o700, 0o604, 0o500])
  func `in a key file of another mode is refused`(_ mode: Int) throws {
    let file = try key(7, "key", mode: mode)
    let octal = "0" + String(mode, radix: 8)
    #expect(
      try failure(["--key-file", file])
        == CommandFailure(
          .locked, "\(file): mode \(octal), but a key file has 0400 or 0600",
          hint: "chmod 600 \(file)"))
  }

  @Test(arguments: [0, 31, 33, 100])
  func `in a key file of another length is refused`(_ count: Int) throws {
    let file = try key(7, "key", count: count)
    #expect(
      try failure(["--key-file", file])
        == CommandFailure(
          .locked, "\(file): a key file has 32 bytes, no more and no fewer",
          hint: "export VAULT_KEY_FILE=FILE"))
  }

  @Test func `in a key file of mode 0400 is taken, behind a link too`() throws {
    let file = try key(7, "key", mode: 0o400)
    #expect(try given(["--key-file", file]) == .keyFile(Array(repeating: 7, count: 32)))
    #expect(symlink(file, directory("link")) == 0)
    #expect(
      try given([], ["VAULT_KEY_FILE": directory("link")])
        == .keyFile(Array(repeating: 7, count: 32)))
  }

  @Test func `in a key file that systemd keeps may have systemd's mode`() throws {
    let file = try key(7, "key", mode: 0o440)
    let environment = ["CREDENTIALS_DIRECTORY": directory.path, "VAULT_KEY_FILE": file]
    #expect(try given([], environment) == .keyFile(Array(repeating: 7, count: 32)))
  }

  @Test(arguments: [
    ("exit 3", "exit status 3"), ("true", "empty"), ("echo a; echo b", "more than one line"),
    ("echo right; exit 1", "exit status 1"), ("kill -9 $$", "ended by signal 9"),
    ("head -c 70000 /dev/zero", "more than 65536 bytes"),
  ])
  func `of a command that fails is none`(_ pair: (String, String)) throws {
    let environment = ["PATH": "/usr/bin:/bin", "VAULT_PASSPHRASE_COMMAND": pair.0]
    #expect(
      try failure([], environment)
        == CommandFailure(.locked, "$VAULT_PASSPHRASE_COMMAND: \(pair.1)"))
  }

  @Test func `of a command is had in the caller's environment with no input and no files`() throws {
    let leaked = open("/dev/null", O_RDONLY)  // without O_CLOEXEC, as careless code would
    defer { close(leaked) }
    let command = """
      read -r line && exit 9; printf '%s %s' "$NAME" "$(ls /proc/self/fd | wc -l)"
      """
    let environment = [
      "PATH": "/usr/bin:/bin", "NAME": "a value", "VAULT_PASSPHRASE_COMMAND": command,
    ]
    // 0, 1, 2, and the directory that ls reads.
    #expect(try given([], environment) == .passphrase("a value 4"))
  }

  @Test func `is asked for nowhere without a terminal, at once`() throws {
    let start = ContinuousClock.now
    let (context, _) = try context(["accounts"])
    do {
      _ = try context.secrets.key(forVaultAt: "/v")
      Issue.record("a secret")
    } catch {
      #expect(
        error
          == CommandFailure(
            .locked, "no passphrase or key was given, and there is no terminal to ask on",
            hint: "export VAULT_PASSPHRASE_FILE=FILE"))
    }
    #expect(ContinuousClock.now - start < .seconds(1))
  }

  // MARK: New secrets

  private func newSecrets(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> (passphrase: [UInt8]?, key: [UInt8]?) {
    let (context, _) = try context(["init"] + arguments, environment)
    let new = try context.secrets.newSecrets(forVaultAt: "/v")
    let passphrase: [UInt8]? =
      switch new.passphrase {
      case .some(let secret): bytes(secret)
      case nil: nil
      }
    let key: [UInt8]? =
      switch new.keyFile {
      case .some(let secret): bytes(secret)
      case nil: nil
      }
    return (passphrase, key)
  }

  @Test func `of a new vault is a key file that is made, mode 0600`() throws {
    let path = directory("key")
    let (passphrase, key) = try newSecrets(["--key-file", path])
    #expect(passphrase == nil)
    #expect(key?.count == 32)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == key.map { Data($0) })
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    // The same file opens it from then on, and is not made anew.
    #expect(try newSecrets(["--key-file", path]).key == key)
  }

  @Test func `of a new vault is a passphrase and a key file where both are given`() throws {
    let file = try directory.file("passphrase", "open sesame\n")
    let options = try newSecrets(["--key-file", directory("a"), "--passphrase-file", file])
    #expect(options.passphrase == Array("open sesame".utf8))
    #expect(options.key?.count == 32)
    let variables = try newSecrets(
      [], ["VAULT_KEY_FILE": directory("b"), "VAULT_PASSPHRASE_FILE": file])
    #expect(variables.passphrase == Array("open sesame".utf8))
    #expect(variables.key?.count == 32)
    // What options name is all of it.
    let both = try newSecrets(["--key-file", directory("c")], ["VAULT_PASSPHRASE_FILE": file])
    #expect(both.passphrase == nil)
  }

  @Test func `of a new vault is asked for nowhere without a terminal`() throws {
    #expect {
      try newSecrets([])
    } throws: { error in
      (error as? CommandFailure)?.status == .locked
        && (error as? CommandFailure)?.hint == "vault init --key-file FILE"
    }
  }

  @Test func `in a key file that is to be added does not unlock`() throws {
    let (context, _) = try context(["add-key", "--key-file", try key(7, "key")])
    let isGiven =
      switch try context.secrets.givenKey() {
      case .some(_): true
      case nil: false
      }
    #expect(!isGiven)
  }

  // MARK: Standard input

  @Test func `of a token is the line on standard input`() throws {
    let input = open(try directory.file("token", "EAAB\n"), O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    let arguments = ["add-account", "--type", "x", "--username", "u", "--token-stdin"]
    let (context, _) = try context(arguments, input: input)
    let token = try context.secrets.standardInputLine("Token")
    #expect(bytes(token) == Array("EAAB".utf8))
  }

  @Test func `and a token cannot both be on standard input`() throws {
    let arguments = [
      "add-account", "--type", "x", "--username", "u", "--token-stdin", "--passphrase-fd", "0",
    ]
    let (context, _) = try context(arguments)
    for isDocument in [false, true] {
      #expect {
        if isDocument {
          _ = try context.secrets.document("-")
        } else {
          _ = try context.secrets.standardInputLine("Token")
        }
      } throws: { error in
        (error as? CommandFailure)?.message
          == "add-account: standard input cannot be the passphrase too"
      }
    }
  }

  @Test func `apart, a document that is not there is not found`() throws {
    let (context, _) = try context(["accounts"])
    #expect {
      _ = try context.secrets.document(directory("missing"))
    } throws: { error in
      (error as? CommandFailure)?.status == .notFound
    }
  }
}
