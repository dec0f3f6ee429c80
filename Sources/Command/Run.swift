/// Runs the command that `invocation` asks for, and returns the process's exit code as a status.
///
/// Called as `Command.run(…)`. One that needs the network is handed over to `vault-agent`, which takes
/// this process's place.
package func run(_ invocation: Invocation) -> ExitStatus {
  var run = Run(invocation)
  do throws(CommandFailure) {
    if let status = try run.askAgent() { return status }
  } catch {
    run.fail(error)
    return run.finish()
  }
  if var context = run.begin() {
    do throws(CommandFailure) {
      if context.arguments.needsNetwork { throw AgentProgram.become(invocation) }
      run.status = try perform(&context)
    } catch {
      run.fail(error, in: context)
    }
    run.leave(context)
  }
  return run.finish()
}

/// Does what the context's command does, which needs no network.
package func perform(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
  guard let function = Registry.function(named: context.arguments.command.name) else {
    throw CommandFailure(.failed, "\(context.arguments.command.name): not a part of this build")
  }
  return try function(&context)
}

/// One run of the command line, without what the command itself does: the same in both executables.
package struct Run {
  /// What the command returned.
  package var status = ExitStatus.ok
  private let invocation: Invocation
  private let terminal: Terminal
  private var failures: [CommandFailure] = []

  package init(_ invocation: Invocation) {
    self.invocation = invocation
    let words = invocation.arguments.prefix { $0 != "--" }
    terminal = Terminal(
      invocation, json: words.contains("--json"), quiet: words.contains("--quiet"),
      verbose: words.contains("--verbose"))
  }

  /// Has the agent do it (``AgentRun``); nil where this process is to.
  func askAgent() throws(CommandFailure) -> ExitStatus? {
    try AgentRun.ask(invocation, terminal)
  }

  /// Reads the command line.
  ///
  /// - Returns: What the command works with; nil where there is none to run, for help was shown or an
  ///   error was told.
  package mutating func begin() -> Context? {
    do throws(CommandFailure) {
      return try context()
    } catch {
      fail(error)
      return nil
    }
  }

  private func context() throws(CommandFailure) -> Context? {
    // Before anything is done: its answer could not be given.
    guard invocation.hosting != nil || Terminal.isOpen(invocation.standardOutput) else {
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
      return nil
    case .command(let arguments):
      terminal.vaultOptions = arguments.vaultOptions
      return Context(invocation, arguments, terminal)
    }
  }

  /// Tells what ended the command.
  package mutating func fail(_ failure: CommandFailure, in context: Context? = nil) {
    var failure = failure
    if failure.status == .ambiguous, failure.hint == nil {
      failure.hint = context?.arguments.namingAccount
    }
    terminal.error(failure)
    failures.append(failure)
  }

  /// Takes over what the command reported and went on after.
  package mutating func leave(_ context: Context) {
    if let worst = context.worst { failures.append(worst) }
  }

  /// Writes what is left to write.
  ///
  /// - Returns: The highest-ranking of all that happened.
  package mutating func finish() -> ExitStatus {
    do {
      try terminal.flush()
    } catch  where !failures.contains(error) {
      fail(error)
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
}
