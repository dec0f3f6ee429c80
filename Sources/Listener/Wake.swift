internal import CMicroHTTPD
internal import Glibc

/// A descriptor that becomes readable for good when it was signalled.
final class Wake: Sendable {
  let descriptor: Int32

  init() throws(ListenerError) {
    descriptor = vault_wake_open()
    guard descriptor >= 0 else { throw .system(errno) }
  }

  deinit { close(descriptor) }

  func signal() {
    // The counter holds far more signals than ever come, so this cannot fail.
    vault_wake(descriptor)
  }
}
