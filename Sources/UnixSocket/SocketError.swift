/// Why a call over a Unix socket came to nothing.
package enum SocketError: Error, Equatable, Sendable {
  /// Nobody listens there: no such file, or one that a server left behind.
  case nobody
  /// The system refused, with its number (`errno`).
  case system(Int32)
  /// The path has more bytes than a socket's may, which are so many.
  case pathTooLong(limit: Int)
  /// What came is no HTTP/1.1 reply, or the connection broke in the midst of one.
  case broken
  /// The time was over before the reply was there.
  case timeout
}
