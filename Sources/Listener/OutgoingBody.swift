internal import CMicroHTTPD
internal import Synchronization

/// The body of an answer while it is made. Who makes it never waits: it asks whether there is room, and
/// is called when there is some again.
package final class OutgoingBody: Sendable {
  private enum Progress { case open, whole, broken }

  private struct State: ~Copyable, Sendable {
    var ring: ByteRing?
    var progress = Progress.open
    var isAbandoned = false
    var wake: (@Sendable () -> Void)?
  }

  /// Bytes that wait to be sent; a single piece may be larger.
  static let capacity = 64 << 10

  /// In bytes, for `Content-Length`; nil where it is not known, and the body goes in chunks.
  package let length: Int64?

  private let state = Mutex(State())
  private let bell: Doorbell

  /// - Throws: ``ListenerError`` where the process has no descriptor left.
  package init(length: Int64? = nil) throws(ListenerError) {
    self.length = length
    bell = try Doorbell()
  }

  // MARK: Who makes it

  /// Whether so many bytes can be written now. Where not, `wake` is called once there is room, on any
  /// thread.
  package func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.isAbandoned { return true }
      let held = state.ring?.count ?? 0
      if held == 0 || held + count <= Self.capacity { return true }
      state.wake = wake
      return false
    }
  }

  /// Takes the next bytes, all of them.
  ///
  /// - Returns: False where nobody is there to get them.
  @discardableResult package func write(_ bytes: RawSpan) -> Bool {
    let isTaken = state.withLock { state in
      guard !state.isAbandoned, state.progress == .open else { return false }
      if state.ring == nil { state.ring = ByteRing(capacity: Self.capacity) }
      state.ring?.append(bytes)
      return true
    }
    if isTaken { bell.ring() }
    return isTaken
  }

  /// That was all of it. The first call of ``finish()`` and ``fail()`` counts.
  package func finish() { end(.whole) }

  /// There is no more to come although it is not whole: the connection ends, so that nobody takes it for
  /// the whole.
  package func fail() { end(.broken) }

  private func end(_ progress: Progress) {
    state.withLock { state in
      if state.progress == .open { state.progress = progress }
    }
    bell.ring()
  }

  // MARK: The connection's thread

  private enum Step { case bytes(Int), end, broken, wait }

  /// Writes the next bytes, and waits for them.
  ///
  /// - Returns: How many; `MHD_CONTENT_READER_END_OF_STREAM` (-1) behind the last, and
  ///   `MHD_CONTENT_READER_END_WITH_ERROR` (-2) where it broke off or the client has gone.
  func fill(_ target: UnsafeMutableRawBufferPointer, _ connection: Int32) -> Int {
    while true {
      let (step, wake) = state.withLock { state -> (Step, (@Sendable () -> Void)?) in
        let count =
          state.ring?.take(target.count) { bytes in
            unsafe bytes.withUnsafeBytes { bytes in unsafe target.copyMemory(from: bytes) }
          } ?? 0
        if count > 0 {
          // Half empty: else each piece that is sent would wake somebody.
          guard (state.ring?.count ?? 0) <= Self.capacity / 2 else { return (.bytes(count), nil) }
          defer { state.wake = nil }
          return (.bytes(count), state.wake)
        }
        switch state.progress {
        case .whole: return (.end, nil)
        case .broken: return (.broken, nil)
        case .open: return (.wait, nil)
        }
      }
      wake?()
      switch step {
      case .bytes(let count): return count
      case .end: return -1
      case .broken: return -2
      case .wait: if bell.wait(connection, milliseconds: -1) == .hungUp { return -2 }
      }
    }
  }

  /// Nobody takes any more of it.
  func abandon() {
    let wake = state.withLock { state in
      state.isAbandoned = true
      state.ring = nil
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }
}
