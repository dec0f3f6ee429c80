/// The text of `vault help COMMAND`.
enum CommandHelp {
  static func text(of command: CommandSpec) -> String {
    var lines = Wrapped.lines(
      ["usage: vault"] + command.usagePieces, indent: 0, hanging: 13)
    lines += ["", command.summary, ""]
    for paragraph in command.about { lines += Wrapped.lines(paragraph, indent: 0) + [""] }
    if !command.options.isEmpty {
      lines += ["options:"]
      lines += Wrapped.terms(command.options.map { ($0.term, meaning($0)) }) + [""]
    }
    lines += ["options of every command:"]
    lines += Wrapped.terms(command.globals.map { ($0.term, $0.summary) }) + [""]
    lines += [command.examples.count == 1 ? "example:" : "examples:"]
    for example in command.examples {
      lines += ["  # \(example.note)", "  \(example.command)"]
    }
    switch command.json {
    case .none: break
    case .object(let keys): lines += ["", "with --json, an object:"] + braced(keys)
    case .lines(let keys): lines += ["", "with --json, an object a line:"] + braced(keys)
    case .document(let what): lines += ["", "with --json, \(what)"]
    }
    lines += ["", "exit codes:"] + HelpScreen.exits(exits(of: command))
    return lines.joined(separator: "\n") + "\n"
  }

  /// The exits that the command may take, with those of every command, in the order of their codes.
  static func exits(of command: CommandSpec) -> [ExitStatus] {
    ExitStatus.allCases.filter { [.ok, .usage, .io].contains($0) || command.exits.contains($0) }
  }

  static func meaning(_ option: OptionSpec) -> String {
    switch option.presence {
    case .repeated: option.summary + "; may be repeated"
    case .asked: option.summary + "; asked for where it is missing"
    case .optional, .required: option.summary
    }
  }

  private static func braced(_ keys: [String]) -> [String] {
    let pieces = keys.enumerated().map { index, key in
      (index == 0 ? "{" : "") + "\"\(key)\"" + (index == keys.count - 1 ? "}" : ",")
    }
    return Wrapped.lines(pieces, indent: 2, hanging: 3)
  }
}
