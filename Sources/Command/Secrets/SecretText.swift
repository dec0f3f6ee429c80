internal import Sodium

/// A secret that stands on one line.
enum SecretText {
  /// The bytes without one newline at their end.
  ///
  /// - Throws: `usage` where nothing is left, or a newline is left: a secret is one line, and of two
  ///   the second would be dropped without a word.
  static func line(
    _ bytes: consuming SecretBytes, from name: String
  ) throws(CommandFailure) -> SecretBytes {
    var line = bytes
    let (last, newlines) = line.withBytes { span in
      var newlines = 0
      var last: UInt8 = 0
      for index in span.byteOffsets {
        // A byte has no form that it could lack, and the span checks its bounds.
        last = unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        if last == UInt8(ascii: "\n") { newlines += 1 }
      }
      return (last, newlines)
    }
    let endsInNewline = line.count > 0 && last == UInt8(ascii: "\n")
    if endsInNewline { line.truncate(to: line.count - 1) }
    if newlines > (endsInNewline ? 1 : 0) {
      throw CommandFailure(.usage, "\(name): more than one line")
    }
    if line.count == 0 { throw CommandFailure(.usage, "\(name): empty") }
    return line
  }
}
