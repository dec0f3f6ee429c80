/// The script of `vault completions zsh`.
enum ZshCompletions {
  static var text: String {
    let commands = CommandTable.shown
    var lines = [
      "#compdef vault",
      "# zsh completions of vault \(Release.version), from `vault completions zsh`",
      "_vault() {",
      "  local context state state_descr line",
      "  typeset -A opt_args",
      "  local -a globals commands",
      "  globals=(",
    ]
    lines += GlobalOptions.all.map { "    \(specification($0))" }
    lines += ["  )", "  commands=("]
    lines += commands.map { "    \(quoted("\($0.name):\($0.summary)"))" }
    lines += [
      "  )",
      "  _arguments -C $globals '1:command:->command' '*::argument:->arguments' && return",
      "  case $state in",
      "    command) _describe -t commands 'vault command' commands ;;",
      "    arguments)",
      "      case $line[1] in",
    ]
    for command in commands {
      lines.append("        \(command.name))")
      lines.append("          _arguments \\")
      let options = (command.options + command.globals).map(specification)
      let arguments = command.arguments.enumerated().map { index, argument in
        let colons = argument.presence == .required ? ":" : "::"
        let name = escaped(argument.name, ":")
        let place = argument.presence == .repeated ? "*:" : "\(index + 1)\(colons)"
        return quoted("\(place)\(name):\(action(argument.kind))")
      }
      let all = options + arguments
      lines += all.enumerated().map { index, text in
        "            \(text)" + (index == all.count - 1 ? " ;;" : " \\")
      }
    }
    lines += [
      "      esac ;;", "  esac", "}",
      "if [[ $funcstack[1] == _vault ]]; then _vault \"$@\"; else compdef _vault vault; fi",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func specification(_ option: OptionSpec) -> String {
    let repeats = option.presence == .repeated ? "*" : ""
    let summary = escaped(option.summary, "[]:")
    let value =
      option.isValueOptional
      ? "" : option.value.map { ":\(escaped($0, ":")):\(action(option.kind))" } ?? ""
    let long = quoted("\(repeats)--\(option.name)[\(summary)]\(value)")
    // `-h` is left to the shell's own list, where it would only stand beside `--help`.
    guard let letter = option.letter, option.name != "help" else { return long }
    return long + " " + quoted("\(repeats)-\(letter)[\(summary)]\(value)")
  }

  private static func action(_ kind: ValueKind) -> String {
    switch kind {
    case .text: " "
    case .file: "_files"
    case .choice(let choices): "(\(choices.joined(separator: " ")))"
    case .command: "(\(CommandTable.shown.map(\.name).joined(separator: " ")))"
    }
  }

  private static func escaped(_ text: String, _ characters: String) -> String {
    text.map { characters.contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
