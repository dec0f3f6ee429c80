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
