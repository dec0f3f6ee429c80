import Foundation

/// Puts names in place of what differs from run to run, told by its form.
///
/// | name | what it stands for |
/// |---|---|
/// | `<home>` | the session's home directory |
/// | `<time>` | a time, RFC 3339 in UTC with whole seconds |
/// | `<recovery-code>` | a recovery code |
/// | `vapp_<key>` | an app's key |
/// | `<digest-N>` | 32 bytes in hexadecimal, base32 or base64 |
/// | `<id-N>` | 16 bytes in base32 or hexadecimal |
/// | `<base64>` | a signature, or other bytes that fill most of a line |
///
/// `N` counts the different values of one name in the order in which they are met, so a transcript
/// tells whether the id in one place is the id in another.
struct Masks {
  private struct Form {
    var name: String
    var pattern: String
    var isNumbered = false
  }

  // In this order: a longer form first, since a shorter one fits its parts.
  private static let forms = [
    Form(name: "<time>", pattern: #"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"#),
    Form(name: "vapp_<key>", pattern: #"\bvapp_[a-z2-7]{32,}"#),
    Form(name: "<recovery-code>", pattern: #"\bvrec_(?:[a-z2-7]{1,8}-){6,}[a-z2-7]{1,8}\b"#),
    Form(name: "<digest>", pattern: #"\b(?:[0-9a-f]{64}|[a-z2-7]{52})\b"#, isNumbered: true),
    Form(
      name: "<digest>", pattern: #"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}="#, isNumbered: true),
    Form(name: "<base64>", pattern: #"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}={0,2}"#),
    Form(name: "<id>", pattern: #"\b(?:[a-z2-7]{26}|[0-9a-f]{32})\b"#, isNumbered: true),
  ]

  private let home: String?
  private var met: [String: [String]] = [:]

  init(home: String? = nil) { self.home = home }

  mutating func apply(to text: String) -> String {
    var text = home.map { text.replacing($0, with: "<home>") } ?? text
    for form in Self.forms {
      // The patterns are constants of this file; a wrong one fails every test.
      let expression = try! NSRegularExpression(pattern: form.pattern)
      let whole = NSRange(text.startIndex..., in: text)
      var masked = ""
      var rest = text.startIndex
      for match in expression.matches(in: text, range: whole) {
        let range = Range(match.range, in: text)!
        masked += text[rest..<range.lowerBound] + name(of: String(text[range]), as: form)
        rest = range.upperBound
      }
      text = masked + text[rest...]
    }
    return text
  }

  private mutating func name(of value: String, as form: Form) -> String {
    guard form.isNumbered else { return form.name }
    var values = met[form.name, default: []]
    let index = values.firstIndex(of: value) ?? values.endIndex
    if index == values.endIndex { values.append(value) }
    met[form.name] = values
    return form.name.dropLast() + "-\(index + 1)>"
  }
}
