extension CommandTable {
  static let program: [CommandSpec] = [
    CommandSpec(
      name: "completions", group: .help, summary: "print completions for a shell",
      arguments: [ArgumentSpec("SHELL", kind: .choice(Shell.allCases.map(\.rawValue)))],
      about: ["Prints a script for bash, zsh or fish."],
      examples: [
        .init("source <(vault completions bash)", "for this shell"),
        .init(
          "vault completions fish >~/.config/fish/completions/vault.fish", "for every fish to come"),
      ],
      json: .object(["shell", "script"]), exits: [], needs: []),
    CommandSpec(
      name: "help", group: .help, summary: "show help, or help for a command",
      arguments: [ArgumentSpec("COMMAND", .optional, kind: .command)],
      about: ["Without COMMAND it shows what there is."],
      examples: [.init("vault help grant", "help for a command")],
      json: .lines(["command", "group", "summary", "usage"]), exits: [], needs: []),
    CommandSpec(
      name: "version", group: .help, summary: "print the version",
      about: ["Prints the version of this program, of its JSON and of the vault's format."],
      examples: [.init("vault version --json", "for a script")],
      json: .object(["version", "json_format", "vault_format"]), exits: [], needs: []),
    CommandSpec(
      name: "manual", group: .help, summary: "print the manual page",
      about: ["Prints Documentation/vault.1."],
      examples: [.init("vault manual | man -l -", "read it")],
      json: .none, exits: [], needs: [], isHidden: true),
    CommandSpec(
      name: "send-revocations", group: .help, summary: "tell providers of the tokens that are over",
      about: [
        "Sends what remove-account and revoke left in the queue, as far as it is due; they start it"
          + " themselves."
      ],
      examples: [.init("vault send-revocations", "try again what was not told yet")],
      json: .none, exits: [.tryAgain, .failed], needs: [.vault, .key, .network], isHidden: true),
  ]
}

/// A shell that completions are made for.
package enum Shell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish
}
