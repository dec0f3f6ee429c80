package import Command

/// Runs the command that `invocation` asks for, whether it needs the network or not, and returns the
/// process's exit code as a status.
///
/// Called as `NetworkCommand.run(…)`. It hands nothing over to another executable.
///
/// - Parameter agent: What `vault agent` does, which stands above this part.
package func run(
  _ invocation: Invocation, serving agent: @escaping NetworkCommandFunction
) async -> ExitStatus {
  var invocation = invocation
  // It starts no other in its place, whatever it is called.
  invocation.executable = nil
  do throws(CommandFailure) {
    try invocation.takeInheritedKey()
  } catch {
    return refuse(error, invocation)
  }
  var run = Run(invocation)
  if var context = run.begin() {
    do throws(CommandFailure) {
      run.status = try await perform(&context, serving: agent)
    } catch {
      run.fail(error, in: context)
    }
    run.leave(context)
  }
  return run.finish()
}

private func perform(
  _ context: inout Context, serving agent: NetworkCommandFunction
) async throws(CommandFailure) -> ExitStatus {
  guard context.arguments.needsNetwork else { return try Command.perform(&context) }
  let name = context.arguments.command.name
  if name == "agent" { return try await agent(&context) }
  guard let function = Registry.function(named: name) else {
    throw CommandFailure(.failed, "\(name): not a part of this build")
  }
  return try await function(&context)
}

private func refuse(_ failure: CommandFailure, _ invocation: Invocation) -> ExitStatus {
  var run = Run(invocation)
  run.fail(failure)
  return run.finish()
}
