/// One look over a text before SQLite parses it: it finds what SQLite would take and this program
/// does not, and where the numbers stand.
///
/// It does not judge the grammar. It takes one pass and no recursion, whatever the text is.
enum JSONScan {
  /// Where each number stands in `text`, in order.
  ///
  /// - Throws: ``JSONError/tooDeep`` before anything recurses over the text, and
  ///   ``JSONError/malformed(_:)`` for bytes that are not UTF-8, for NUL, written or escaped (a C
  ///   library would see the text end there), and for half of a surrogate pair (no Unicode text has
  ///   it, and readers differ on what it means).
  static func numbers(
    in text: RawSpan, maximumDepth: Int
  ) throws(JSONError) -> [Range<Int>] {
    try unsafe text.withUnsafeBytes { bytes throws(JSONError) in
      let bytes = unsafe Span<UInt8>(
        _unsafeElements: bytes.assumingMemoryBound(to: UInt8.self))
      do {
        _ = try UTF8Span(validating: bytes)
      } catch {
        throw .malformed("not UTF-8")
      }
      return try numbers(in: bytes, maximumDepth)
    }
  }

  private static func numbers(
    in text: Span<UInt8>, _ maximumDepth: Int
  ) throws(JSONError) -> [Range<Int>] {
    var numbers: [Range<Int>] = []
    var depth = 0
    var index = 0
    while index < text.count {
      switch text[index] {
      case 0:
        throw .malformed("a NUL byte")
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth > maximumDepth { throw .tooDeep }
        index += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        index += 1
      case UInt8(ascii: "\""):
        try skipString(in: text, &index)
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        let start = index
        repeat { index += 1 } while index < text.count && isNumberByte(text[index])
        numbers.append(start..<index)
      default:
        index += 1
      }
    }
    return numbers
  }

  private static func isNumberByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "+"), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default:
      false
    }
  }

  /// Moves `index` from a string's first quotation mark to after its last.
  private static func skipString(in text: Span<UInt8>, _ index: inout Int) throws(JSONError) {
    index += 1
    while index < text.count {
      switch text[index] {
      case 0:
        throw .malformed("a NUL byte")
      case UInt8(ascii: "\""):
        index += 1
        return
      case UInt8(ascii: "\\"):
        try skipEscape(in: text, &index)
      default:
        index += 1
      }
    }
    throw .malformed("a string without an end")
  }

  /// Moves `index` from a backslash to after its escape, a whole surrogate pair at once.
  private static func skipEscape(in text: Span<UInt8>, _ index: inout Int) throws(JSONError) {
    guard let unit = unit(in: text, at: index) else {
      // A short escape; one that does not exist is SQLite's to refuse.
      index += 2
      return
    }
    index += 6
    switch unit {
    case 0:
      throw .malformed("an escaped NUL")
    case 0xD800...0xDBFF:
      guard let low = self.unit(in: text, at: index), (0xDC00...0xDFFF).contains(low) else {
        throw .malformed("half of a surrogate pair")
      }
      index += 6
    case 0xDC00...0xDFFF:
      throw .malformed("half of a surrogate pair")
    default:
      break
    }
  }

  /// The value of `\uXXXX` at `index`; nil when something else stands there.
  private static func unit(in text: Span<UInt8>, at index: Int) -> UInt16? {
    guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"),
      text[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var value: UInt16 = 0
    for position in index + 2..<index + 6 {
      guard let digit = hexDigit(text[position]) else { return nil }
      value = value << 4 | digit
    }
    return value
  }

  private static func hexDigit(_ byte: UInt8) -> UInt16? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
