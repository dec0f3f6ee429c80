extension Provider {
  /// The parts of a type's name: `mastodon@social.example` is the provider `mastodon` with the value
  /// `social.example` for the variable that its definition leaves open.
  public static func parts(of type: String) -> (id: String, value: String?) {
    guard let mark = type.firstIndex(of: "@") else { return (type, nil) }
    return (String(type[..<mark]), String(type[type.index(after: mark)...]))
  }

  /// Whether an account's type is `type`, or `type` with a value.
  public static func isType(_ accountType: String, of type: String) -> Bool {
    accountType == type || accountType.hasPrefix(type + "@")
  }

  /// The variable without which nothing can be asked of the provider, such as `server`; nil where it
  /// is complete.
  public var openVariable: String? { openVariables.first }

  /// The provider with a value for the one variable that is open.
  ///
  /// The value is part of the account's type, and so of who the account is: it has one spelling, in
  /// lower case and without a port, which would look like the `:` before a username.
  ///
  /// - Throws: ``DefinitionError`` where the value is none, or the provider takes none.
  public func with(value: String) throws(DefinitionError) -> Provider {
    guard let variable = openVariables.first, openVariables.count == 1 else {
      throw DefinitionError(
        "type", "\(id) takes no value after @", accepted: "\(id)")
    }
    guard
      !value.isEmpty, value.utf8.count <= 253,
      value.utf8.allSatisfy({
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
      }), !value.hasPrefix("."), !value.hasSuffix("."), !value.contains("..")
    else {
      throw DefinitionError(
        "type", "\"\(ProviderText.safe(value, limit: 80))\" is no \(variable) for \(id)",
        accepted: "lower-case letters, digits, \".\" and \"-\"; for a port a definition of your own"
      )
    }
    var result = try with(variables: [variable: value])
    result.id = "\(id)@\(value)"
    return result
  }
}
