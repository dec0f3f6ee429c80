internal import CMicroHTTPD
internal import Glibc

/// Wakes the thread of a connection while it waits, and tells it that its client has gone.
final class Doorbell: Sendable {
  private let descriptor: Int32

  init() throws(ListenerError) {
    descriptor = vault_wake_open()
    guard descriptor >= 0 else { throw .system(errno) }
  }

  deinit { close(descriptor) }

  /// May be called by any thread, and more often than anybody waits.
  func ring() {
    // The counter holds far more than ever come, so this cannot fail.
    vault_wake(descriptor)
  }

  enum Wakening { case rung, hungUp, late }

  /// Waits until it rings, or has rung since the last wait, or until both ways of `connection` are
  /// closed. A client that only writes no more has not gone: it waits for its answer.
  ///
  /// - Parameter milliseconds: At most; -1 for no end.
  func wait(_ connection: Int32, milliseconds: Int64) -> Wakening {
    var watched = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: connection, events: 0, revents: 0),
    ]
    var count: Int32
    repeat {
      // The kernel writes into our own array.
      count = unsafe poll(&watched, 2, Int32(clamping: milliseconds))
    } while count < 0 && errno == EINTR
    if watched[0].revents != 0 { vault_wake_clear(descriptor) }
    // It says so for as long as it is so.
    if watched[1].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { return .hungUp }
    return count == 0 ? .late : .rung
  }
}
