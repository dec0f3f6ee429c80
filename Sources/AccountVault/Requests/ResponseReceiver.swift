/// Who is handed the answer to a signed request while it comes.
///
/// Called on a thread of the network's, in order, never at the same time: once ``begin(status:headers:)``,
/// then the body's pieces. A success is handed out as it comes, but for providers whose definitions say
/// that it may hold an error: of its text the first 16 KiB are looked at before. A try that is followed
/// by another (after a renewal, after a wait) hands out nothing.
public protocol ResponseReceiver: Sendable {
  /// Status and headers of the answer, before any of the body.
  func begin(status: Int, headers: [(name: String, value: String)])

  /// The next piece of the body; the memory is lent for the time of the call.
  ///
  /// - Returns: False to end the transfer.
  func receive(_ piece: RawSpan) -> Bool

  /// Whether it lets the answer wait, by ``hasRoom(for:orCall:)``.
  var mayPause: Bool { get }

  /// Whether ``receive(_:)`` can take so many bytes now. Where not, the transfer waits until `wake` is
  /// called, once and on any thread. Asked only of one that ``mayPause``; what was kept to be looked at
  /// comes whether there is room or not.
  func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool

  /// How far both ways are, in bytes; totals are nil where they are not known. Of a try that is
  /// followed by another too.
  func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?)
}

extension ResponseReceiver {
  public var mayPause: Bool { false }

  public func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool { true }

  public func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?) {}
}
