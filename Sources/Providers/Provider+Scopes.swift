extension Provider {
  /// Whether the scopes that the provider gave cover a permission.
  ///
  /// A scope covers itself, what `scope_aliases` puts under it and, with `scope_tree`, all that begins
  /// with it and the mark. The `scope_prefixes` count for nothing. A scope that every sign-in asks for
  /// is covered, since some providers leave it out of their replies.
  public func covers(_ permission: String, by scopes: [String]) -> Bool {
    if alwaysScopes.contains(permission) || scopes.contains(permission) { return true }
    let name = withoutPrefix(permission)
    let given = Set(scopes.map(withoutPrefix))
    var wanted = [name] + (scopeAliases[permission] ?? []).map(withoutPrefix)
    if name != permission { wanted += (scopeAliases[name] ?? []).map(withoutPrefix) }
    return wanted.contains { given.contains($0) || isUnder($0, given) }
  }

  private func withoutPrefix(_ scope: String) -> String {
    for prefix in scopePrefixes where scope.hasPrefix(prefix) {
      return String(scope.dropFirst(prefix.count))
    }
    return scope
  }

  /// Whether one of `scopes` contains `name` in the tree.
  private func isUnder(_ name: String, _ scopes: Set<String>) -> Bool {
    guard let mark = scopeTree?.first else { return false }
    var rest = name[...]
    while let end = rest.lastIndex(of: mark) {
      rest = rest[..<end]
      if scopes.contains(String(rest)) { return true }
    }
    return false
  }
}
