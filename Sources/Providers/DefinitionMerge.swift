import JSON

/// How a definition that extends another is put over it.
enum DefinitionMerge {
  /// Objects that are merged member by member; every other member replaces the one below.
  private static let merged: Set<String> = [
    "variables", "endpoints", "headers", "authorize_parameters", "api_parameters", "scope_aliases",
    "granted",
    "response", "identity", "renewal", "permissions", "retired_permissions", "asks", "error_body",
  ]
  /// Objects in which `null` takes the entry of the one below away.
  private static let erasable: Set<String> = [
    "headers", "authorize_parameters", "api_parameters", "scope_aliases", "permissions",
    "retired_permissions",
  ]

  /// `upper` over `lower`: rows of `errors` come before those of `lower`.
  static func put(_ upper: JSONValue, over lower: JSONValue) -> JSONValue {
    guard case .object(let above) = upper, case .object(let below) = lower else { return upper }
    var result = below
    for member in above {
      guard let index = result.firstIndex(where: { $0.name == member.name }) else {
        result.append(member)
        continue
      }
      var value = member.value
      if member.name == "errors", case .array(let rows) = value,
        case .array(let old) = result[index].value
      {
        value = .array(rows + old)
      } else if merged.contains(member.name) {
        value = merge(
          value, over: result[index].value, erases: erasable.contains(member.name))
      }
      result[index] = JSONValue.Member(member.name, value)
    }
    return .object(result)
  }

  private static func merge(
    _ upper: JSONValue, over lower: JSONValue, erases: Bool
  ) -> JSONValue {
    guard case .object(let above) = upper, case .object(let below) = lower else { return upper }
    var result = below
    for member in above {
      let index = result.firstIndex { $0.name == member.name }
      if erases, member.value == .null {
        if let index { result.remove(at: index) }
      } else if let index {
        result[index] = member
      } else {
        result.append(member)
      }
    }
    return .object(result)
  }
}
