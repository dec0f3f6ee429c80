internal import CSystem
import Glibc
import Synchronization

/// What a process that holds keys denies to others and to accidents.
package enum ProcessHardening {
  /// What ``apply()`` changed and a child shall not inherit.
  private struct Changed {
    var coreLimit: rlimit?
    var signals: [Int32] = []
  }

  private static let changed = Mutex(Changed())

  /// Signals that ``apply()`` ignores: a write to a closed pipe and a write beyond the file-size limit
  /// become errors instead of the end of the process.
  package static let ignoredSignals: [Int32] = [SIGPIPE, SIGXFSZ]

  /// No core dump, no ptrace by the same user, no death by SIGPIPE or SIGXFSZ. Once at start.
  ///
  /// - Returns: False when the kernel refused a part of it; the rest holds.
  @discardableResult
  package static func apply() -> Bool {
    var isComplete = vault_not_dumpable() == 0
    changed.withLock { changed in
      var limit = rlimit()
      if unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 {
        if changed.coreLimit == nil { changed.coreLimit = limit }
        isComplete = setCoreLimit(rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)) && isComplete
      } else {
        isComplete = false
      }
      for signal in ignoredSignals {
        switch vault_ignore_signal(signal) {
        case 1: changed.signals.append(signal)
        case 0: break
        default: isComplete = false
        }
      }
    }
    return isComplete
  }

  /// Whether another process of the same user could read this one's memory, and a crash write it to
  /// a file.
  package static var isDumpable: Bool { vault_is_dumpable() == 1 }

  /// Puts limits and signals back as ``apply()`` found them, right before this process becomes another
  /// program by execve, which sets the dumpable flag anew by itself.
  package static func restore() {
    changed.withLock { changed in
      if let limit = changed.coreLimit { _ = setCoreLimit(limit) }
      for signal in changed.signals { _ = vault_default_signal(signal) }
      changed = Changed()
    }
  }

  /// Runs `spawn` with the core limit that ``apply()`` found, for a child made in it by posix_spawn.
  ///
  /// This process still dumps no core meanwhile: it is not dumpable. The child's signals are set by
  /// the spawn attributes, from ``ignoredSignals``.
  package static func withChildLimits<R, E: Error>(_ spawn: () throws(E) -> R) throws(E) -> R {
    let limit = changed.withLock { $0.coreLimit }
    if let limit { _ = setCoreLimit(limit) }
    defer {
      if let limit { _ = setCoreLimit(rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)) }
    }
    return try spawn()
  }

  private static func setCoreLimit(_ limit: rlimit) -> Bool {
    var limit = limit
    return unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
  }
}
