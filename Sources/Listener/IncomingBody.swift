internal import Synchronization
internal import Time

/// The body of a request while it comes, read piece by piece by one reader. What nobody has read yet is
/// bounded: the client waits meanwhile.
package final class IncomingBody: Sendable {
  /// What a read gave.
  package enum Step: Sendable, Equatable {
    /// So many bytes.
    case bytes(Int)
    /// None yet; the reader is called when there are.
    case notYet
    /// The body is whole, and all of it was read.
    case end
    /// The client went away or was cut off, or the body was dropped.
    case broken
  }

  private enum Progress { case open, whole, broken }

  private struct State: ~Copyable, Sendable {
    /// Made when the first bytes come.
    var ring: ByteRing?
    var progress = Progress.open
    var isWanted = false
    var isDropped = false
    var waits = false
    var wake: (@Sendable () -> Void)?
  }

  /// Bytes that are kept unread.
  static let capacity = 64 << 10

  /// In bytes, as it was announced; nil where it comes in chunks.
  package let length: Int64?

  private let state = Mutex(State())
  private let bell: Doorbell

  init(length: Int64?, _ bell: Doorbell) {
    self.length = length
    self.bell = bell
  }

  // MARK: The reader

  /// Whom to call when there is something to read again, on any thread, once for each
  /// ``Step/notYet``.
  package func onReadable(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// Lends the next bytes, `limit` of them at most. With the first read the client is told to send
  /// them (`100 Continue`), where it waits for that.
  package func read(_ limit: Int, _ body: (RawSpan) -> Void) -> Step {
    let (step, rings) = state.withLock { state -> (Step, Bool) in
      guard !state.isDropped else { return (.broken, false) }
      let isFirst = !state.isWanted
      state.isWanted = true
      let count = state.ring?.take(limit, body) ?? 0
      if count > 0 { return (.bytes(count), true) }
      switch state.progress {
      case .whole: return (.end, false)
      case .broken: return (.broken, false)
      case .open:
        state.waits = true
        return (.notYet, isFirst)
      }
    }
    if rings { bell.ring() }
    return step
  }

  /// Reads no more. What still comes is dropped, for as long as a body may stand still; then the client
  /// is cut off.
  package func drop() {
    state.withLock { state in
      state.isDropped = true
      state.ring = nil
      state.wake = nil
    }
    bell.ring()
  }

  // MARK: The connection's thread

  /// Whether somebody has begun to read.
  var isWanted: Bool { state.withLock { $0.isWanted || $0.isDropped } }

  var isDropped: Bool { state.withLock { $0.isDropped } }

  /// Takes as much as there is room for.
  ///
  /// - Returns: How many bytes; all of them where they are dropped.
  func offer(_ bytes: RawSpan) -> Int {
    let (taken, wake) = state.withLock { state -> (Int, (@Sendable () -> Void)?) in
      guard !state.isDropped else { return (bytes.byteCount, nil) }
      if state.ring == nil { state.ring = ByteRing(capacity: Self.capacity) }
      let taken = min(bytes.byteCount, state.ring?.room ?? 0)
      guard taken > 0 else { return (0, nil) }
      state.ring?.append(bytes.extracting(0..<taken))
      return (taken, Self.wake(&state))
    }
    wake?()
    return taken
  }

  /// No more comes. The first call counts.
  func finish(isWhole: Bool) {
    let wake = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.progress == .open else { return nil }
      state.progress = isWhole ? .whole : .broken
      return Self.wake(&state)
    }
    wake?()
  }

  private static func wake(_ state: inout State) -> (@Sendable () -> Void)? {
    guard state.waits else { return nil }
    state.waits = false
    return state.wake
  }
}
