/// The script of `vault completions bash`.
enum BashCompletions {
  static var text: String {
    let commands = CommandTable.shown
    let valued = CommandTable.options.filter { $0.value != nil && !$0.isValueOptional }
    var lines = [
      "# bash completions of vault \(Release.version), from `vault completions bash`",
      "_vault() {",
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
      "  local command= position=0 i at",
      "  COMPREPLY=()",
      "  # bash breaks --option=value into three words",
      "  if [[ $word == = ]]; then",
      "    word=",
      "  elif [[ $before == = ]]; then",
      "    before=${COMP_WORDS[COMP_CWORD-2]}",
      "  fi",
      "  for ((i = 1; i < COMP_CWORD; i++)); do",
      "    at=${COMP_WORDS[i]}",
      "    case $at in",
      "      \(valued.flatMap(names).joined(separator: "|")))",
      "        ((i++))",
      "        if [[ ${COMP_WORDS[i]} == = ]]; then ((i++)); fi ;;",
      "      -*) ;;",
      "      *)",
      "        if [[ -z $command ]]; then command=$at; else ((position++)); fi ;;",
      "    esac",
      "  done",
      "  case \"$command $before\" in",
    ]
    for command in commands {
      for option in command.options {
        guard let answer = answer(option.kind) else { continue }
        for name in names(of: option) {
          lines.append("    '\(command.name) \(name)') \(answer); return ;;")
        }
      }
    }
    for option in GlobalOptions.all {
      if let answer = answer(option.kind) {
        lines.append("    *' --\(option.name)') \(answer); return ;;")
      }
    }
    lines += [
      "    *' -'*)",
      "      case $before in",
      "        \(valued.flatMap(names).joined(separator: "|"))) return ;;",
      "      esac ;;",
      "  esac",
      "  if [[ $word == -* ]]; then",
      "    case $command in",
    ]
    for command in commands {
      lines.append("      \(command.name)) \(words(optionNames(of: command))) ;;")
    }
    lines += [
      "      *) \(words(GlobalOptions.all.map { "--\($0.name)" })) ;;",
      "    esac",
      "    return",
      "  fi",
      "  if [[ -z $command ]]; then",
      "    \(words(commands.map(\.name)))",
      "    return",
      "  fi",
      "  case \"$command $position\" in",
    ]
    for command in commands {
      for (position, argument) in command.arguments.enumerated() {
        if let answer = answer(argument.kind) {
          lines.append("    '\(command.name) \(position)') \(answer) ;;")
        }
      }
    }
    lines += ["  esac", "}", "complete -F _vault vault"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// An option as it may be written.
  private static func names(of option: OptionSpec) -> [String] {
    ["--\(option.name)"] + (option.letter.map { ["-\($0)"] } ?? [])
  }

  private static func optionNames(of command: CommandSpec) -> [String] {
    (command.options + command.globals).map { "--\($0.name)" }
  }

  private static func answer(_ kind: ValueKind) -> String? {
    switch kind {
    case .text: nil
    case .file:
      "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"
    case .choice(let choices): words(choices)
    case .command: words(CommandTable.shown.map(\.name))
    }
  }

  private static func words(_ words: [String]) -> String {
    "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$word\")"
  }
}
