/// A JSON value without secrets: what is printed, and files such as provider definitions.
package indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// A number in its own digits: one with a fraction or an exponent, or beyond 64 bits.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// One member of an object.
  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  // MARK: Reading

  /// Parses a text as ``JSONText`` does.
  ///
  /// - Throws: Also ``JSONError/duplicateMember(_:)`` for any object with two members of one name.
  package static func parse(
    _ text: String, maximumBytes: Int = 262_144
  ) throws(JSONError) -> JSONValue {
    try parse(Array(text.utf8), maximumBytes: maximumBytes)
  }

  /// ``parse(_:maximumBytes:)-(String,_)`` for a text that is embedded as bytes.
  package static func parse(
    _ text: [UInt8], maximumBytes: Int = 262_144
  ) throws(JSONError) -> JSONValue {
    let document = try JSONText(unsafe text.span.bytes, maximumBytes: maximumBytes)
    return try JSONValue(document.root, of: document)
  }

  /// One value of a parsed document, and all that is in it.
  ///
  /// - Throws: ``JSONError/duplicateMember(_:)``.
  package init(_ node: JSONText.Node, of document: borrowing JSONText) throws(JSONError) {
    switch document.kind(node) {
    case .null: self = .null
    case .bool: self = .bool(document.bool(node) ?? false)
    case .string: self = .string(document.string(node) ?? "")
    case .number: self = Self.number(written: document.numberText(node) ?? "")
    case .array:
      var elements: [JSONValue] = []
      for element in document.elements(node) {
        elements.append(try JSONValue(element, of: document))
      }
      self = .array(elements)
    case .object:
      var members: [Member] = []
      var names: Set<[UInt8]> = []
      for (name, member) in document.members(node) {
        guard names.insert(Array(name.utf8)).inserted else { throw .duplicateMember(name) }
        members.append(Member(name, try JSONValue(member, of: document)))
      }
      self = .object(members)
    }
  }

  /// `-0` is no integer: as one it would lose its sign.
  private static func number(written text: String) -> JSONValue {
    if text != "-0", let value = Int64(text) { return .int(value) }
    return .number(text)
  }

  /// The first member of that name; nil without one and for what is no object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  // MARK: Writing

  /// The value as JSON in one line, without spaces, members in their order.
  package var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .int(let value): text += String(value)
    case .number(let digits): text += digits
    case .string(let value): Self.quote(value, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.quote(member.name, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  /// A string in quotation marks: what RFC 8259 section 7 demands is escaped, and nothing more. The
  /// same as SQLite's `json_quote`.
  package static func quote(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{8}": text += "\\b"
      case "\u{9}": text += "\\t"
      case "\u{A}": text += "\\n"
      case "\u{C}": text += "\\f"
      case "\u{D}": text += "\\r"
      case "\u{0}"..<"\u{10}": text += "\\u000" + String(scalar.value, radix: 16)
      case "\u{10}"..<"\u{20}": text += "\\u00" + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .int(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Members in the order they are written in.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
