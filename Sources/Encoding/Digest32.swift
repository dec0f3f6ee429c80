/// A hash of 32 bytes. Not a secret; where it is compared, time tells nothing worth knowing.
///
/// Held as four big-endian integers, so it is compared and hashed without an array.
@frozen
package struct Digest32: Hashable, Comparable, Sendable {
  @usableFromInline let first: UInt64
  @usableFromInline let second: UInt64
  @usableFromInline let third: UInt64
  @usableFromInline let fourth: UInt64

  /// Thirty-two zero bytes, where there is nothing to hash yet.
  package static let zero = Digest32(words: [0, 0, 0, 0])

  /// - Parameter words: Eight bytes each, in order, the first byte of each most significant.
  @inlinable
  package init(words: InlineArray<4, UInt64>) {
    first = words[0]
    second = words[1]
    third = words[2]
    fourth = words[3]
  }

  /// - Precondition: Exactly 32 bytes.
  @inlinable
  package init(_ bytes: [UInt8]) {
    // Integers have no padding: every byte of the array is initialised.
    unsafe self.init(bytes.span.bytes)
  }

  /// - Precondition: Exactly 32 bytes.
  @inlinable
  package init(_ bytes: RawSpan) {
    precondition(bytes.byteCount == 32, "a digest has 32 bytes")
    // Any bit pattern is an integer, and the offsets are checked.
    unsafe self.init(words: [
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self)),
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt64.self)),
    ])
  }

  /// Nil unless `base32` is what ``base32`` writes for some digest.
  package init?(base32: String) {
    guard let bytes = try? Base32.decode(base32), bytes.count == 32 else { return nil }
    self.init(bytes)
  }

  package var bytes: [UInt8] {
    var writer = Writer(capacity: 32)
    writer.u64(first)
    writer.u64(second)
    writer.u64(third)
    writer.u64(fourth)
    return writer.bytes
  }

  /// Fifty-two characters.
  package var base32: String { Base32.encode(bytes) }

  @inlinable
  package static func < (left: Digest32, right: Digest32) -> Bool {
    (left.first, left.second, left.third, left.fourth)
      < (right.first, right.second, right.third, right.fourth)
  }

  /// Lends the 32 bytes without allocating.
  @inlinable
  package func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let words: InlineArray<4, UInt64> = [
      first.bigEndian, second.bigEndian, third.bigEndian, fourth.bigEndian,
    ]
    // Integers have no padding: every byte lent is initialised, and the span ends with the call.
    return try unsafe body(words.span.bytes)
  }
}
