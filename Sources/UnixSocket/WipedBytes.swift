/// Bytes that are overwritten before their memory is given back: a key, an answer with a token.
///
/// Not locked in memory: they may be swapped out. A program that only asks an agent has no more of it
/// than that.
package struct WipedBytes: ~Copyable, Sendable {
  private var buffer: WipedBuffer
  package private(set) var count = 0

  package init(capacity: Int = 1024) { buffer = WipedBuffer(capacity: max(capacity, 1)) }

  /// A copy of `bytes`, which are overwritten.
  package init(wiping bytes: inout [UInt8]) {
    self.init(capacity: bytes.count)
    append(bytes)
    for index in bytes.indices { bytes[index] = 0 }
    bytes = []
  }

  package mutating func append(_ bytes: RawSpan) {
    if count + bytes.byteCount > buffer.capacity {
      // The old place is wiped with its value.
      var larger = WipedBuffer(capacity: max(count + bytes.byteCount, buffer.capacity * 2))
      buffer.withBytes(0..<count) { larger.put($0, at: 0) }
      swap(&larger, &buffer)
    }
    buffer.put(bytes, at: count)
    count += bytes.byteCount
  }

  package mutating func append(_ bytes: [UInt8]) {
    // Whole bytes, seen as they are.
    unsafe append(bytes.span.bytes)
  }

  /// Lends the bytes.
  package func withSpan<R: ~Copyable, E: Error>(
    _ body: (Span<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    try buffer.withSpan(0..<count, body)
  }

  /// A byte of those that are there.
  package subscript(_ index: Int) -> UInt8 {
    precondition(index < count, "a byte that is there")
    return buffer[index]
  }
}
