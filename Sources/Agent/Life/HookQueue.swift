internal import Command
internal import Dispatch

/// Runs the owner's hooks one after the other on a thread of its own: a hook may take half a minute,
/// and neither renewals nor requests wait for it.
final class HookQueue: Sendable {
  private let queue = DispatchQueue(label: "hooks")
  private let invocation: Invocation
  private let log: Log
  private let metrics: Metrics

  /// - Parameter invocation: Its environment is the hooks', but for what is between the agent and its
  ///   service manager.
  init(_ invocation: Invocation, _ log: Log, _ metrics: Metrics) {
    var invocation = invocation
    invocation.environment = invocation.environment.without(
      ServiceManager.variables + ["CREDENTIALS_DIRECTORY"])
    self.invocation = invocation
    self.log = log
    self.metrics = metrics
  }

  func run(_ name: String, _ line: String) {
    queue.async { [self] in
      do throws(CommandFailure) {
        guard let hook = try Hook(name, invocation) else { return }
        guard let trouble = hook.run(line, invocation) else { return }
        tell(name, trouble)
      } catch {
        tell(name, error.message)
      }
    }
  }

  private func tell(_ name: String, _ trouble: String) {
    metrics.count(.hookFailure)
    log.warning("a hook failed", ["hook": name, "reason": trouble])
  }
}
