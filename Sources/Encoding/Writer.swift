/// Writes values in the vault's fixed binary form: big-endian integers, and byte strings preceded
/// by their length as an unsigned 32-bit integer.
///
/// Every variable part carries its length, so two different sequences of values never give the
/// same bytes. That matters where the result is associated data or the input of a hash: nobody can
/// move a byte from one part to its neighbour.
package struct Writer: Sendable {
  /// What has been written so far.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// - Parameter capacity: The number of bytes to make room for at once.
  package init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  package mutating func u8(_ value: UInt8) {
    bytes.append(value)
  }

  package mutating func u16(_ value: UInt16) {
    integer(value)
  }

  package mutating func u32(_ value: UInt32) {
    integer(value)
  }

  package mutating func u64(_ value: UInt64) {
    integer(value)
  }

  /// Two's complement.
  package mutating func i64(_ value: Int64) {
    integer(UInt64(bitPattern: value))
  }

  /// - Precondition: Fewer than 2^32 bytes.
  package mutating func field(_ value: [UInt8]) {
    u32(UInt32(value.count))
    bytes.append(contentsOf: value)
  }

  /// - Precondition: Fewer than 2^32 bytes.
  package mutating func field(_ value: RawSpan) {
    u32(UInt32(value.byteCount))
    raw(value)
  }

  /// UTF-8 as the string has it: no normalisation, so what is read back is the same text.
  ///
  /// - Precondition: Fewer than 2^32 bytes.
  package mutating func field(_ text: String) {
    u32(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// A flag byte, 0 or 1, then the text if there is one.
  package mutating func optional(_ text: String?) {
    guard let text else { return u8(0) }
    u8(1)
    field(text)
  }

  /// A flag byte, 0 or 1, then the integer if there is one.
  package mutating func optional(_ value: Int64?) {
    guard let value else { return u8(0) }
    u8(1)
    i64(value)
  }

  /// The count as an unsigned 32-bit integer, then each text as a field.
  package mutating func list(_ texts: [String]) {
    u32(UInt32(texts.count))
    for text in texts { field(text) }
  }

  /// Bytes of a length that the reader knows; no length is written.
  package mutating func raw(_ value: [UInt8]) {
    bytes.append(contentsOf: value)
  }

  /// Bytes of a length that the reader knows; no length is written.
  package mutating func raw(_ value: RawSpan) {
    unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  /// Sixteen bytes, no length.
  package mutating func key(_ value: Key16) {
    value.withBytes { raw($0) }
  }

  /// Thirty-two bytes, no length.
  package mutating func digest(_ value: Digest32) {
    value.withBytes { raw($0) }
  }

  private mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
    var shift = Value.bitWidth - 8
    while shift >= 0 {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
      shift -= 8
    }
  }
}
