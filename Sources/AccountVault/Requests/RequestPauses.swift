import Accounts
import Time

/// Until when providers want to hear nothing, as they said themselves.
///
/// The word counts for all accounts of a client: the provider limits the app. It is kept in memory, for
/// as long as the session.
final class RequestPauses {
  private var until: [ClientReference: Timestamp] = [:]

  func note(_ time: Timestamp, for client: ClientReference) {
    until[client] = max(until[client] ?? time, time)
  }

  /// Seconds to wait; nil where a request may go out now. A clock that was set back makes no wait longer
  /// than what the provider said could be.
  func wait(_ client: ClientReference, now: Timestamp) -> Int64? {
    guard let time = until[client] else { return nil }
    guard now < time else {
      until[client] = nil
      return nil
    }
    return time.seconds - now.seconds
  }
}
