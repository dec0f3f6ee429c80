import Dispatch
import Testing

/// Runs tests on threads of their own.
///
/// Tests that wait for a process hold a thread for as long. On the few that all tasks share, an
/// asynchronous client beside them would not get to send its request before the agent gives up waiting
/// for it.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    static let shared = Executor()
    private let queue = DispatchQueue(label: "OwnThreads", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Executor.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  static var ownThreads: OwnThreads { OwnThreads() }
}
