package import Sodium
internal import Synchronization

/// What a run writes, kept in memory that is wiped, for another process that writes it: each piece with
/// where it goes, in their order, so that both streams keep it where they lead to the same place.
///
/// Bytes: `o` for standard output or `e` for standard error, the length as an unsigned big-endian
/// 32-bit integer, the piece; and so on. ``pieces(of:_:)`` reads it.
package final class OutputRecord: Sendable {
  /// Where a piece goes.
  package enum Stream: UInt8, Sendable {
    case output = 0x6f
    case error = 0x65
  }

  private struct State: ~Copyable {
    var line = SecretLine()
    var count = 0
    var isFull = false
  }

  private static let headCount = 5
  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: Most bytes that are kept. What comes after is not, and ``isFull`` is true.
  package init(limit: Int) { self.limit = limit }

  /// Whether more was written than is kept.
  package var isFull: Bool { state.withLock { $0.isFull } }

  func write(_ bytes: RawSpan, to stream: Stream) {
    guard bytes.byteCount > 0 else { return }
    state.withLock { state in
      guard !state.isFull, bytes.byteCount <= limit - state.count - Self.headCount else {
        state.isFull = true
        return
      }
      state.count += bytes.byteCount + Self.headCount
      state.line.add(stream.rawValue)
      for shift in [24, 16, 8, 0] {
        state.line.add(UInt8(truncatingIfNeeded: bytes.byteCount >> shift))
      }
      state.line.add(bytes)
    }
  }

  /// All that was written. Nothing is left here then.
  package func take() -> SecretBytes {
    state.withLock { state in
      var taken = State()
      swap(&taken, &state)
      return taken.line.finish()
    }
  }

  /// Hands each piece of a record to `receive`, in their order.
  ///
  /// - Returns: False where the bytes are no record; what stands before the fault was handed out.
  package static func pieces<E: Error>(
    of record: RawSpan, _ receive: (Stream, RawSpan) throws(E) -> Void
  ) throws(E) -> Bool {
    var place = 0
    while place < record.byteCount {
      guard record.byteCount - place >= headCount,
        let stream = Stream(rawValue: byte(place, of: record))
      else { return false }
      var count = 0
      for offset in 1..<headCount { count = count << 8 | Int(byte(place + offset, of: record)) }
      place += headCount
      guard count <= record.byteCount - place else { return false }
      try receive(stream, record.extracting(place..<place + count))
      place += count
    }
    return true
  }

  private static func byte(_ index: Int, of span: RawSpan) -> UInt8 {
    // A byte has no form that it could lack, and the span checks its bounds.
    unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }
}
