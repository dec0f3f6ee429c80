/// The script of `vault completions fish`.
enum FishCompletions {
  static var text: String {
    let commands = CommandTable.shown
    var lines = [
      "# fish completions of vault \(Release.version), from `vault completions fish`",
      "set -l commands \(commands.map(\.name).joined(separator: " "))",
      "complete -c vault -f",
    ]
    for option in GlobalOptions.all { lines.append("complete -c vault\(described(option))") }
    for command in commands {
      lines.append(
        "complete -c vault -n \"not __fish_seen_subcommand_from $commands\" -a \(command.name) "
          + "-d \(quoted(command.summary))")
    }
    for command in commands {
      let condition = " -n '__fish_seen_subcommand_from \(command.name)'"
      for option in command.options {
        lines.append("complete -c vault\(condition)\(described(option))")
      }
      for argument in command.arguments {
        if let values = values(argument.kind) {
          lines.append("complete -c vault\(condition)\(values)")
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func described(_ option: OptionSpec) -> String {
    let letter = option.letter.map { " -s \($0)" } ?? ""
    let value = option.value == nil || option.isValueOptional ? "" : (values(option.kind) ?? " -x")
    return "\(letter) -l \(option.name)\(value) -d \(quoted(option.summary))"
  }

  private static func values(_ kind: ValueKind) -> String? {
    switch kind {
    case .text: nil
    case .file: " -r -F"
    case .choice(let choices): " -x -a \(quoted(choices.joined(separator: " ")))"
    case .command: " -x -a \(quoted(CommandTable.shown.map(\.name).joined(separator: " ")))"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.map { "\\'".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
