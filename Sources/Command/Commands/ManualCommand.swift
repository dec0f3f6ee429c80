enum ManualCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    try context.terminal.data(ManualPage.text)
    return .ok
  }
}
