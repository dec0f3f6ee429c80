import JSON

/// One object of a definition's text, read member by member; every error names the member's path.
struct DefinitionObject {
  let path: String
  private let members: [(name: String, value: JSONValue)]

  /// - Parameter kind: The object's entry in ``DefinitionMembers/known``; nil for one whose names are
  ///   the definition's own, such as `permissions`.
  init(_ value: JSONValue, path: String, kind: String?) throws(DefinitionError) {
    guard case .object(let members) = value else {
      throw DefinitionError(path, "is not an object", accepted: "{…}")
    }
    self.path = path
    self.members = members.map { ($0.name, $0.value) }
    var seen: Set<String> = []
    for member in self.members {
      guard seen.insert(member.name).inserted else {
        throw DefinitionError(full(member.name), "stands there twice")
      }
    }
    guard let kind, let known = DefinitionMembers.known[kind] else { return }
    for member in self.members where !known.contains(member.name) {
      throw DefinitionError(
        full(member.name), "is not a known member", accepted: known.joined(separator: ", "))
    }
  }

  var names: [String] { members.map(\.name) }

  func full(_ name: String) -> String {
    let shown = ProviderText.safe(name, limit: 80)
    return path.isEmpty ? shown : "\(path).\(shown)"
  }

  /// Whether the member is written down, `null` included.
  func has(_ name: String) -> Bool { members.contains { $0.name == name } }

  /// Nil where the member is absent or `null`.
  subscript(name: String) -> JSONValue? {
    guard let value = members.first(where: { $0.name == name })?.value, value != .null else {
      return nil
    }
    return value
  }

  func object(_ name: String, kind: String?) throws(DefinitionError) -> DefinitionObject? {
    guard let value = self[name] else { return nil }
    return try DefinitionObject(value, path: full(name), kind: kind)
  }

  func text(_ name: String) throws(DefinitionError) -> String? {
    guard let value = self[name] else { return nil }
    return try Self.text(value, full(name))
  }

  func flag(_ name: String) throws(DefinitionError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard case .bool(let flag) = value else {
      throw DefinitionError(full(name), "is not a truth value", accepted: "true, false")
    }
    return flag
  }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws(DefinitionError) -> Int64? {
    guard let value = self[name] else { return nil }
    return try Self.integer(value, full(name), in: range)
  }

  /// A text or a list of texts.
  func texts(_ name: String) throws(DefinitionError) -> [String]? {
    guard let value = self[name] else { return nil }
    guard case .array(let elements) = value else { return [try Self.text(value, full(name))] }
    var texts: [String] = []
    for (index, element) in elements.enumerated() {
      texts.append(try Self.text(element, "\(full(name))[\(index)]"))
    }
    return texts
  }

  /// An object of texts.
  func pairs(_ name: String) throws(DefinitionError) -> [(name: String, value: String)] {
    guard let object = try object(name, kind: nil) else { return [] }
    var pairs: [(name: String, value: String)] = []
    for name in object.names {
      guard let value = try object.text(name) else { continue }
      pairs.append((name, value))
    }
    return pairs
  }

  func word<W: RawRepresentable & CaseIterable>(
    _ name: String, _ type: W.Type = W.self
  ) throws(DefinitionError) -> W? where W.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let word = W(rawValue: text) else {
      throw DefinitionError(
        full(name), "is \"\(ProviderText.safe(text, limit: 80))\"",
        accepted: W.words.joined(separator: ", "))
    }
    return word
  }

  static func text(_ value: JSONValue, _ path: String) throws(DefinitionError) -> String {
    guard case .string(let text) = value else {
      throw DefinitionError(path, "is not a text", accepted: "a text in double quotes")
    }
    return text
  }

  static func integer(
    _ value: JSONValue, _ path: String, in range: ClosedRange<Int64>
  ) throws(DefinitionError) -> Int64 {
    let accepted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .int(let number) = value else {
      throw DefinitionError(path, "is not a whole number", accepted: accepted)
    }
    guard range.contains(number) else {
      throw DefinitionError(path, "is \(number)", accepted: accepted)
    }
    return number
  }
}
