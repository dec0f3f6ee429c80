internal import Faults

/// A command line that fits the table: a command, its arguments, its options.
package struct ParsedArguments: Sendable {
  package let command: CommandSpec
  /// The words that are no options, as many as the command takes.
  package let arguments: [String]
  private let options: [String: [String]]

  init(command: CommandSpec, arguments: [String], options: [String: [String]]) {
    self.command = command
    self.arguments = arguments
    self.options = options
  }

  /// Whether a flag or an option was given. Names are written without the dashes.
  package func has(_ name: String) -> Bool { values(name) != nil }

  /// The value of an option, nil where it was not given.
  package func text(_ name: String) -> String? { values(name)?.last }

  /// The values of an option that may be repeated.
  package func texts(_ name: String) -> [String] { values(name) ?? [] }

  private func values(_ name: String) -> [String]? {
    // A name that the table does not have would be an option that can never be given.
    precondition(command.option(named: name) != nil, "\(command.name) has no --\(name)")
    return options[name]
  }
}

extension ParsedArguments {
  /// Whether this call needs what `vault-agent` links.
  package var needsNetwork: Bool {
    command.needs.contains(.network)
      || command.options.contains { $0.needsNetwork && has($0.name) }
  }

  /// The options that say which vault is meant and what opens it, as they were given, each as one
  /// piece of a shell's command line.
  var vaultOptions: [String] {
    command.globals.filter { Self.placing.contains($0.name) && has($0.name) }.map { option in
      option.value == nil
        ? "--\(option.name)" : "--\(option.name) \(ShellText.quoted(text(option.name) ?? ""))"
    }
  }

  private static let placing = [
    "vault", "passphrase-file", "key-file", "allow-expensive-kdf", "network-fs",
  ]

  /// This command with a place for the account that is meant, where several fitted.
  var namingAccount: String {
    var words = ["vault", command.name]
    words += command.arguments.map { $0.name == "ACCOUNT" ? "ID" : $0.name }
    for option in command.options {
      let isTold = ["app", "perms", "type", "audience"].contains(option.name)
      if option.name == "account" {
        words.append("--account ID")
      } else if isTold, let value = text(option.name) {
        words.append("--\(option.name) \(ShellText.quoted(value))")
      } else if option.presence == .required {
        words.append(option.written)
      }
    }
    return words.joined(separator: " ")
  }
}
