/// Runs the command that `invocation` asks for, and returns the process's exit code as a status.
///
/// Called as `Command.run(…)`.
package func run(_ invocation: Invocation) -> ExitStatus {
  let words = invocation.arguments.prefix { $0 != "--" }
  let terminal = Terminal(
    invocation, json: words.contains("--json"), quiet: words.contains("--quiet"),
    verbose: words.contains("--verbose"))
  var failures: [CommandFailure] = []
  var status = ExitStatus.ok
  do {
    status = try dispatch(invocation, terminal, &failures)
  } catch {
    terminal.error(error)
    failures.append(error)
  }
  do {
    try terminal.flush()
  } catch  where !failures.contains(error) {
    terminal.error(error)
    failures.append(error)
  } catch {
    // Told already: the command met it while it wrote.
  }
  terminal.hideProgress()
  status = failures.reduce(status) { $0.combined(with: $1.status) }
  if let worst = failures.last(where: { $0.status == status && !$0.isSilent }) {
    terminal.errorObject(worst)
  }
  return status
}

private func dispatch(
  _ invocation: Invocation, _ terminal: Terminal, _ failures: inout [CommandFailure]
) throws(CommandFailure) -> ExitStatus {
  // Before anything is done: its answer could not be given.
  guard Terminal.isOpen(invocation.standardOutput) else {
    throw CommandFailure(.io, "standard output is closed")
  }
  if let index = invocation.unreadableArgument {
    throw CommandFailure(.usage, "argument \(index + 1) is not UTF-8")
  }
  switch try ParsedLine.parse(invocation.arguments) {
  case .nothing:
    terminal.aside(HelpScreen.text)
    throw CommandFailure(.usage, "no command was named", hint: "vault help")
  case .help(let command):
    try HelpCommand.show(command, terminal)
    return .ok
  case .command(let arguments):
    guard let function = Registry.function(named: arguments.command.name) else {
      throw CommandFailure(.failed, "\(arguments.command.name): not a part of this build")
    }
    terminal.vaultOptions = arguments.vaultOptions
    var context = Context(invocation, arguments, terminal)
    defer { if let worst = context.worst { failures.append(worst) } }
    do throws(CommandFailure) {
      return try function(&context)
    } catch {
      guard error.status == .ambiguous, error.hint == nil else { throw error }
      var failure = error
      failure.hint = arguments.namingAccount
      throw failure
    }
  }
}
