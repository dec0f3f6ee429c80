import JSON

extension Provider {
  /// Who a token belongs to, as the body of a `userinfo` reply says by the definition's `identity`.
  ///
  /// A user id that is no text and no whole number, or holds what no id holds, is none: an account is
  /// never bound to a guess.
  package func identity(in body: RawSpan) -> (userID: String?, username: String?) {
    let reply = ReplyBody(body)
    return (Self.userID(reply, identity.userID), Self.name(reply, identity.username))
  }

  static func userID(_ reply: borrowing ReplyBody, _ paths: [MemberPath]) -> String? {
    guard let text = reply.text(paths), !text.isEmpty, text.utf8.count <= 256,
      text == ProviderText.name(text), text != "true", text != "false",
      reply.isText(paths) || text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return text
  }

  private static func name(_ reply: borrowing ReplyBody, _ paths: [MemberPath]) -> String? {
    guard let text = reply.text(paths), !text.isEmpty else { return nil }
    return ProviderText.name(text)
  }
}

extension ReplyBody {
  /// Whether the first of `paths` that is there holds a text; every value of a form is one.
  func isText(_ paths: [MemberPath]) -> Bool {
    switch content {
    case .json(let json):
      for path in paths {
        guard let node = Self.nodes(json, path).first?.node, json.kind(node) != .null else {
          continue
        }
        return json.kind(node) == .string
      }
      return false
    case .form: return true
    case .none: return false
    }
  }
}
