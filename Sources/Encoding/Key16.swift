/// Sixteen bytes that name a row: random, or a keyed hash of what is looked up. Not a secret.
///
/// Held as two big-endian integers, so it is compared and hashed without an array, and its order
/// is the order of its bytes, as SQLite orders blobs.
@frozen
package struct Key16: Hashable, Comparable, Sendable {
  /// Bytes 0 to 7, the first one most significant.
  package let high: UInt64
  /// Bytes 8 to 15.
  package let low: UInt64

  @inlinable
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// - Precondition: Exactly 16 bytes.
  @inlinable
  package init(_ bytes: [UInt8]) {
    // Integers have no padding: every byte of the array is initialised.
    unsafe self.init(bytes.span.bytes)
  }

  /// - Precondition: Exactly 16 bytes.
  @inlinable
  package init(_ bytes: RawSpan) {
    precondition(bytes.byteCount == 16, "a key has 16 bytes")
    // Any bit pattern is an integer, and the offsets are checked.
    unsafe self.init(
      high: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      low: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// Nil unless `base32` is what ``base32`` writes for some key.
  package init?(base32: String) {
    guard let bytes = try? Base32.decode(base32), bytes.count == 16 else { return nil }
    self.init(bytes)
  }

  package var bytes: [UInt8] {
    var writer = Writer(capacity: 16)
    writer.u64(high)
    writer.u64(low)
    return writer.bytes
  }

  /// Twenty-six characters.
  package var base32: String { Base32.encode(bytes) }

  @inlinable
  package static func < (left: Key16, right: Key16) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// Lends the 16 bytes without allocating.
  @inlinable
  package func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let words: InlineArray<2, UInt64> = [high.bigEndian, low.bigEndian]
    // Integers have no padding: every byte lent is initialised, and the span ends with the call.
    return try unsafe body(words.span.bytes)
  }
}

/// A hash of sixteen bytes.
package typealias Digest16 = Key16
