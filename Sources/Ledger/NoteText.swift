import Encoding
import Sodium

/// The pieces that the text forms of this part share. All of them work on bytes: two texts that
/// Swift calls equal (canonical equivalence) may be different names to another reader.
enum NoteText {
  static let newline = UInt8(ascii: "\n")

  /// Decimal digits without sign or leading zero, at most 2^63 − 1.
  static func number(_ text: some StringProtocol) -> UInt64? {
    let digits = text.utf8
    guard let first = digits.first, digits.count <= 19,
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      first != UInt8(ascii: "0") || digits.count == 1,
      let number = UInt64(text), number <= UInt64(Int64.max)
    else { return nil }
    return number
  }

  /// A SHA-256 hash in padded base64.
  static func digest(_ text: some StringProtocol) -> Digest32? {
    guard text.utf8.count == 44, let bytes = Base64.decode(String(text)), bytes.count == 32
    else { return nil }
    return Digest32(bytes)
  }

  /// Whether `text` may name a key (C2SP signed-note, "Format"): not empty, without Unicode spaces,
  /// control characters and plus, which separate the parts of a signature line or of a key's text.
  static func isKeyName(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && $0 != "+" && !$0.properties.isWhitespace
      }
  }

  static func same(_ a: some StringProtocol, _ b: some StringProtocol) -> Bool {
    a.utf8.elementsEqual(b.utf8)
  }

  /// The lines of a text in which every line ends with a newline, or nil where the last does not.
  static func lines(_ text: some StringProtocol) -> [Substring]? {
    let bytes = Array(text.utf8)
    guard bytes.last == newline else { return nil }
    return bytes.dropLast().split(separator: newline, omittingEmptySubsequences: false)
      .map { Substring(decoding: $0, as: UTF8.self) }
  }
}
