import JSON
package import Time

/// What a provider says of a token that was looked up and lives (RFC 7662 section 2.2, and the other
/// styles). Nil is what it does not say.
package struct TokenReport: Sendable, Equatable {
  /// Which client it was issued to.
  package var clientID: String?
  package var userID: String?
  package var scopes: [String]?
  package var expiry = TokenExpiry.unknown

  package init() {}
}

extension Provider {
  /// Reads the reply to a look-up; nil for a body that says nothing, which proves neither life nor
  /// death.
  ///
  /// - Parameter sent: Just before the request; a number of seconds left counts from there.
  package func tokenReport(_ body: RawSpan, at sent: Timestamp) -> TokenReport? {
    let reply = ReplyBody(body)
    guard reply.shape == .json else { return nil }
    var result = TokenReport()
    var expiry: (paths: [String], isInstant: Bool, zero: ZeroExpiry)
    switch introspection {
    case .none: return nil
    case .rfc7662:
      guard reply.text(paths("active")) == "true" else { return nil }
      result.clientID = reply.text(paths("client_id"))
      result.userID = Self.userID(reply, paths("sub"))
      result.scopes = scopes(reply, "scope")
      expiry = (["exp", "expires_at"], true, .now)
    case .debugToken:
      guard reply.text(paths("data.is_valid")) == "true" else { return nil }
      result.clientID = reply.text(paths("data.app_id"))
      result.userID = Self.userID(reply, paths("data.user_id"))
      result.scopes = scopes(reply, "data.scopes")
      expiry = (["data.expires_at"], true, .never)
    case .getTokenInfo:
      guard reply.has(MemberPath("uid")!) else { return nil }
      result.clientID = reply.text(paths("appkey"))
      result.userID = Self.userID(reply, paths("uid"))
      result.scopes = scopes(reply, "scope")
      expiry = (["expire_in", "expires_in"], false, .now)
    case .tokenInfo:
      guard reply.has(MemberPath("aud")!) || reply.has(MemberPath("scope")!) else { return nil }
      result.clientID = reply.text(paths("aud", "issued_to", "azp"))
      result.userID = Self.userID(reply, paths("sub", "user_id"))
      result.scopes = scopes(reply, "scope")
      expiry = (["expires_in"], false, .now)
    case .checkToken:
      guard reply.has(MemberPath("id")!) || reply.has(MemberPath("app")!) else { return nil }
      result.clientID = reply.text(paths("app.client_id"))
      result.userID = Self.userID(reply, paths("user.id"))
      result.scopes = scopes(reply, "scopes")
      expiry = (["expires_at"], true, .never)
    }
    if let text = reply.text(expiry.paths.map { MemberPath($0)! }) {
      var reader = ExpiryReader(unit: .seconds, zero: expiry.zero, sent: sent)
      result.expiry =
        expiry.isInstant
        ? reader.instant(text, member: expiry.paths[0])
        : reader.lifetime(text, member: expiry.paths[0])
    }
    return result
  }

  private func paths(_ names: String...) -> [MemberPath] { names.map { MemberPath($0)! } }

  /// A list, or one text of them; nil where the member is absent or `null`.
  private func scopes(_ reply: borrowing ReplyBody, _ name: String) -> [String]? {
    guard let path = MemberPath(name), reply.has(path) else { return nil }
    var names: [String] = []
    if let text = reply.texts(path).first?.text {
      names = text.split { replyScopeSeparators.contains($0) }.map(String.init)
    } else {
      guard let list = Self.list(reply, path) else { return nil }
      names = list
    }
    var seen: Set<String> = []
    return names.filter { Provider.isPermissionName($0) && seen.insert($0).inserted }
  }

  /// The texts of an array, however many; nil for what is none.
  private static func list(_ reply: borrowing ReplyBody, _ path: MemberPath) -> [String]? {
    switch reply.content {
    case .json(let json):
      guard let node = ReplyBody.nodes(json, path).first?.node, json.kind(node) == .array else {
        return nil
      }
      return json.elements(node).compactMap { json.string($0) }
    case .form: return nil
    case .none: return nil
    }
  }
}
