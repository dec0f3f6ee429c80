import Encoding

extension Provider {
  /// Whether the body of a reply that is no refusal shows that the token is over, by the style of the
  /// definition. RFC 7009 section 2.2 gives the body no meaning, and a page of a gateway with status
  /// 200 is no yes of the provider's.
  package func isRevoked(_ body: RawSpan) -> Bool {
    switch revocation {
    case .none: return false
    case .rfc7009, .deleteToken: return true
    case .deletePermissions: return Self.saysTrue(body, ["success"])
    case .tokenParameter:
      if Self.saysTrue(body, ["result"]) { return true }
      // A number that the definition counts as a success.
      let reply = ReplyBody(body)
      guard let code = reply.text(errorBody.code) else { return false }
      return errorBody.successCodes.contains(code)
    case .signedPost:
      let reply = ReplyBody(body)
      switch reply.shape {
      case .html, .other, .tooLarge: return false
      case .json, .form, .empty: break
      }
      return reply.text([MemberPath("revoked")!]) != "false"
    }
  }

  /// A bare `true`, or one as text or truth value in a member.
  private static func saysTrue(_ body: RawSpan, _ members: [String]) -> Bool {
    if body.byteCount <= 16 {
      var text = ""
      for offset in 0..<body.byteCount {
        text.unicodeScalars.append(Unicode.Scalar(body.byte(offset)))
      }
      if text.trimmedSpaces == "true" { return true }
    }
    let reply = ReplyBody(body)
    return members.contains { reply.text([MemberPath($0)!]) == "true" }
  }
}
