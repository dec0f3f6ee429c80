public import Accounts
import FileSystem

/// Whether the process that was asking the person is still there.
enum ProcessIdentity {
  static func isAlive(_ asker: Ask.Asker) -> Bool {
    asker.bootID == RunningProcess.bootID
      && RunningProcess.startTime(of: asker.processID) == asker.startedAt
  }
}

extension Asker {
  /// This process, as the one that waits for the person's answer.
  public static var thisProcess: Ask.Asker? {
    let number = RunningProcess.current
    guard let started = RunningProcess.startTime(of: number), let boot = RunningProcess.bootID
    else { return nil }
    return Ask.Asker(processID: number, startedAt: started, bootID: boot)
  }
}
