import HTTPTypes
import Sodium
import Synchronization

/// Gives a body that can be read once, and gives it again as long as it was short.
final class ReplayedBody: HTTPBodyReader {
  private struct State: ~Copyable, Sendable {
    var kept = SecretBytes(count: 0)
    /// Bytes of `kept` that are the body's.
    var count = 0
    /// Where the next read begins.
    var position = 0
    var isSpent = false
    /// What the reader said last, where that is for good.
    var end: HTTPBodyStep?
  }

  private let reader: any RequestBodyReader
  private let keeps: Bool
  private let state = Mutex(State())

  /// - Parameter keeps: Whether what is read is kept at all.
  init(_ reader: any RequestBodyReader, keeps: Bool) {
    self.reader = reader
    self.keeps = keeps
  }

  func onReadable(_ wake: @escaping @Sendable () -> Void) { reader.onReadable(wake) }

  func read(_ limit: Int, _ body: (RawSpan) -> Void) -> HTTPBodyStep {
    // One transfer at a time reads, and the reader takes no lock of ours.
    let again = state.withLock { state -> HTTPBodyStep? in
      guard !state.isSpent, state.position < state.count else { return state.end }
      let count = min(limit, state.count - state.position)
      let start = state.position
      state.position += count
      state.kept.withBytes { body($0.extracting(start..<start + count)) }
      return .bytes(count)
    }
    if let again { return again }
    let step = reader.read(limit) { piece in
      keep(piece)
      body(piece)
    }
    switch step {
    case .bytes(let count): return .bytes(count)
    case .notYet: return .notYet
    case .end: return finish(.end)
    case .broken: return finish(.broken)
    }
  }

  /// Begins anew.
  ///
  /// - Returns: False where what was read is not kept any more.
  func rewind() -> Bool {
    state.withLock { state in
      guard !state.isSpent else { return false }
      state.position = 0
      return true
    }
  }

  /// Whether something was read that cannot be given again.
  var isSpent: Bool { state.withLock { $0.isSpent } }

  private func finish(_ step: HTTPBodyStep) -> HTTPBodyStep {
    state.withLock { $0.end = step }
    return step
  }

  private func keep(_ piece: RawSpan) {
    state.withLock { state in
      guard !state.isSpent else { return }
      let count = state.count + piece.byteCount
      guard keeps, count <= SignedRequest.Upload.keptBytes else {
        state.isSpent = true
        state.kept = SecretBytes(count: 0)
        state.count = 0
        return
      }
      if count > state.kept.count {
        // The old place is wiped with its value.
        var larger = SecretBytes(
          count: max(count, min(SignedRequest.Upload.keptBytes, state.kept.count * 2), 4096))
        state.kept.withBytes { larger.write($0.extracting(0..<state.count), at: 0) }
        state.kept = larger
      }
      state.kept.write(piece, at: state.count)
      state.count = count
      state.position = count
    }
  }
}
