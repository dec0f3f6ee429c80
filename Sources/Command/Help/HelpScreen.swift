/// The one screen of `vault help`.
enum HelpScreen {
  static var text: String {
    var lines = [
      "vault keeps accounts in one encrypted file, and who was allowed what.", "",
      "usage: vault COMMAND [ARGUMENTS]    vault help COMMAND",
    ]
    let width = CommandTable.shown.map(\.name.count).max() ?? 0
    for group in CommandSpec.Group.allCases {
      lines += ["", "\(group.title):"]
      for command in CommandTable.shown where command.group == group {
        let padding = String(repeating: " ", count: width - command.name.count + 2)
        lines.append("  \(command.name)\(padding)\(command.summary)")
      }
    }
    lines += ["", "options of every command:"]
    lines += Wrapped.terms(GlobalOptions.all.map { ($0.term, $0.summary) })
    lines += [
      "",
      "the file: --vault PATH, else $VAULT_FILE, else",
      "  ${XDG_DATA_HOME:-~/.local/share}/vault/accounts.vault",
      "the secret: one of the options above, else $VAULT_PASSPHRASE_FILE,",
      "  $VAULT_KEY_FILE, $VAULT_PASSPHRASE_COMMAND,",
      "  $CREDENTIALS_DIRECTORY/vault.passphrase, else it is asked for", "",
      "exit codes:",
    ]
    lines += exits(ExitStatus.allCases)
    return lines.joined(separator: "\n") + "\n"
  }

  static func exits(_ statuses: [ExitStatus]) -> [String] {
    statuses.map { status in
      let code = String(status.code)
      let name = status.name + String(repeating: " ", count: 14 - status.name.count)
      return "  " + String(repeating: " ", count: 2 - code.count)
        + "\(code)  \(name)\(status.meaning)"
    }
  }
}
