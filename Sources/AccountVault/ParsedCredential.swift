import Time
import Faults
import Accounts
import Providers
import Sodium

/// A credential as it was handed over, before it has a generation and a client.
struct ParsedCredential: ~Copyable {
  let secret: CredentialSecret
  let kind: Credential.Kind
  let tokenType: String
  let expiry: Expiry
  let refreshExpiresAt: Timestamp?
  let dataAccessUntil: Timestamp?
  let scopes: [String]?
  /// What a sign-in asked for.
  let askedScopes: [String]?
  let source: Credential.Source
  let userID: String?
  let username: String?
  let notes: [String]

  init(bearer token: consuming SecretBytes) {
    secret = CredentialSecret(accessToken: token)
    kind = .oauth2
    tokenType = "bearer"
    expiry = .unknown
    refreshExpiresAt = nil
    dataAccessUntil = nil
    scopes = nil
    askedScopes = nil
    source = .tokenStdin
    userID = nil
    username = nil
    notes = []
  }

  init(_ response: consuming TokenResponse, kind: Credential.Kind) {
    secret = CredentialSecret(
      accessToken: response.accessToken.copy(), refreshToken: response.refreshToken?.copy(),
      tokenSecret: response.tokenSecret?.copy())
    self.kind = kind
    tokenType = response.tokenType ?? (kind == .oauth1 ? "oauth1" : "bearer")
    expiry = Expiry(response.expiry)
    refreshExpiresAt = Expiry(response.refreshExpiry).time
    dataAccessUntil = response.dataAccessEnd
    scopes = response.scopes
    askedScopes = nil
    source = .response
    userID = response.userID
    username = response.username
    notes = response.notes.map(\.description)
  }

  /// The record of it, of a client and a generation.
  func credential(client: String, generation: Int64, now: Timestamp) -> Credential {
    Credential(
      clientID: client, kind: kind, tokenType: tokenType, generation: generation, obtainedAt: now,
      lifetime: expiry.time.map { max(0, $0.seconds - now.seconds) }, expiry: expiry,
      refreshExpiresAt: refreshExpiresAt, dataAccessUntil: dataAccessUntil, scopes: scopes,
      askedScopes: askedScopes, source: source, hasRefreshToken: secret.refreshToken != nil,
      notes: notes)
  }
}

extension Expiry {
  init(_ expiry: TokenExpiry) {
    switch expiry {
    case .unknown: self = .unknown
    case .never: self = .never
    case .at(let time): self = .at(time)
    }
  }
}

extension Session {
  /// Reads what was handed over, before anything is written.
  static func parse(
    _ input: consuming CredentialInput, provider: Provider, now: Timestamp
  ) throws(VaultError) -> ParsedCredential? {
    switch consume input {
    case .none: return nil
    case .bearer(let token):
      guard provider.protocol == .oauth2 else {
        throw VaultError(
          .usage, "\(provider.id) speaks OAuth 1.0a: a bare token lacks its secret",
          hint: "vault add-account --type \(provider.id) --username NAME --response FILE")
      }
      guard provider.dpop == .none else {
        throw VaultError(
          .usage, "\(provider.id) binds its tokens to a key: a bare token cannot be used",
          hint: "give the whole response: --response FILE")
      }
      try check(bearer: token)
      return ParsedCredential(bearer: token.bytes)
    case .response(let body):
      do throws(ResponseError) {
        let response = try body.withBytes { (span: RawSpan) throws(ResponseError) in
          try TokenResponse.parse(span, for: provider, at: now)
        }
        return ParsedCredential(response, kind: provider.protocol == .oauth1 ? .oauth1 : .oauth2)
      } catch {
        throw VaultError(refusing: error, by: provider)
      }
    }
  }

  /// A bearer token is one line of visible ASCII (RFC 6750, 2.1); a line break in it would become a
  /// header of its own.
  private static func check(bearer token: borrowing Secret) throws(VaultError) {
    let isUsable = token.withBytes { (span: RawSpan) in
      span.byteCount > 0 && bytesAreVisible(span)
    }
    guard isUsable else {
      throw VaultError(
        .usage,
        token.count == 0
          ? "the token is empty" : "the token holds a line break, a space or a control character",
        hint: "vault help add-account")
    }
  }

  private static func bytesAreVisible(_ span: RawSpan) -> Bool {
    for offset in 0..<span.byteCount {
      // A byte has no invalid form, and the offset is inside.
      let byte = unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if byte <= 0x20 || byte >= 0x7F { return false }
    }
    return true
  }
}

extension VaultError {
  /// A response that was not taken: a refusal says what the catalogue says, the rest is a mistake in
  /// what was given.
  init(refusing error: ResponseError, by provider: Provider) {
    guard case .refused(let refusal) = error else {
      self.init(
        .usage, "\(error)", hint: "vault help add-account")
      return
    }
    var text = "\(provider.name) refused: \(refusal.errorClass.rawValue)"
    // Neither the provider's words nor a code that no row knows: a refusal may repeat the token.
    if refusal.isKnownCode, let code = refusal.code { text += ", code \(code)" }
    switch refusal.errorClass {
    case .throttled, .transient, .clock, .pending:
      self.init(.tryAgain, text, hint: "vault help add-account")
    case .config, .content: self.init(.config, text, hint: "vault show-provider \(provider.id)")
    default:
      self.init(
        .signIn, text,
        hint: "vault add-account --type \(provider.id) --username NAME --response FILE")
    }
  }
}

extension Classification {
  /// Whether the code is one that a row or a specification names, and so no secret.
  var isKnownCode: Bool {
    switch rule {
    case .row, .standard: true
    default: false
    }
  }
}
