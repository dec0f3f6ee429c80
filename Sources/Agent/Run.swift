package import Command
internal import NetworkCommand

/// Runs the command that `invocation` asks for; without one it serves, as `vault agent` does.
///
/// Called as `Agent.run(…)`.
package func run(_ invocation: Invocation) async -> ExitStatus {
  var invocation = invocation
  let background = Background.take(&invocation)
  if invocation.arguments.isEmpty { invocation.arguments = ["agent"] }
  return await NetworkCommand.run(invocation) { context throws(CommandFailure) in
    try AgentCommand.run(&context, background)
  }
}
