package import JSON
package import Time

/// A JSON object whose members stand in the order in which they were added, as the contract lists
/// them. What is unknown is null and never left out.
package struct JSONObject: Sendable {
  package private(set) var members: [JSONValue.Member] = []

  package init() {}

  package mutating func add(_ name: String, _ value: JSONValue) {
    members.append(JSONValue.Member(name, value))
  }

  package mutating func add(_ name: String, _ value: String?) {
    add(name, value.map(JSONValue.string) ?? .null)
  }

  package mutating func add(_ name: String, _ value: Bool?) {
    add(name, value.map(JSONValue.bool) ?? .null)
  }

  package mutating func add(_ name: String, _ value: Int64?) {
    add(name, value.map(JSONValue.int) ?? .null)
  }

  /// RFC 3339 in UTC with whole seconds.
  package mutating func add(_ name: String, _ value: Timestamp?) {
    add(name, value.map { JSONValue.string($0.description) } ?? .null)
  }

  package mutating func add(_ name: String, _ values: [String]) {
    add(name, .array(values.map(JSONValue.string)))
  }

  package mutating func add(_ name: String, _ object: JSONObject?) {
    add(name, object?.value ?? .null)
  }

  package mutating func add(_ name: String, _ objects: [JSONObject]) {
    add(name, .array(objects.map(\.value)))
  }

  package subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

  package var value: JSONValue { .object(members) }

  /// The object as one line without its newline, safe to look at in a terminal.
  package var line: String { EscapedText.ofJSON(value.text) }
}
