import Glibc

/// Points at which a test build can be killed, so that what a crash leaves behind is looked at. A
/// release build does not know them.
package enum StopPoint {
  /// Ends this process by SIGKILL where `VAULT_STOP_AT` names this point.
  @inline(__always)
  package static func reach(_ name: StaticString) {
    #if DEBUG
      if let wanted = Environment.value("VAULT_STOP_AT"), wanted == name.description {
        kill(getpid(), SIGKILL)
        // The signal is delivered before this returns to anything else.
        while true { pause() }
      }
    #endif
  }
}
