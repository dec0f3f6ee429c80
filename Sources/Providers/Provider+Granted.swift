import JSON

/// What was granted, read from a reply. Each function takes a reply that was found to be no refusal,
/// and answers nil where it does not say: silence never takes a permission away.
extension Provider {
  /// From the permissions address: Facebook's list with a status for each, or its form of 2012, one
  /// object whose members are the permissions.
  package func granted(inPermissions body: RawSpan) -> Providers.Granted? {
    Self.json(body) { json in
      guard let data = Self.member(json, json.root, "data"), json.kind(data) == .array else {
        return nil
      }
      var result = Providers.Granted(granted: [])
      for element in json.elements(data) {
        guard json.kind(element) == .object else { return nil }
        let members = json.members(element)
        if let name = members.first(where: { $0.name == "permission" }) {
          guard let name = json.string(name.node),
            let status = Self.member(json, element, "status").flatMap({ json.string($0) })
          else { return nil }
          result.note(name, isGranted: status == "granted")
        } else {
          for member in members where member.name != "installed" {
            let value = ReplyBody.scalar(json, member.node)
            result.note(member.name, isGranted: value == "1" || value == "true")
          }
        }
      }
      return result
    }
  }

  /// From the header that the definition names. An empty one is a token without any permission; a
  /// value that `granted.levels` does not list stands for the names in it.
  package func granted(
    inHeaders headers: [(name: String, value: String)]
  ) -> Providers.Granted? {
    guard let name = granted.header?.lowercased() else { return nil }
    let values = headers.filter { $0.name.lowercased() == name }.map(\.value)
    guard !values.isEmpty else { return nil }
    var result = Providers.Granted(granted: [])
    for value in values {
      if !granted.levels.isEmpty {
        // A level that is not known says nothing, least of all that nothing was granted.
        let level = value.split(separator: " ").joined(separator: " ")
        guard let names = granted.levels[level] else { return nil }
        for name in names { result.note(name, isGranted: true) }
        continue
      }
      for name in value.split(whereSeparator: { replyScopeSeparators.contains($0) }) {
        result.note(String(name), isGranted: true)
      }
    }
    return result
  }

  /// The permissions of one page of a GitHub App's installations, with how many installations there
  /// are on all pages and on this one. One that is suspended grants nothing. `write` and `admin`
  /// contain the levels below them.
  package func granted(
    inInstallations body: RawSpan
  ) -> (granted: Providers.Granted, total: Int, count: Int)? {
    Self.json(body) { json in
      guard let list = Self.member(json, json.root, "installations"), json.kind(list) == .array
      else { return nil }
      var result = Providers.Granted(granted: [])
      let installations = json.elements(list)
      for installation in installations {
        if let suspended = Self.member(json, installation, "suspended_at"),
          json.kind(suspended) != .null
        {
          continue
        }
        guard let permissions = Self.member(json, installation, "permissions"),
          json.kind(permissions) == .object
        else { return nil }
        for member in json.members(permissions) {
          guard let level = json.string(member.node) else { continue }
          for contained in Self.levels(in: level) {
            result.note("\(member.name):\(contained)", isGranted: true)
          }
        }
      }
      let total = Self.member(json, json.root, "total_count").flatMap { json.numberText($0) }
        .flatMap { Int($0) }
      return (result, total ?? installations.count, installations.count)
    }
  }

  private static func levels(in level: String) -> [String] {
    switch level {
    case "admin": ["read", "write", "admin"]
    case "write": ["read", "write"]
    default: [level]
    }
  }

  static func member(
    _ json: borrowing JSONText, _ node: JSONText.Node, _ name: String
  ) -> JSONText.Node? {
    guard json.kind(node) == .object else { return nil }
    return json.members(node).first { $0.name == name }?.node
  }

  /// Lends a body that is JSON to `read`; nil for any other.
  static func json<R>(_ body: RawSpan, _ read: (borrowing JSONText) -> R?) -> R? {
    let reply = ReplyBody(body)
    switch reply.content {
    case .json(let json): return read(json)
    case .form: return nil
    case .none: return nil
    }
  }
}

extension Granted {
  /// Takes in one permission; a name that no permission can have is passed over, and one that stands
  /// there twice is granted where it once is.
  fileprivate mutating func note(_ name: String, isGranted: Bool) {
    guard Provider.isPermissionName(name) else { return }
    if granted.contains(name) { return }
    if isGranted {
      declined.removeAll { $0 == name }
      granted.append(name)
    } else if !declined.contains(name) {
      declined.append(name)
    }
  }
}
