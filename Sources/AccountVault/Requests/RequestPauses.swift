import Accounts
import Synchronization
import Time

/// Until when providers want to hear nothing, as they said themselves.
///
/// The word counts for all accounts of a client: the provider limits the app. It is kept in memory, for
/// as long as the session, and the sessions of one pool share it.
final class RequestPauses: Sendable {
  private let until = Mutex<[ClientReference: Timestamp]>([:])

  func note(_ time: Timestamp, for client: ClientReference) {
    until.withLock { $0[client] = max($0[client] ?? time, time) }
  }

  /// Seconds to wait; nil where a request may go out now. A clock that was set back makes no wait longer
  /// than what the provider said could be.
  func wait(_ client: ClientReference, now: Timestamp) -> Int64? {
    until.withLock { until in
      guard let time = until[client] else { return nil }
      guard now < time else {
        until[client] = nil
        return nil
      }
      return time.seconds - now.seconds
    }
  }
}
