import JSON
package import Sodium
package import Time

/// What a provider's token endpoint gave, read and checked; the secrets are wiped with the value.
package struct TokenResponse: ~Copyable, Sendable {
  package let accessToken: SecretBytes
  /// Nil where none came, which on a renewal means: keep the present one (RFC 6749 section 6).
  package let refreshToken: SecretBytes?
  /// The secret that signs (OAuth 1.0a).
  package let tokenSecret: SecretBytes?
  /// `bearer`, or `dpop` where the provider binds its tokens. Nil for OAuth 1.0a.
  package let tokenType: String?
  package let expiry: TokenExpiry
  package let refreshExpiry: TokenExpiry
  /// When the provider stops to give out the person's data, though the token lives on.
  package let dataAccessEnd: Timestamp?
  /// Nil where the response says nothing of it: as asked for, or as before. Empty means none.
  package let scopes: [String]?
  /// As text, so that 64-bit numbers stay whole.
  package let userID: String?
  package let username: String?
  package let notes: [TokenNote]

  /// Reads a token response of `provider`, JSON or form-encoded by the body's shape.
  ///
  /// - Parameters:
  ///   - body: At most 256 KiB.
  ///   - sent: Just before the request was sent; lifetimes count from there.
  ///   - endpoint: What was asked for; it decides what an error inside means.
  /// - Throws: ``ResponseError``; nothing of the response is kept.
  package static func parse(
    _ body: RawSpan, for provider: Provider, at sent: Timestamp, from endpoint: Endpoint = .token
  ) throws(ResponseError) -> TokenResponse {
    let reply = ReplyBody(body)
    switch reply.shape {
    case .empty: throw .empty
    case .tooLarge: throw .tooLarge(limit: ReplyBody.limit)
    case .html: throw .notUnderstood
    case .other:
      guard let error = reply.jsonError else { throw .notUnderstood }
      throw Self.refusal(of: error)
    case .json, .form: break
    }
    let refusal = ErrorCatalogue(provider).classify(
      status: 200, headers: [], reply: reply, from: endpoint, now: sent, canRenew: true)
    if let refusal { throw .refused(refusal) }
    return try TokenResponse(reading: ResponseMembers(reply, provider.response), provider, sent)
  }

  private init(
    reading members: consuming ResponseMembers, _ provider: Provider, _ sent: Timestamp
  ) throws(ResponseError) {
    let shape = provider.response
    try Self.checkProtocol(members, provider)
    // Local until nothing can fail any more: a value that is half made could not be wiped.
    let token = try members.token()
    let secret = try members.optionalToken(
      shape.tokenSecret, isRequired: provider.protocol == .oauth1)
    let isOAuth2 = provider.protocol == .oauth2
    let type = isOAuth2 ? try Self.type(members, provider) : nil
    let refresh = try members.optionalToken(isOAuth2 ? shape.refreshToken : [], isRequired: false)
    var notes: [TokenNote] = []
    if isOAuth2, members.isEmptyText(shape.refreshToken) { notes.append(.refreshTokenEmpty) }
    var reader = ExpiryReader(unit: shape.expiresUnit, zero: shape.zeroExpiry, sent: sent)
    let expiry: TokenExpiry
    if let (text, member) = try members.value(shape.expiresIn) {
      expiry = reader.lifetime(text, member: member)
    } else if let (text, member) = try members.value(shape.expiresAt) {
      expiry = reader.instant(text, member: member)
    } else {
      switch shape.missingExpiry {
      case .unknown: expiry = .unknown
      case .never: expiry = .never
      case .seconds(let seconds): expiry = .at(Timestamp(seconds: sent.seconds + seconds))
      }
    }
    // A zero here is no end that anything could be planned by.
    var others = ExpiryReader(unit: .guess, zero: .never, sent: sent)
    let refreshExpiry =
      try members.value(shape.refreshExpiresIn).map { others.lifetime($0.text, member: $0.member) }
      ?? .unknown
    var dataAccessEnd: Timestamp?
    if let (text, member) = try members.value(shape.dataAccessExpiresAt),
      case .at(let time) = others.instant(text, member: member)
    {
      dataAccessEnd = time
    }
    let scopes = try members.scopes(shape.scope, separators: provider.replyScopeSeparators)
    let userID = try members.userID(shape.userID)
    let username = try members.username(shape.username)
    for path in shape.required where try members.value([path]) == nil {
      throw .missingMember(path.description)
    }
    for scope in shape.requiredScopes where !(scopes ?? []).contains(scope) {
      throw .missingScope(scope)
    }
    accessToken = token
    tokenSecret = secret
    refreshToken = refresh
    tokenType = type
    self.expiry = expiry
    self.refreshExpiry = refreshExpiry
    self.dataAccessEnd = dataAccessEnd
    self.scopes = scopes
    self.userID = userID
    self.username = username
    self.notes = notes + reader.notes + others.notes
  }

  /// An OAuth 1.0a body given to an OAuth 2.0 type, or the other way round, is somebody's mix-up that
  /// must not be stored as a token that fails later.
  private static func checkProtocol(
    _ members: borrowing ResponseMembers, _ provider: Provider
  ) throws(ResponseError) {
    let first = members.hasAtTop("oauth_token")
    let second = members.hasAtTop("access_token")
    switch provider.protocol {
    case .oauth1 where !first && second:
      throw .wrongProtocol(expected: "OAuth 1.0a", found: "OAuth 2.0")
    case .oauth2 where first && !second:
      throw .wrongProtocol(expected: "OAuth 2.0", found: "OAuth 1.0a")
    default: break
    }
  }

  /// What the token is sent as. A provider's own words for its bearer tokens, such as Slack's `user` and
  /// `bot`, say whose they are and are no scheme.
  private static func type(
    _ members: borrowing ResponseMembers, _ provider: Provider
  ) throws(ResponseError) -> String {
    let types = provider.response.tokenTypes
    let sent = provider.dpop == .required ? "dpop" : "bearer"
    guard let (text, _) = try members.value([MemberPath("token_type")!]), !text.isEmpty else {
      return sent
    }
    let type = text.lowercased()
    guard types.contains(type) else {
      // What is no word may be a token in the wrong place.
      let isWord = type.utf8.count <= 16 && type.utf8.allSatisfy { (0x61...0x7A).contains($0) }
      throw .unsupportedTokenType(isWord ? text : "[hidden]")
    }
    return sent
  }

  private static func refusal(of error: JSONError) -> ResponseError {
    switch error {
    case .malformed(let problem): .malformed(problem)
    case .tooLarge: .tooLarge(limit: ReplyBody.limit)
    case .tooDeep: .malformed("nested too deeply")
    case .duplicateMember(let name): .duplicateMember(ProviderText.safe(name, limit: 80))
    case .wrongType(let path): .badMember(ProviderText.safe(path, limit: 80))
    }
  }
}
