package import JSON

/// A column of a list, or a row of a single object, for a person: a header and the member behind it.
package struct Column: Sendable {
  let header: String
  let show: @Sendable (JSONObject) -> String

  /// The member of this name. Null is `-`, a list its elements with commas between.
  package init(_ header: String, _ name: String) {
    self.header = header
    show = { Self.text($0[name] ?? .null) }
  }

  /// What `show` makes of the object, where one member is not enough.
  package init(_ header: String, show: @escaping @Sendable (JSONObject) -> String) {
    self.header = header
    self.show = show
  }

  /// A value as a person reads it.
  package static func text(_ value: JSONValue) -> String {
    switch value {
    case .null: "-"
    case .bool(let value): value ? "yes" : "no"
    case .int(let value): String(value)
    case .number(let text), .string(let text): text
    case .array(let values): values.isEmpty ? "-" : values.map(text).joined(separator: ",")
    case .object: value.text
    }
  }
}
