/// What a command line asks for.
enum ParsedLine {
  /// No command was named.
  case nothing
  /// `--help`, with the command where one was named.
  case help(CommandSpec?)
  case command(ParsedArguments)

  /// Reads a command line against the table.
  ///
  /// - Throws: `usage`. Values are never repeated: a slip may have put a secret there.
  static func parse(_ arguments: [String]) throws(CommandFailure) -> ParsedLine {
    try SecretArguments.refuse(in: arguments)
    // What most programs answer to; the rest of the line stays as it is.
    if arguments.first == "--version" {
      return try parse(["version"] + arguments.dropFirst())
    }
    let words = Word.read(arguments, table: CommandTable.options)

    var command: CommandSpec?
    for case .argument(let name) in words {
      guard let found = CommandTable.command(named: name) else {
        if words.contains(.option("help", value: nil)) { break }
        throw unknownCommand(name)
      }
      command = found
      break
    }

    var rest: [String] = []
    var options: [String: [String]] = [:]
    for word in words {
      switch word {
      case .argument(let text): rest.append(text)
      case .option("help", _): return .help(command)
      case .option(let name, let value):
        guard command?.option(named: name) != nil || isGlobal(name) && command == nil else {
          throw unknownOption("--\(name)", command)
        }
        options[name, default: []].append(value ?? "")
      case .unknown(let written): throw unknownOption(written, command)
      case .valueMissing(let name):
        guard let option = option(name, of: command) else {
          throw unknownOption("--\(name)", command)
        }
        throw usage(command, "--\(name) needs a value, \(option.value ?? "")")
      case .valueUnwanted(let name):
        guard option(name, of: command) != nil else { throw unknownOption("--\(name)", command) }
        throw usage(command, "--\(name) takes no value")
      }
    }
    guard let command else { return .nothing }
    let parsed = ParsedArguments(
      command: command, arguments: Array(rest.dropFirst()), options: options)
    try check(parsed, options)
    return .command(parsed)
  }

  /// What the table says of numbers, choices and combinations.
  private static func check(
    _ parsed: ParsedArguments, _ given: [String: [String]]
  ) throws(CommandFailure) {
    let command = parsed.command
    for option in command.options + command.globals {
      let values = given[option.name] ?? []
      if values.isEmpty, option.presence == .required {
        throw usage(command, "--\(option.name) is missing")
      }
      if values.count > 1, option.value != nil, option.presence != .repeated {
        throw usage(command, "--\(option.name) was given \(values.count) times")
      }
      for value in values where !(value.isEmpty && option.isValueOptional) {
        try check(value, option.kind, "--\(option.name)", command)
      }
    }
    let needed = command.arguments.filter { $0.presence == .required }
    if parsed.arguments.count < needed.count {
      throw usage(command, "\(needed[parsed.arguments.count].name) is missing")
    }
    let repeats = command.arguments.last?.presence == .repeated
    if parsed.arguments.count > command.arguments.count, !repeats {
      let takes =
        switch command.arguments.count {
        case 0: "takes no argument"
        case 1: "takes one argument"
        case let count: "takes \(count) arguments"
        }
      throw usage(
        command,
        "\(takes), and \(parsed.arguments.count) \(parsed.arguments.count == 1 ? "was" : "were") given"
      )
    }
    var specs = command.arguments
    while repeats, let last = specs.last, specs.count < parsed.arguments.count {
      specs.append(last)
    }
    for (argument, value) in zip(specs, parsed.arguments) {
      if value.isEmpty { throw usage(command, "\(argument.name) is empty") }
      try check(value, argument.kind, argument.name, command)
    }
    let present = Set(given.keys).union(
      zip(command.arguments, parsed.arguments).map { argument, _ in argument.name })
    for set in command.exclusive where set.filter(present.contains).count > 1 {
      throw usage(command, "\(spelled(set, command, "and")) do not go together")
    }
    for set in command.oneOf where !set.contains(where: present.contains) {
      throw usage(command, "\(spelled(set, command, "or")) is missing")
    }
  }

  private static func check(
    _ value: String, _ kind: ValueKind, _ subject: String, _ command: CommandSpec
  ) throws(CommandFailure) {
    switch kind {
    case .text, .command: return
    case .file:
      if value.isEmpty { throw usage(command, "\(subject) is empty") }
    case .choice(let choices):
      if choices.contains(value) { return }
      let known = choices.count > 6 ? "" : ": \(choices.joined(separator: ", "))"
      let meant = NearMiss.of(value, among: choices).map { " (did you mean \($0)?)" } ?? ""
      throw usage(command, "\(subject) is none of those known\(known)\(meant)")
    }
  }

  private static func spelled(_ names: [String], _ command: CommandSpec, _ last: String) -> String {
    names.map { name in command.options.contains { $0.name == name } ? "--\(name)" : name }
      .joined(separator: " \(last) ")
  }

  private static func option(_ name: String, of command: CommandSpec?) -> OptionSpec? {
    guard let command else { return GlobalOptions.all.first { $0.name == name } }
    return command.option(named: name)
  }

  private static func isGlobal(_ name: String) -> Bool {
    GlobalOptions.all.contains { $0.name == name }
  }

  private static func usage(_ command: CommandSpec?, _ message: String) -> CommandFailure {
    guard let command else { return CommandFailure(.usage, message, hint: "vault help") }
    return CommandFailure(
      .usage, "\(command.name): \(message)", hint: "vault help \(command.name)")
  }

  private static func unknownOption(_ written: String, _ command: CommandSpec?) -> CommandFailure {
    let name = String(written.drop { $0 == "-" })
    let known = command.map { $0.options + $0.globals } ?? GlobalOptions.all
    let meant = NearMiss.of(name, among: known.map(\.name)).map { " (did you mean --\($0)?)" } ?? ""
    return usage(command, isHarmless(name) ? "unknown option \(written)\(meant)" : "unknown option")
  }

  private static func unknownCommand(_ name: String) -> CommandFailure {
    let meant = NearMiss.of(name, among: CommandTable.shown.map(\.name))
    let shown = isHarmless(name) ? "\(name): unknown command" : "unknown command"
    guard let meant else { return CommandFailure(.usage, shown, hint: "vault help") }
    return CommandFailure(.usage, "\(shown) (did you mean \(meant)?)", hint: "vault help \(meant)")
  }

  /// Whether a word is one that can be shown: short, of small letters and dashes, so that no token
  /// or passphrase that landed in the wrong place is repeated.
  private static func isHarmless(_ word: String) -> Bool {
    word.utf8.count <= 24
      && word.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x5f }
  }
}
