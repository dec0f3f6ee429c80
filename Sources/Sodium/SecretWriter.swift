/// Writes secrets in one sequence of fields, to be sealed together: a tag of one byte, the length as
/// an unsigned big-endian 32-bit integer, the bytes. Tags ascend, so that the same fields always
/// give the same bytes. ``SecretFields`` reads it.
package struct SecretWriter: ~Copyable {
  private var buffer: SecretBytes
  private var last: UInt8?

  /// - Parameter capacity: The bytes to make room for at once. More are taken where needed.
  package init(capacity: Int) {
    buffer = SecretBytes(count: capacity)
    buffer.truncate(to: 0)
  }

  /// - Precondition: `tag` is greater than the one before, and `value` has fewer than 2^32 bytes.
  package mutating func field(_ tag: UInt8, _ value: borrowing SecretBytes) {
    value.withBytes { field(tag, $0) }
  }

  /// - Precondition: `tag` is greater than the one before, and `value` has fewer than 2^32 bytes.
  package mutating func field(_ tag: UInt8, _ value: RawSpan) {
    precondition(last.map { $0 < tag } ?? true, "the tags of fields ascend")
    last = tag
    let length = UInt32(value.byteCount)
    let place = buffer.count
    buffer.extend(to: place + SecretFields.headerCount + value.byteCount)
    // The buffer was just made long enough; it owns the memory.
    unsafe buffer.start.storeBytes(of: tag, toByteOffset: place, as: UInt8.self)
    unsafe buffer.start.storeBytes(
      of: length.bigEndian, toByteOffset: place + 1, as: UInt32.self)
    unsafe value.lend { start, count in
      unsafe (buffer.start + place + SecretFields.headerCount).copyMemory(
        from: start, byteCount: count)
    }
  }

  package consuming func finish() -> SecretBytes {
    buffer
  }
}
