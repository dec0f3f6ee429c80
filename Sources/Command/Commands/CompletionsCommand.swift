enum CompletionsCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let name = context.argument(0)
    // The table has let no other name through.
    guard let shell = Shell(rawValue: name) else { throw context.usage("unknown shell") }
    let script =
      switch shell {
      case .bash: BashCompletions.text
      case .zsh: ZshCompletions.text
      case .fish: FishCompletions.text
      }
    if context.terminal.printsJSON {
      var object = JSONObject()
      object.add("shell", name)
      object.add("script", script)
      try context.terminal.line(object.line)
    } else {
      try context.terminal.data(script)
    }
    return .ok
  }
}
