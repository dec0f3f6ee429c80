import Encoding
import JSON
import Sodium

/// The members of a token response, found beside the token; each that is used may stand there once.
struct ResponseMembers: ~Copyable {
  private let reply: ReplyBody
  private let shape: Provider.ResponseShape
  /// Where the token is: the first of the definition's paths that is there.
  private let place: MemberPath?

  init(_ reply: consuming ReplyBody, _ shape: Provider.ResponseShape) {
    place = shape.token.first { reply.has($0) }
    self.reply = reply
    self.shape = shape
  }

  func hasAtTop(_ name: String) -> Bool { MemberPath(name).map { reply.has($0) } ?? false }

  func token() throws(ResponseError) -> SecretBytes {
    guard let place else {
      throw .noToken(
        expected: shape.token.map(\.description).joined(separator: " or "), members: memberNames)
    }
    guard let token = try secret(place) else { throw .emptyToken(place.description) }
    return token
  }

  /// The first of `paths` that holds something; absent, `null` and empty are the same.
  func optionalToken(
    _ paths: [MemberPath], isRequired: Bool
  ) throws(ResponseError) -> SecretBytes? {
    for path in full(paths) {
      if let token = try secret(path) { return token }
    }
    if isRequired, let first = full(paths).first {
      throw .noToken(expected: first.description, members: memberNames)
    }
    return nil
  }

  func isEmptyText(_ paths: [MemberPath]) -> Bool {
    full(paths).contains { reply.texts($0).contains { $0.text.isEmpty } }
  }

  /// The text of the first of `paths` that is there and not `null`.
  func value(
    _ paths: [MemberPath]
  ) throws(ResponseError) -> (text: String, member: String)? {
    for path in full(paths) {
      try checkOnce(path)
      if let text = reply.texts(path).first?.text { return (text, path.description) }
      if reply.has(path) { throw .badMember(path.description) }
    }
    return nil
  }

  /// A list of texts, or one text split at `separators`. `null` is absent, an empty text is none.
  func scopes(
    _ paths: [MemberPath], separators: Set<Character>
  ) throws(ResponseError) -> [String]? {
    for path in full(paths) {
      try checkOnce(path)
      guard reply.has(path) else { continue }
      if let text = reply.texts(path).first?.text {
        return checked(text.split { separators.contains($0) }.map(String.init))
      }
      guard let elements = MemberPath(path.description + ".*"), isList(path) else {
        throw .badMember(path.description)
      }
      return checked(reply.texts(elements).map(\.text))
    }
    return nil
  }

  private func checked(_ scopes: [String]) -> [String] {
    var seen: Set<String> = []
    return scopes.filter { Provider.isPermissionName($0) && seen.insert($0).inserted }
  }

  func userID(_ paths: [MemberPath]) throws(ResponseError) -> String? {
    guard let (text, member) = try value(paths), !text.isEmpty else { return nil }
    guard text.utf8.count <= 256, text == ProviderText.name(text), text != "true", text != "false",
      isText(paths) || text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { throw .badMember(member) }
    return text
  }

  func username(_ paths: [MemberPath]) throws(ResponseError) -> String? {
    guard let (text, _) = try value(paths), !text.isEmpty else { return nil }
    return ProviderText.name(text)
  }

  /// The names of all members that hold something, with their paths, for a message: at most 40, and
  /// only such as look like names.
  private var memberNames: [String] {
    switch reply.content {
    case .none: return []
    case .form(let form): return form.names.prefix(40).map(Self.shown)
    case .json(let json):
      var names: [String] = []
      Self.collect(json, json.root, "", depth: 0, into: &names)
      return names
    }
  }

  private static func collect(
    _ json: borrowing JSONText, _ node: JSONText.Node, _ prefix: String, depth: Int,
    into names: inout [String]
  ) {
    for member in json.members(node) where names.count < 40 {
      let name = prefix + shown(member.name)
      if depth < 4, json.kind(member.node) == .object {
        collect(json, member.node, name + ".", depth: depth + 1, into: &names)
      } else {
        names.append(name)
      }
    }
  }

  private static func shown(_ name: String) -> String {
    // Small letters alone: a bare token that was taken for a form has capitals or digits.
    let isName =
      name.utf8.count <= 32
      && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || [0x5F, 0x2D, 0x2E].contains($0) }
    return isName ? ProviderText.safe(name) : "[hidden]"
  }

  private func full(_ paths: [MemberPath]) -> [MemberPath] {
    guard let place else { return paths }
    return paths.map { $0.beside(place) }
  }

  /// The bytes of a text, nil where it is absent, `null` or empty.
  ///
  /// A token goes into a header line: only the printable ASCII of RFC 6749 appendix A.12 without the
  /// space, so that no value can begin a line of its own.
  private func secret(_ path: MemberPath) throws(ResponseError) -> SecretBytes? {
    try checkOnce(path)
    let found: SecretBytes?
    switch reply.content {
    case .none: found = nil
    case .form(let form):
      found = form.secret(path.description)
      if found == nil, form.count(of: path.description) > 0 {
        throw .unusableToken(path.description)
      }
    case .json(let json):
      guard let node = ReplyBody.nodes(json, path).first?.node else { return nil }
      switch json.kind(node) {
      case .null: return nil
      case .string: found = json.secret(node)
      default: throw .badMember(path.description)
      }
    }
    guard let found, found.count > 0 else { return nil }
    let isUsable = found.withBytes { bytes in
      for offset in 0..<bytes.byteCount {
        guard (0x21...0x7E).contains(bytes.byte(offset)) else { return false }
      }
      return true
    }
    guard isUsable else { throw .unusableToken(path.description) }
    return found
  }

  private func checkOnce(_ path: MemberPath) throws(ResponseError) {
    switch reply.content {
    case .none: return
    case .form(let form):
      if form.count(of: path.description) > 1 { throw .duplicateMember(path.description) }
    case .json(let json):
      var node = json.root
      for step in path.steps {
        guard case .member(let name) = step, json.kind(node) == .object else { return }
        let found = json.members(node).filter { $0.name == name }
        if found.count > 1 { throw .duplicateMember(path.description) }
        guard let next = found.first else { return }
        node = next.node
      }
    }
  }

  private func isList(_ path: MemberPath) -> Bool { has(path, .array) }

  private func isText(_ paths: [MemberPath]) -> Bool {
    guard reply.shape == .json else { return true }
    for path in full(paths) where reply.has(path) { return has(path, .string) }
    return false
  }

  private func has(_ path: MemberPath, _ kind: JSONText.Kind) -> Bool {
    switch reply.content {
    case .json(let json):
      guard let node = ReplyBody.nodes(json, path).first?.node else { return false }
      return json.kind(node) == kind
    case .form: return false
    case .none: return false
    }
  }
}
