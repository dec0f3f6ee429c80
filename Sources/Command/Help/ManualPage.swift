/// The manual page `vault(1)`, in the man macros.
enum ManualPage {
  static var text: String {
    var lines = [
      #".\" Made from the table of commands by Scripts/manual; not to be edited."#,
      ".TH VAULT 1 \"\" \"AccountVault \(Release.version)\" \"User Commands\"",
      ".SH NAME",
      #"vault \- keep accounts in one encrypted file, and who was allowed what"#,
      ".SH SYNOPSIS",
      ".B vault",
      ".I COMMAND",
      ".RI [ ARGUMENTS ]",
      ".SH DESCRIPTION",
      "The vault is one encrypted file. It holds accounts at providers with their credentials, the",
      "apps that may use them, the permissions that each app was given, and a ledger of all that was",
      "decided and done.",
      "An app gets a token only for what it was granted, and each use is recorded first.",
      ".SH OPTIONS",
      "Options may stand anywhere;",
      roman("--", bold: true),
      "ends them. They are never abbreviated.",
    ]
    for option in GlobalOptions.all { lines += term(option) }
    lines.append(".SH COMMANDS")
    for group in CommandSpec.Group.allCases {
      for command in CommandTable.shown where command.group == group {
        lines += section(command)
      }
    }
    lines += environment
    lines += [".SH EXIT STATUS"]
    for status in ExitStatus.allCases {
      lines += [".TP", ".B \(status.code)", "\(escaped(status.name)): \(escaped(status.meaning))"]
    }
    let ranking = ExitStatus.ranking.map { String($0.code) }.joined(separator: ", ")
    lines += [
      ".PP", "A command that handles several things exits with the first of these that happened:",
      "\(ranking).",
      ".SH SECURITY",
      "No option and no environment variable carries a passphrase, a token or a client secret",
      "itself: other programs could read it. An argument that looks like one is refused.",
      "Without a terminal nothing ever waits for input.",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ command: CommandSpec) -> [String] {
    var lines = [".SS \(command.name)", ".nh", ".ad l"]
    lines.append(roman("vault \(command.name)", bold: true))
    for piece in command.usagePieces.dropFirst() { lines.append(escaped(unbroken(piece))) }
    lines += [".ad b", ".hy", ".PP"]
    for (index, paragraph) in command.about.enumerated() {
      if index > 0 { lines.append(".PP") }
      lines += sentences(paragraph)
    }
    for option in command.options { lines += term(option) }
    lines += [".PP", command.examples.count == 1 ? "Example:" : "Examples:", ".PP", ".RS", ".nf"]
    lines += command.examples.map { escaped($0.command) }
    lines += [".fi", ".RE"]
    switch command.json {
    case .none: break
    case .object(let keys): lines += [".PP", "JSON: an object with \(keyList(keys))."]
    case .lines(let keys): lines += [".PP", "JSON: an object a line, with \(keyList(keys))."]
    case .document(let what): lines += [".PP", "JSON: \(escaped(what))."]
    }
    let codes = CommandHelp.exits(of: command).map { String($0.code) }.joined(separator: ", ")
    lines += [".PP", "Exit status: \(codes)."]
    return lines
  }

  private static var environment: [String] {
    let variables = [
      ("VAULT_FILE", "the vault file"),
      ("XDG_DATA_HOME", "where the vault file is otherwise, in vault/accounts.vault"),
      ("VAULT_PASSPHRASE_FILE", "a file with the passphrase"),
      ("VAULT_KEY_FILE", "a key file"),
      ("VAULT_PASSPHRASE_COMMAND", "a command for the shell that prints the passphrase"),
      (
        "CREDENTIALS_DIRECTORY",
        "set by systemd; its file vault.passphrase holds the passphrase"
      ),
      ("NO_COLOR", "no colors in messages"),
    ]
    return [".SH ENVIRONMENT"]
      + variables.flatMap { [".TP", ".B \($0.0)", escaped($0.1)] }
      + [
        ".PP", "The secret that unlocks the vault is the first that is given, in the order of the",
        "options and then of these variables; else it is asked for. A passphrase is one line, its",
        "bytes as they are.", ".SH FILES", ".TP", ".I ~/.local/share/vault/accounts.vault",
        "the vault file where nothing else is said",
      ]
  }

  private static func term(_ option: OptionSpec) -> [String] {
    let letter = option.letter.map { "-\($0), " } ?? ""
    let value =
      option.isValueOptional
      ? #"[=\fI\#(escaped(option.value ?? ""))\fR]"#
      : option.value.map { #" \fI\#(escaped($0))\fR"# } ?? ""
    return [
      ".TP", #"\fB\#(escaped(letter + "--" + option.name))\fR\#(value)"#,
      escaped(CommandHelp.meaning(option)),
    ]
  }

  private static func keyList(_ keys: [String]) -> String {
    escaped(keys.joined(separator: ", "))
  }

  /// One sentence a line, as the macros want it.
  private static func sentences(_ paragraph: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in paragraph.split(separator: " ") {
      line += (line.isEmpty ? "" : " ") + word
      if word.hasSuffix(".") {
        lines.append(escaped(line))
        line = ""
      }
    }
    if !line.isEmpty { lines.append(escaped(line)) }
    return lines
  }

  private static func roman(_ text: String, bold: Bool) -> String { ".B \(escaped(text))" }

  /// Spaces that a line is not broken at.
  private static func unbroken(_ piece: String) -> String {
    piece.contains("|") ? piece : piece.split(separator: " ").joined(separator: "\u{a0}")
  }

  /// Text in which roff finds no instruction of its own.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += #"\e"#
      case "-": result += #"\-"#
      case "…": result += "..."
      case "\u{a0}": result += #"\ "#
      case "'": result += #"\(aq"#
      case "`": result += #"\(ga"#
      case "~": result += #"\(ti"#
      case "^": result += #"\(ha"#
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") ? #"\&"# + result : result
  }
}
