/// Bytes from outside on their way to a terminal: what would steer it is spelled out, so that an answer
/// cannot move the cursor, set the title or put keys into the shell's next line.
///
/// Text in UTF-8, line breaks and tabs stay as they are. Only a terminal gets this: a pipe and a file get
/// the bytes themselves.
package struct VisibleBytes: Sendable {
  /// Whether the last byte was the first half of a control character of two bytes, U+0080 to U+009F.
  private var isAfterC2 = false

  package init() {}

  /// The next piece as it may be shown.
  package mutating func shown(_ piece: RawSpan) -> [UInt8] {
    var shown: [UInt8] = []
    shown.reserveCapacity(piece.byteCount)
    for offset in 0..<piece.byteCount {
      // A byte has no invalid form, and the offset is inside.
      let byte = unsafe piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if isAfterC2 {
        isAfterC2 = false
        if (0x80...0x9F).contains(byte) {
          spell(byte, into: &shown)
          continue
        }
        shown.append(0xC2)
      }
      switch byte {
      case 0xC2: isAfterC2 = true
      case 9, 10, 13, 0x20...0x7E, 0x80...: shown.append(byte)
      default: spell(byte, into: &shown)
      }
    }
    return shown
  }

  private func spell(_ byte: UInt8, into shown: inout [UInt8]) {
    shown += Array("\\u{\(String(byte, radix: 16, uppercase: true))}".utf8)
  }
}
