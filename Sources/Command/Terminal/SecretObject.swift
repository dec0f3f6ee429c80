internal import JSON
package import Sodium

/// A JSON object with secrets among its members, such as a token that is handed out. Members stand
/// in the order in which they were added.
package struct SecretObject: ~Copyable {
  private var line = SecretLine()
  private var isEmpty = true

  package init() { line.add("{") }

  package mutating func add(_ name: String, secret: borrowing SecretBytes) {
    begin(name)
    line.add(quoted: secret)
  }

  /// All members of `object`.
  package mutating func add(_ object: JSONObject) {
    for member in object.members {
      begin(member.name)
      line.add(EscapedText.ofJSON(member.value.text))
    }
  }

  private mutating func begin(_ name: String) {
    if !isEmpty { line.add(",") }
    isEmpty = false
    line.add(JSONValue.string(name).text)
    line.add(":")
  }

  /// The object as a line.
  package consuming func finish() -> SecretBytes {
    line.add("}\n")
    return line.finish()
  }
}
