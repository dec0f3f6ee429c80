/// Text from outside made safe to show: a provider, a file name or a database cannot move the
/// cursor, turn the writing around, or hide a part of itself.
package enum EscapedText {
  /// Control, bidi, zero-width and other invisible characters as `\u{202E}`; at most `limit`
  /// characters, `…` for the rest.
  package static func of(_ text: String, limit: Int = 400) -> String {
    var shown = ""
    var count = 0
    for scalar in text.unicodeScalars {
      if count == limit {
        shown += "…"
        break
      }
      count += 1
      if isVisible(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return shown
  }

  /// The same text of JSON with those characters as `\u202e`, which a parser reads as the same.
  static func ofJSON(_ json: String) -> String {
    guard json.utf8.contains(where: { $0 >= 0x7f }) else { return json }
    var shown = ""
    for scalar in json.unicodeScalars {
      if scalar.value < 0x7f || isVisible(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        for unit in UTF16.encode(scalar)! {
          let digits = String(unit, radix: 16)
          shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    return shown
  }

  /// Whether a person who looks at it sees something, in the place where it stands.
  static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    if (0x20..<0x7f).contains(scalar.value) { return true }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      return false
    default:
      // Zero-width characters that Unicode counts as letters or marks, such as the Hangul fillers.
      return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }
}
