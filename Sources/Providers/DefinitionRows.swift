import JSON

/// Reads the objects and lists of a definition.
enum DefinitionRows {
  static func permissions(
    _ top: DefinitionObject
  ) throws(DefinitionError) -> [Provider.Permission] {
    guard let object = try top.object("permissions", kind: nil) else { return [] }
    var permissions: [Provider.Permission] = []
    for name in object.names {
      guard Provider.isPermissionName(name) else {
        throw DefinitionError(
          object.full(name), "is not a permission's name",
          accepted: "printable ASCII without space, comma, double quote and backslash")
      }
      guard let row = try object.object(name, kind: "permissions.*") else { continue }
      guard let group = try row.word("group", Provider.Group.self) else {
        throw DefinitionError(
          row.full("group"), "is missing", accepted: Provider.Group.words.joined(separator: ", "))
      }
      permissions.append(
        Provider.Permission(name: name, group: group, isBasic: try row.flag("basic") ?? false))
    }
    return permissions
  }

  static func granted(_ top: DefinitionObject) throws(DefinitionError) -> Provider.Granted {
    guard let object = try top.object("granted", kind: "granted") else { return Provider.Granted() }
    return Provider.Granted(
      source: try object.word("from") ?? .scope,
      header: try token(object, "header")?.lowercased(),
      levels: try lists(object, "levels"))
  }

  static func renewal(_ top: DefinitionObject) throws(DefinitionError) -> Provider.Renewal {
    guard let object = try top.object("renewal", kind: "renewal") else { return Provider.Renewal() }
    let year: Int64 = 366 * 86_400
    return Provider.Renewal(
      method: try object.word("method") ?? .none,
      marginSeconds: try object.integer("margin_seconds", in: 0...year) ?? 600,
      minimumAgeSeconds: try object.integer("minimum_age_seconds", in: 0...year) ?? 0,
      minimumIntervalSeconds: try object.integer("minimum_interval_seconds", in: 0...year) ?? 60,
      rotation: try object.word("rotation") ?? .optional,
      sendsRedirect: try object.flag("redirect_uri") ?? false)
  }

  static func asks(
    _ top: DefinitionObject, _ permissions: [Provider.Permission]
  ) throws(DefinitionError) -> Provider.AskShape {
    let object = try top.object("asks", kind: "asks")
    let basic = permissions.filter(\.isBasic)
    let added = try object?.text("add_basic")
    if let added, !basic.contains(where: { $0.name == added }) {
      throw DefinitionError(
        "asks.add_basic", "is \"\(ProviderText.safe(added, limit: 80))\"",
        accepted: basic.isEmpty
          ? "nothing, since no permission is basic" : basic.map(\.name).joined(separator: ", "))
    }
    return Provider.AskShape(
      separate: try object?.flag("separate") ?? true,
      basicFirst: try object?.flag("basic_first") ?? true,
      addBasic: added ?? basic.first(where: { $0.name == "email" })?.name ?? basic.first?.name,
      audience: try object?.word("audience") ?? .required)
  }

  static func rateHeaders(
    _ top: DefinitionObject
  ) throws(DefinitionError) -> [Provider.RateHeader] {
    guard let value = top["rate_headers"] else { return [] }
    var headers: [Provider.RateHeader] = []
    for (path, element) in try elements(value, "rate_headers") {
      let row = try DefinitionObject(element, path: path, kind: "rate_headers[]")
      guard let reset = try token(row, "reset") else {
        throw DefinitionError(row.full("reset"), "is missing", accepted: "a header's name")
      }
      guard let unit = try row.word("unit", RateUnit.self) else {
        throw DefinitionError(
          row.full("unit"), "is missing", accepted: RateUnit.words.joined(separator: ", "))
      }
      let member = try row.text("member")
      guard (unit == .minutesInJSON) == (member != nil) else {
        throw DefinitionError(row.full("member"), "belongs to minutes_in_json, and only to it")
      }
      headers.append(
        Provider.RateHeader(
          reset: reset.lowercased(), remaining: try token(row, "remaining")?.lowercased(),
          unit: unit, member: member))
    }
    return headers
  }

  static func errorBody(
    _ top: DefinitionObject
  ) throws(DefinitionError) -> Provider.ErrorBodyShape {
    let object = try top.object("error_body", kind: "error_body")
    var shape = Provider.ErrorBodyShape(
      code: try object.paths("code") ?? [MemberPath("error")!],
      description: try object.paths("description") ?? [MemberPath("error_description")!],
      message: try object.paths("message")
        ?? [MemberPath("error_description")!, MemberPath("message")!])
    guard let object else { return shape }
    shape.subcode = try object.paths("subcode") ?? []
    shape.type = try object.paths("type") ?? []
    shape.title = try object.paths("title") ?? []
    shape.userTitle = try object.paths("user_title") ?? []
    shape.userMessage = try object.paths("user_message") ?? []
    shape.transient = try object.paths("transient") ?? []
    shape.ok = try object.paths("ok")?.first
    shape.partial = try object.paths("partial") ?? []
    if let value = object["success_codes"] {
      guard
        case .among(let texts, let ranges) = try codes(value, object.full("success_codes")),
        ranges.isEmpty
      else {
        throw DefinitionError(
          object.full("success_codes"), "holds a range", accepted: "numbers and texts")
      }
      shape.successCodes = texts
    }
    // Each of the three has a meaning in a success alone.
    let tellsOfSuccess = shape.ok != nil || !shape.successCodes.isEmpty || !shape.partial.isEmpty
    shape.inSuccess = try object.flag("in_success") ?? tellsOfSuccess
    if tellsOfSuccess, !shape.inSuccess {
      throw DefinitionError(
        object.full("in_success"), "is false beside ok, success_codes or partial")
    }
    return shape
  }

  static func headers(
    _ top: DefinitionObject, _ name: String
  ) throws(DefinitionError) -> [(name: String, value: String)] {
    let pairs = try top.pairs(name)
    for pair in pairs {
      guard isToken(pair.name), pair.value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
        throw DefinitionError(
          "\(name).\(ProviderText.safe(pair.name, limit: 80))", "is not a header",
          accepted: "a name of letters, digits and -, a value of printable ASCII")
      }
    }
    return pairs
  }

  /// An object whose members are lists of texts.
  static func lists(
    _ object: DefinitionObject, _ name: String
  ) throws(DefinitionError) -> [String: [String]] {
    guard let inner = try object.object(name, kind: nil) else { return [:] }
    var lists: [String: [String]] = [:]
    for name in inner.names { lists[name] = try inner.texts(name) }
    return lists
  }

  static func token(_ object: DefinitionObject, _ name: String) throws(DefinitionError) -> String? {
    guard let text = try object.text(name) else { return nil }
    guard isToken(text) else {
      throw DefinitionError(
        object.full(name), "is \"\(ProviderText.safe(text, limit: 80))\"",
        accepted: "letters, digits, - and _")
    }
    return text
  }

  static func separator(
    _ object: DefinitionObject, _ name: String
  ) throws(DefinitionError) -> String? {
    guard let text = try object.text(name) else { return nil }
    guard text == " " || text == "," else {
      throw DefinitionError(
        object.full(name), "is \"\(ProviderText.safe(text, limit: 20))\"",
        accepted: "a space, a comma")
    }
    return text
  }

  static func treeMark(_ object: DefinitionObject) throws(DefinitionError) -> String? {
    guard let text = try object.text("scope_tree") else { return nil }
    guard text == ":" || text == "." || text == "/" else {
      throw DefinitionError(
        object.full("scope_tree"), "is \"\(ProviderText.safe(text, limit: 20))\"",
        accepted: ": . /")
    }
    return text
  }

  static func separators(_ object: DefinitionObject) throws(DefinitionError) -> String? {
    guard let text = try object.text("reply_scope_separators") else { return nil }
    guard !text.isEmpty, text.allSatisfy({ " ,;|".contains($0) }) else {
      throw DefinitionError(
        object.full("reply_scope_separators"), "is \"\(ProviderText.safe(text, limit: 20))\"",
        accepted: "one or more of space , ; |")
    }
    return text
  }

  static func elements(
    _ value: JSONValue, _ path: String
  ) throws(DefinitionError) -> [(path: String, value: JSONValue)] {
    guard case .array(let elements) = value else {
      throw DefinitionError(path, "is not a list", accepted: "[…]")
    }
    return elements.enumerated().map { ("\(path)[\($0.offset)]", $0.element) }
  }

  private static func isToken(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0)
          || $0 == 0x2D || $0 == 0x5F
      }
  }
}

extension DefinitionObject? {
  /// One path or a list of paths, the first that is there being taken.
  func paths(_ name: String) throws(DefinitionError) -> [MemberPath]? {
    guard let object = self, let texts = try object.texts(name) else { return nil }
    var paths: [MemberPath] = []
    for text in texts {
      guard let path = MemberPath(text) else {
        throw DefinitionError(
          object.full(name), "holds \"\(ProviderText.safe(text, limit: 80))\"",
          accepted: "member names joined by dots, at most 8, * for each element")
      }
      paths.append(path)
    }
    return paths
  }
}

extension DefinitionObject {
  func paths(_ name: String) throws(DefinitionError) -> [MemberPath]? {
    try DefinitionObject?.some(self).paths(name)
  }
}
