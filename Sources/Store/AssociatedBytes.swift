import Encoding

/// Associated data of at most 64 bytes, put together on the stack: there is one for every row that
/// is read, and an array of its own would cost as much as a look-up.
struct AssociatedBytes {
  private var bytes = InlineArray<64, UInt8>(repeating: 0)
  private var count = 0

  init(_ label: StaticString) {
    // The label lies in the program, for as long as it runs.
    for place in 0..<label.utf8CodeUnitCount { unsafe u8(label.utf8Start[place]) }
  }

  mutating func u8(_ value: UInt8) {
    bytes[count] = value
    count += 1
  }

  mutating func u64(_ value: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) {
      u8(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  mutating func key(_ value: Key16) {
    u64(value.high)
    u64(value.low)
  }

  /// A copy on the heap, for where time does not count.
  var array: [UInt8] { (0..<count).map { bytes[$0] } }

  /// Lends what was written.
  func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Bytes have no padding, and the span ends with the call.
    try unsafe body(bytes.span.bytes.extracting(0..<count))
  }
}
