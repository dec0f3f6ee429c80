import JSON

extension DefinitionRows {
  static func errors(
    _ value: JSONValue, path: String
  ) throws(DefinitionError) -> [ErrorRow] {
    var rows: [ErrorRow] = []
    for (path, element) in try elements(value, path) {
      rows.append(try error(DefinitionObject(element, path: path, kind: "errors[]")))
    }
    return rows
  }

  private static func error(_ object: DefinitionObject) throws(DefinitionError) -> ErrorRow {
    guard let errorClass = try object.word("class", ErrorClass.self) else {
      throw DefinitionError(
        object.full("class"), "is missing", accepted: ErrorClass.words.joined(separator: ", "))
    }
    var row = ErrorRow(errorClass: errorClass)
    row.statuses = try statuses(object)
    if object.has("code") {
      row.codes =
        try object["code"].map { (value) throws(DefinitionError) in
          try codes(value, object.full("code"))
        } ?? .absent
    }
    if let value = object["subcode"] { row.subcodes = try codes(value, object.full("subcode")) }
    row.type = try object.text("type")
    row.description = try object.text("description")
    row.descriptionPart = try object.text("description_contains")
    if let part = row.descriptionPart, part.utf8.count < 6 {
      throw DefinitionError(
        object.full("description_contains"), "is too short to tell anything",
        accepted: "6 bytes or more of the fixed part of the description")
    }
    row.challenge = try object.text("challenge")
    row.header = try token(object, "header")?.lowercased()
    row.place = try object.word("at")
    row.mayRetry = try object.flag("retry") ?? true
    row.usesResetHeaders = try object.flag("reset_headers") ?? true
    row.slower = try object.flag("slower") ?? false
    row.advice = try object.text("advice")
    _ = try object.text("note")
    guard row.readsBody || row.challenge != nil || row.header != nil || !row.statuses.isEmpty
    else {
      throw DefinitionError(
        object.path, "names nothing that a reply must hold",
        accepted:
          "status, code, subcode, type, description, description_contains, challenge, header")
    }
    if row.codes == .absent, row.subcodes == nil, row.type == nil, row.description == nil,
      row.descriptionPart == nil
    {
      throw DefinitionError(
        object.full("code"), "is null alone, which every reply without a code would match",
        accepted: "null together with subcode, type or description")
    }
    return row
  }

  private static func statuses(_ object: DefinitionObject) throws(DefinitionError) -> Set<Int> {
    guard let value = object["status"] else { return [] }
    let path = object.full("status")
    guard case .array(let list) = value else {
      return [Int(try DefinitionObject.integer(value, path, in: 100...599))]
    }
    var statuses: Set<Int> = []
    for (index, element) in list.enumerated() {
      statuses.insert(
        Int(try DefinitionObject.integer(element, "\(path)[\(index)]", in: 100...599)))
    }
    return statuses
  }

  /// A number, a text, a range, or a list of them.
  static func codes(
    _ value: JSONValue, _ path: String
  ) throws(DefinitionError) -> ErrorRow.Codes {
    var texts: Set<String> = []
    var ranges: [ClosedRange<Int64>] = []
    func add(_ value: JSONValue, _ path: String) throws(DefinitionError) {
      switch value {
      case .int(let number): texts.insert(String(number))
      case .string(let text) where !text.isEmpty: texts.insert(text)
      case .object:
        let range = try DefinitionObject(value, path: path, kind: "range")
        let bounds = Int64.min...Int64.max
        guard let from = try range.integer("from", in: bounds),
          let to = try range.integer("to", in: bounds), from <= to
        else {
          throw DefinitionError(path, "is not a range", accepted: "{\"from\": 200, \"to\": 299}")
        }
        ranges.append(from...to)
      default:
        throw DefinitionError(
          path, "is not a code", accepted: "a whole number, a text, {\"from\", \"to\"}, a list")
      }
    }
    if case .array(let elements) = value {
      guard !elements.isEmpty else { throw DefinitionError(path, "is an empty list") }
      for (index, element) in elements.enumerated() { try add(element, "\(path)[\(index)]") }
    } else {
      try add(value, path)
    }
    return .among(texts: texts, ranges: ranges)
  }

  static func response(
    _ top: DefinitionObject, _ kind: OAuthProtocol
  ) throws(DefinitionError) -> Provider.ResponseShape {
    let object = try top.object("response", kind: "response")
    func paths(_ name: String, _ standard: [String]) throws(DefinitionError) -> [MemberPath] {
      try object.paths(name) ?? standard.map { MemberPath($0)! }
    }
    let standardType = try top.word("dpop", DPoPUse.self) == .required ? "dpop" : "bearer"
    let tokenTypes = try object?.texts("token_types") ?? [standardType]
    return Provider.ResponseShape(
      token: try paths("token", [kind == .oauth1 ? "oauth_token" : "access_token"]),
      tokenSecret: try paths("token_secret", kind == .oauth1 ? ["oauth_token_secret"] : []),
      refreshToken: try paths("refresh_token", ["refresh_token"]),
      tokenTypes: tokenTypes.map { $0.lowercased() },
      expiresIn: try paths("expires_in", ["expires_in", "expires"]),
      expiresAt: try paths("expires_at", ["expires_at"]),
      expiresUnit: try object?.word("expires_unit") ?? .guess,
      missingExpiry: try missingExpiry(object),
      zeroExpiry: try object?.word("zero_expiry") ?? .now,
      refreshExpiresIn: try paths(
        "refresh_expires_in", ["refresh_token_expires_in", "refresh_expires_in"]),
      dataAccessExpiresAt: try paths("data_access_expires_at", []),
      scope: try paths("scope", ["scope"]),
      userID: try paths("user_id", ["user_id", "uid", "id"]),
      username: try paths("username", ["username", "screen_name"]),
      required: try paths("required", []),
      requiredScopes: try object?.texts("required_scopes") ?? [])
  }

  private static func missingExpiry(
    _ object: DefinitionObject?
  ) throws(DefinitionError) -> MissingExpiry {
    guard let object, let value = object["missing_expiry"] else { return .unknown }
    switch value {
    case .string("unknown"): return .unknown
    case .string("never"): return .never
    case .int(let seconds) where (1...315_360_000).contains(seconds): return .seconds(seconds)
    default:
      throw DefinitionError(
        object.full("missing_expiry"), "is none of what it can be",
        accepted: "unknown, never, seconds from 1 to 315360000")
    }
  }
}
