import FileSystem
import Foundation
import Testing

@Suite struct `A hardened process` {
  @Test func `dumps no core, cannot be traced, and outlives SIGPIPE and SIGXFSZ`() async {
    await #expect(processExitsWith: .success) {
      guard ProcessHardening.isDumpable else { exit(1) }
      guard ProcessHardening.apply(), ProcessHardening.apply() else { exit(2) }
      guard !ProcessHardening.isDumpable else { exit(3) }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      guard limit.rlim_cur == 0 else { exit(4) }
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      close(ends[0])
      guard write(ends[1], "x", 1) == -1, errno == EPIPE else { exit(5) }
      kill(getpid(), SIGXFSZ)
      exit(0)
    }
  }

  @Test func `gives its children the core limit and the signals back`() async {
    await #expect(processExitsWith: .success) {
      var before = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &before)
      before.rlim_cur = min(before.rlim_max, 4096)
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &before)
      signal(SIGPIPE, SIG_DFL)
      ProcessHardening.apply()
      var now = rlimit()
      ProcessHardening.withChildLimits {
        _ = getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &now)
      }
      guard now.rlim_cur == before.rlim_cur else { exit(2) }
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &now)
      guard now.rlim_cur == 0 else { exit(3) }
      ProcessHardening.restore()
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &now)
      guard now.rlim_cur == before.rlim_cur else { exit(4) }
      var action = sigaction()
      sigaction(SIGPIPE, nil, &action)
      exit(action.__sigaction_handler.sa_handler == nil ? 0 : 5)
    }
  }

  @Test func `reads its environment as UTF-8 or not at all`() async {
    await #expect(processExitsWith: .success) {
      setenv("VAULT_TEST", "grüße", 1)
      guard Environment.value("VAULT_TEST") == "grüße" else { exit(2) }
      setenv("VAULT_TEST", "", 1)
      guard Environment.value("VAULT_TEST") == "" else { exit(3) }
      let bytes: [CChar] = [0x61, -1, 0]
      setenv("VAULT_TEST", bytes, 1)
      guard Environment.value("VAULT_TEST") == nil else { exit(4) }
      unsetenv("VAULT_TEST")
      exit(Environment.value("VAULT_TEST") == nil ? 0 : 5)
    }
  }
}
