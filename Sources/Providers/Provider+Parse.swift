import JSON

extension Provider {
  /// The longest definition, in bytes.
  package static let longestDefinition = 262_144

  /// Reads and checks a definition.
  ///
  /// - Parameters:
  ///   - text: JSON in the form of `Documentation/Providers.md`.
  ///   - variables: Values for the definition's variables, over those that it gives itself.
  ///   - others: Finds a definition that `extends` may name besides the built-ins.
  /// - Throws: ``DefinitionError`` naming the first member that is wrong.
  public static func parse(
    _ text: String, variables: [String: String] = [:],
    others: (String) -> Provider? = { _ in nil }
  ) throws(DefinitionError) -> Provider {
    guard text.utf8.count <= longestDefinition else {
      throw DefinitionError("", "is longer than \(longestDefinition) bytes")
    }
    var value: JSONValue
    do {
      value = try JSONValue.parse(text)
    } catch .duplicateMember(let name) {
      throw DefinitionError(ProviderText.safe(name, limit: 80), "stands twice in its object")
    } catch .malformed(let problem) {
      throw DefinitionError("", "is not JSON: \(problem)", accepted: "one JSON object")
    } catch {
      throw DefinitionError("", "is nested too deeply or too long")
    }
    // Checked on its own first, so that a path in an error is one of this text.
    let own = try DefinitionObject(value, path: "", kind: "")
    try checkParts(own)
    if let base = try own.text("extends") {
      guard isIdentifier(base), let lower = builtIn(base) ?? others(base) else {
        throw DefinitionError(
          "extends", "is \"\(ProviderText.safe(base, limit: 80))\", which is not known",
          accepted: builtInIdentifiers.joined(separator: ", "))
      }
      value = DefinitionMerge.put(value, over: lower.merged)
    }
    return try Provider(reading: putting(variables, into: value))
  }

  /// The same provider with other values for its variables, such as a server's name.
  public func with(variables: [String: String]) throws(DefinitionError) -> Provider {
    try Provider(reading: Self.putting(variables, into: merged))
  }

  private static func putting(_ variables: [String: String], into value: JSONValue) -> JSONValue {
    guard !variables.isEmpty else { return value }
    let given = variables.sorted { $0.key < $1.key }.map {
      JSONValue.Member($0.key, .string($0.value))
    }
    return DefinitionMerge.put(
      .object([JSONValue.Member("variables", .object(given))]), over: value)
  }

  static func isIdentifier(_ id: String) -> Bool {
    (1...64).contains(id.utf8.count)
      && id.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
      }
  }

  /// The members of `own`'s objects and lists, before they are merged and their places move.
  private static func checkParts(_ own: DefinitionObject) throws(DefinitionError) {
    for kind in ["endpoints", "granted", "response", "identity", "renewal", "asks", "error_body"] {
      _ = try own.object(kind, kind: kind)
    }
    if let rows = own["errors"] {
      let rows = try DefinitionRows.errors(rows, path: "errors")
      for (index, row) in rows.enumerated() {
        if let first = rows[..<index].firstIndex(where: { $0.hasConditions(of: row) }) {
          throw DefinitionError("errors[\(index)]", "asks for the same as errors[\(first)]")
        }
      }
    }
    _ = try DefinitionRows.permissions(own)
  }

  init(reading value: JSONValue) throws(DefinitionError) {
    let top = try DefinitionObject(value, path: "", kind: "")
    guard let id = try top.text("id") else { throw DefinitionError("id", "is missing") }
    guard Self.isIdentifier(id) else {
      throw DefinitionError(
        "id", "is \"\(ProviderText.safe(id, limit: 80))\"",
        accepted: "1 to 64 of a to z, 0 to 9 and -")
    }
    let name = try top.text("name") ?? id
    guard !name.isEmpty, name.utf8.count <= 100, ProviderText.safe(name) == name else {
      throw DefinitionError("name", "is empty, too long or holds control characters")
    }
    guard let `protocol` = try top.word("protocol", OAuthProtocol.self) else {
      throw DefinitionError(
        "protocol", "is missing", accepted: OAuthProtocol.words.joined(separator: ", "))
    }
    self.id = id
    self.name = name
    self.extends = try top.text("extends")
    self.protocol = `protocol`
    let addresses = try DefinitionAddresses(top)
    endpoints = addresses.endpoints
    apiHosts = addresses.apiHosts
    openVariables = addresses.openVariables
    issuer = addresses.issuer
    sendsIssuer = try top.flag("sends_issuer") ?? false
    headers = try DefinitionRows.headers(top, "headers")
    authorizeParameters = try top.pairs("authorize_parameters")
    clientAuthentication = try top.word("client_auth") ?? (`protocol` == .oauth1 ? .none : .post)
    publicClientAuthentication = try top.word("public_client_auth") ?? .none
    pkce = try top.word("pkce") ?? (`protocol` == .oauth1 ? .none : .s256)
    dpop = try top.word("dpop") ?? .none
    tokenPlace = try top.word("token_in") ?? .header
    tokenScheme = try DefinitionRows.token(top, "token_scheme") ?? "Bearer"
    tokenParameter = try DefinitionRows.token(top, "token_parameter") ?? "access_token"
    apiParameters = try top.pairs("api_parameters")
    sendsAppSecretProof = try top.flag("app_secret_proof") ?? false
    signatureMethod = try top.word("signature_method") ?? .hmacSHA1
    signsBodyHash = try top.flag("body_hash") ?? false
    scopeSeparator = try DefinitionRows.separator(top, "scope_separator") ?? " "
    replyScopeSeparators = Set(try DefinitionRows.separators(top) ?? " ,")
    scopeParameter =
      try DefinitionRows.token(top, "scope_parameter") ?? (`protocol` == .oauth2 ? "scope" : "")
    scopeAliases = try DefinitionRows.lists(top, "scope_aliases")
    scopeTree = try DefinitionRows.treeMark(top)
    scopePrefixes = try top.texts("scope_prefixes") ?? []
    alwaysScopes = try top.texts("always_scopes") ?? []
    deviceStyle = try top.word("device_style") ?? .rfc8628
    revocation =
      try top.word("revocation") ?? (endpoints[.revoke] == nil ? Revocation.none : .rfc7009)
    revocationReach = try top.word("revocation_reach") ?? .token
    introspection =
      try top.word("introspection")
      ?? (endpoints[.introspect] == nil ? Introspection.none : .rfc7662)
    granted = try DefinitionRows.granted(top)
    response = try DefinitionRows.response(top, `protocol`)
    let identity = try top.object("identity", kind: "identity")
    self.identity = Identity(
      userID: try identity.paths("user_id") ?? [], username: try identity.paths("username") ?? [],
      scopes: try identity?.texts("scopes") ?? [])
    renewal = try DefinitionRows.renewal(top)
    permissions = try DefinitionRows.permissions(top)
    retiredPermissions = Dictionary(
      try top.pairs("retired_permissions").map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    otherPermissions = try top.word("other_permissions") ?? .refuse
    extendedRule = try top.word("extended") ?? .ask
    asks = try DefinitionRows.asks(top, permissions)
    rateHeaders = try DefinitionRows.rateHeaders(top)
    errorBody = try DefinitionRows.errorBody(top)
    errors =
      try top["errors"].map { (rows) throws(DefinitionError) in
        try DefinitionRows.errors(rows, path: "errors")
      } ?? []
    merged = value
    resolved = addresses.resolving(value)
    try check()
  }

  /// What no member shows by itself.
  private func check() throws(DefinitionError) {
    // The issuer's own document may name it.
    if renewal.method != .none, openVariables.isEmpty, endpoints[.token] == nil, issuer == nil {
      throw DefinitionError("endpoints.token", "is missing, and renewal needs it")
    }
    if `protocol` == .oauth2, signatureMethod != .hmacSHA1 || signsBodyHash {
      throw DefinitionError(
        signsBodyHash ? "body_hash" : "signature_method", "belongs to oauth1, and this is oauth2")
    }
    if `protocol` == .oauth1, sendsAppSecretProof {
      throw DefinitionError("app_secret_proof", "belongs to oauth2, and this is oauth1")
    }
    if signsBodyHash, signatureMethod == .plaintext {
      throw DefinitionError("body_hash", "has no hash with PLAINTEXT, which signs nothing")
    }
    if `protocol` == .oauth1, renewal.method != .none {
      throw DefinitionError(
        "renewal.method", "is \(renewal.method.rawValue) with oauth1, whose tokens are not renewed",
        accepted: "none")
    }
    for retired in retiredPermissions.keys.sorted()
    where permissions.contains(where: { $0.name == retired }) {
      throw DefinitionError(
        "retired_permissions.\(retired)", "is among the permissions too")
    }
    if sendsIssuer, issuer == nil, openVariables.isEmpty {
      throw DefinitionError("sends_issuer", "is true, and there is no issuer to compare with")
    }
    if granted.source == .header, granted.header == nil {
      throw DefinitionError("granted.header", "is missing, and granted.from is header")
    }
  }
}
