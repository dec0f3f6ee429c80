enum HelpCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    guard let name = context.arguments.arguments.first else {
      try show(nil, context.terminal)
      return .ok
    }
    guard let command = CommandTable.command(named: name) else {
      let meant = NearMiss.of(name, among: CommandTable.shown.map(\.name))
      throw CommandFailure(
        .usage, "help: unknown command" + (meant.map { " (did you mean \($0)?)" } ?? ""),
        hint: meant.map { "vault help \($0)" } ?? "vault help")
    }
    try show(command, context.terminal)
    return .ok
  }

  /// The screen, or with a command all about it; with --json an object for each command.
  static func show(_ command: CommandSpec?, _ terminal: Terminal) throws(CommandFailure) {
    guard terminal.printsJSON else {
      return try terminal.data(command.map(CommandHelp.text) ?? HelpScreen.text)
    }
    for spec in command.map({ [$0] }) ?? CommandTable.shown {
      var object = JSONObject()
      object.add("command", spec.name)
      object.add("group", spec.group.rawValue)
      object.add("summary", spec.summary)
      object.add("usage", (["vault"] + spec.usagePieces).joined(separator: " "))
      try terminal.line(object.line)
    }
  }
}
