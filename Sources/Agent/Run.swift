package import Command
internal import NetworkCommand

/// Runs the command that `invocation` asks for; without one it serves, as `vault agent` does.
///
/// Called as `Agent.run(…)`.
package func run(_ invocation: Invocation) async -> ExitStatus {
  var invocation = invocation
  if invocation.arguments.isEmpty { invocation.arguments = ["agent"] }
  return await NetworkCommand.run(invocation, serving: AgentCommand.run)
}
