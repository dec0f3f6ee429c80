package import AccountVault
internal import Faults
package import Sodium

/// Where the secret that unlocks the vault comes from, in the order of the contract, section 1.
///
/// A source that is named and does not give one is an error: the next is not tried in its place.
package struct SecretSource {
  private let invocation: Invocation
  private let arguments: ParsedArguments
  private let terminal: Terminal

  init(_ invocation: Invocation, _ arguments: ParsedArguments, _ terminal: Terminal) {
    self.invocation = invocation
    self.arguments = arguments
    self.terminal = terminal
  }

  // MARK: To unlock

  /// What unlocks the vault at `path`: what was given, else what the person types.
  ///
  /// - Throws: `locked` where no passphrase or key could be had.
  package func key(forVaultAt path: String) throws(CommandFailure) -> Key {
    if let given = try givenKey() { return given }
    let question: Question
    do {
      question = try Question(invocation)
    } catch {
      throw nobodyToAsk(path)
    }
    for _ in 1...3 {
      let passphrase = try question.secret("Passphrase for \(EscapedText.of(path)): ")
      if passphrase.count > 0 { return .passphrase(Secret(passphrase)) }
      terminal.note("an empty passphrase is none")
    }
    throw CommandFailure(.locked, "no passphrase was given")
  }

  /// What unlocks the vault, without asking anybody; nil where nothing was given.
  package func givenKey() throws(CommandFailure) -> Key? {
    if let inherited = invocation.inheritedKey?.copy() { return inherited }
    if let passphrase = try optionPassphrase() { return .passphrase(Secret(passphrase)) }
    if let path = keyFileOption { return .keyFile(Secret(try keyFile(path))) }
    if let lent = try lentKey() { return lent }
    let environment = invocation.environment
    if let path = try environment.value("VAULT_PASSPHRASE_FILE") {
      return .passphrase(Secret(try passphrase(inFile: path)))
    }
    if let path = try environment.value("VAULT_KEY_FILE") {
      return .keyFile(Secret(try keyFile(path)))
    }
    guard let passphrase = try serverPassphrase() else { return nil }
    return .passphrase(Secret(passphrase))
  }

  /// Whether what is given without asking anybody is a key file or a credential of systemd's, as
  /// where nobody is there to be asked again.
  package func isUnattended() throws(CommandFailure) -> Bool {
    if arguments.has("passphrase-fd") { return false }
    if let path = arguments.text("passphrase-file") { return try isCredential(path) }
    if keyFileOption != nil { return true }
    let environment = invocation.environment
    if let path = try environment.value("VAULT_PASSPHRASE_FILE") { return try isCredential(path) }
    if try environment.value("VAULT_KEY_FILE") != nil { return true }
    if try environment.value("VAULT_PASSPHRASE_COMMAND") != nil { return false }
    return try environment.value("CREDENTIALS_DIRECTORY") != nil
  }

  /// What unlocks the vault, given once more to a process that stays; nil where nothing is given.
  package static func givenAgain(
    _ invocation: Invocation, _ arguments: ParsedArguments
  ) throws(CommandFailure) -> Key? {
    let silent = Terminal(invocation, json: false, quiet: true, verbose: false)
    return try SecretSource(invocation, arguments, silent).givenKey()
  }

  /// The key of a running agent, where the command may be done with it.
  private func lentKey() throws(CommandFailure) -> Key? {
    switch arguments.agentUse {
    case .none: return nil
    case .key, .run, .runOnce: break
    }
    // Where no vault is named the command says so itself.
    guard let path = try? VaultLocation.path(arguments, invocation.environment) else { return nil }
    do throws(CommandFailure) {
      return try LentKey.ask(forVaultAt: path, invocation.environment)
    } catch {
      // What was given opens the vault without it; one that is locked is told where nothing was.
      if error.status != .locked { terminal.warning(error.message) }
      return nil
    }
  }

  private func nobodyToAsk(_ path: String) -> CommandFailure {
    if arguments.agentUse != .none {
      do throws(CommandFailure) {
        _ = try LentKey.ask(forVaultAt: path, invocation.environment)
      } catch  where error.status == .locked {
        return CommandFailure(
          .locked,
          "no passphrase or key was given, there is no terminal to ask on, and the agent of"
            + " this vault is locked", hint: error.hint)
      } catch {
        // Told already.
      }
    }
    return CommandFailure(
      .locked, "no passphrase or key was given, and there is no terminal to ask on",
      hint: "export VAULT_PASSPHRASE_FILE=FILE")
  }

  // MARK: To make

  /// A passphrase and a key file that are to open a new vault: at least one of them.
  package struct NewSecrets: ~Copyable {
    package var passphrase: SecretBytes?
    package var keyFile: SecretBytes?
    /// Where the key file is.
    package var keyFilePath: String?
  }

  /// What is to open the new vault at `path`. A key file that is not there yet is made.
  ///
  /// Options come before the environment, and what was given before a prompt. A key file given
  /// alone makes a vault without a passphrase.
  package func newSecrets(forVaultAt path: String) throws(CommandFailure) -> NewSecrets {
    var keyFilePath = arguments.text("key-file")
    var passphrase = try optionPassphrase()
    if keyFilePath == nil, passphrase == nil {
      keyFilePath = try invocation.environment.value("VAULT_KEY_FILE")
      if let file = try invocation.environment.value("VAULT_PASSPHRASE_FILE") {
        passphrase = try self.passphrase(inFile: file)
      } else if keyFilePath == nil {
        passphrase = try serverPassphrase()
      }
    }
    if keyFilePath == nil, passphrase == nil {
      passphrase = try askTwice(
        "New passphrase for \(EscapedText.of(path)): ", hint: "vault init --key-file FILE")
    }
    return NewSecrets(
      passphrase: passphrase, keyFile: try keyFilePath.map(KeyFile.readOrMake),
      keyFilePath: keyFilePath)
  }

  /// The new passphrase of `change-passphrase`.
  package func newPassphrase() throws(CommandFailure) -> SecretBytes {
    if let path = arguments.text("new-passphrase-file") { return try passphrase(inFile: path) }
    if let number = arguments.text("new-passphrase-fd") {
      return try passphrase(inDescriptor: number, option: "--new-passphrase-fd")
    }
    return try askTwice(
      "New passphrase: ", hint: "vault change-passphrase --new-passphrase-file FILE")
  }

  private func askTwice(_ prompt: String, hint: String) throws(CommandFailure) -> SecretBytes {
    let question: Question
    do {
      question = try Question(invocation)
    } catch {
      throw CommandFailure(
        .locked, "no passphrase or key was given, and there is no terminal to ask on", hint: hint)
    }
    for _ in 1...3 {
      let first = try question.secret(prompt)
      if first.count == 0 {
        terminal.note("an empty passphrase is none")
        continue
      }
      let second = try question.secret("The same again: ")
      let isSame = first.isEqual(to: second)
      if isSame { return first }
      terminal.note("the two are not the same")
    }
    throw CommandFailure(.locked, "no new passphrase was given")
  }

  // MARK: Standard input

  /// The one line on standard input: a bare token or a client secret. Asked for without echo where
  /// standard input is a terminal.
  ///
  /// - Throws: `usage` where it is empty or has a second line.
  package func standardInputLine(_ noun: String) throws(CommandFailure) -> SecretBytes {
    try refuseSharedStandardInput()
    if Terminal.isTerminal(invocation.standardInput) {
      let answer = try Question(invocation).secret("\(noun): ")
      return try SecretText.line(answer, from: noun)
    }
    return try InputSource.descriptor(invocation.standardInput, name: "standard input").line()
  }

  /// All of a file, or of standard input where `path` is `-`.
  ///
  /// - Throws: `notFound` where there is no such file, `usage` beyond `limit` bytes.
  package func document(
    _ path: String, limit: Int = 262_144
  ) throws(CommandFailure) -> SecretBytes {
    if path == "-" { try refuseSharedStandardInput() }
    let source =
      path == "-"
      ? try InputSource.descriptor(invocation.standardInput, name: "standard input")
      : try InputSource.file(path)
    return try source.read(limit: limit)
  }

  /// What is read for one thing to its end has nothing left for another.
  private func refuseSharedStandardInput() throws(CommandFailure) {
    guard arguments.text("passphrase-fd").flatMap(Int32.init) == 0 else { return }
    throw CommandFailure(
      .usage, "\(arguments.command.name): standard input cannot be the passphrase too",
      hint: "vault help \(arguments.command.name)")
  }

  // MARK: Sources

  /// `--key-file` where it names the key that unlocks, not one to be made.
  private var keyFileOption: String? {
    let isOfCommand = arguments.command.options.contains { $0.name == "key-file" }
    return isOfCommand ? nil : arguments.text("key-file")
  }

  private func optionPassphrase() throws(CommandFailure) -> SecretBytes? {
    if let number = arguments.text("passphrase-fd") {
      return try passphrase(inDescriptor: number, option: "--passphrase-fd")
    }
    return try arguments.text("passphrase-file").map { path throws(CommandFailure) in
      try passphrase(inFile: path)
    }
  }

  /// From what a server's configuration names: a command, or systemd's credentials.
  private func serverPassphrase() throws(CommandFailure) -> SecretBytes? {
    let environment = invocation.environment
    if let command = try environment.value("VAULT_PASSPHRASE_COMMAND") {
      return try PassphraseCommand.run(command, environment: environment)
    }
    guard let directory = try environment.value("CREDENTIALS_DIRECTORY") else { return nil }
    let source: InputSource
    do {
      source = try InputSource.file(directory + "/vault.passphrase")
    } catch  where error.status == .notFound {
      return nil  // credentials of this service for something else
    } catch {
      throw CommandFailure(.locked, error.message)
    }
    return try Self.line(source)
  }

  private func passphrase(inFile path: String) throws(CommandFailure) -> SecretBytes {
    let source: InputSource
    do {
      source = try InputSource.file(path)
    } catch {
      throw CommandFailure(
        .locked, error.message,
        hint: path == "-"
          ? "vault accounts --passphrase-fd 0 <FILE" : "export VAULT_PASSPHRASE_FILE=FILE")
    }
    if source.isRegularFile, source.mode & 0o077 != 0, try !isCredential(path) {
      terminal.warning("\(path): other users can read this passphrase")
      terminal.hint("chmod 600 \(ShellText.quoted(path))")
    }
    return try Self.line(source)
  }

  private func passphrase(
    inDescriptor text: String, option: String
  ) throws(CommandFailure) -> SecretBytes {
    // What was given in place of a number may be the passphrase: it is not repeated.
    guard let number = Int32(text), number >= 0 else {
      throw CommandFailure(
        .usage, "\(option) takes the number of an open file",
        hint: "export VAULT_PASSPHRASE_FILE=FILE")
    }
    let name = number == 0 ? "standard input" : "file descriptor \(number)"
    let source: InputSource
    do {
      source = try InputSource.descriptor(number, name: name)
    } catch {
      throw CommandFailure(
        .locked, error.message, hint: "export VAULT_PASSPHRASE_FILE=FILE")
    }
    return try Self.line(source)
  }

  private static func line(_ source: borrowing InputSource) throws(CommandFailure) -> SecretBytes {
    do {
      return try source.line()
    } catch {
      throw CommandFailure(.locked, error.message)
    }
  }

  private func keyFile(_ path: String) throws(CommandFailure) -> SecretBytes {
    do {
      return try KeyFile.read(path, isGuarded: isCredential(path))
    } catch {
      throw CommandFailure(
        error.status, error.message, hint: error.hint ?? "export VAULT_KEY_FILE=FILE")
    }
  }

  /// Whether systemd keeps the file; it gives it modes of its own.
  private func isCredential(_ path: String) throws(CommandFailure) -> Bool {
    guard let directory = try invocation.environment.value("CREDENTIALS_DIRECTORY") else {
      return false
    }
    return path.hasPrefix(directory + "/") && !path.contains("/../")
  }
}
