public import Time

/// What a provider issued to one client for one account, but for the secrets themselves.
///
/// A credential is replaced whole or not at all; each one has the next generation number. The
/// secrets are a `CredentialSecret` of their own, so that lists and decisions open none.
public struct Credential: Equatable, Sendable {
  /// The protocol, which says how a request is signed with it.
  public enum Kind: String, CaseIterable, Sendable {
    /// OAuth 1.0a: each request is signed with a token and its secret.
    case oauth1
    /// OAuth 2.0: the token itself is sent.
    case oauth2
  }

  /// Where it came from.
  public enum Source: String, CaseIterable, Sendable {
    /// A provider's answer that was given to `add-account --response`.
    case response
    /// A bare token that was given to `add-account --token-stdin`.
    case tokenStdin = "token_stdin"
    /// A person signed in.
    case signIn = "sign_in"
    /// The provider gave it in exchange for an older one.
    case renewal
    /// It came with a backup that was taken over.
    case restore
  }

  /// What is known against it.
  public enum Mark: Hashable, Sendable {
    /// Nothing.
    case none
    /// The provider refused it for good.
    case rejected(reason: String, at: Timestamp)
    /// A renewal was cut off after it was sent.
    case uncertain(since: Timestamp)
    /// It came from a backup.
    case stale(since: Timestamp)
  }

  /// The client's id at the provider.
  public let clientID: String
  /// The protocol that it belongs to.
  public let kind: Kind
  /// As the provider wrote it, such as `bearer`.
  public let tokenType: String
  /// 1 for the first, then one more for each that takes its place.
  public let generation: Int64
  /// By the clock of this machine.
  public let obtainedAt: Timestamp
  /// The seconds that the provider gave it, where it gave a lifetime.
  public let lifetime: Int64?
  /// Never before ``obtainedAt``.
  public let expiry: Expiry
  /// When the refresh token ends.
  public let refreshExpiresAt: Timestamp?
  /// When the provider stops to hand out the person's data, though the token goes on.
  public let dataAccessUntil: Timestamp?
  /// What the provider says the token may do; nil where it did not say and nothing was asked.
  public package(set) var scopes: [String]?
  /// What was asked for when the person signed in.
  public let askedScopes: [String]?
  /// How it came into the vault.
  public let source: Source
  /// Whether a refresh token is sealed beside the access token.
  public let hasRefreshToken: Bool
  /// What happened to it that its dates do not tell.
  public var mark: Mark
  /// Remarks on what had to be guessed, such as the unit of a lifetime.
  public let notes: [String]

  /// - Parameter expiry: one before `obtainedAt` is taken as `obtainedAt`: a clock that was wrong
  ///   while it was computed never makes a credential older than itself.
  package init(
    clientID: String, kind: Kind, tokenType: String, generation: Int64, obtainedAt: Timestamp,
    lifetime: Int64? = nil, expiry: Expiry, refreshExpiresAt: Timestamp? = nil,
    dataAccessUntil: Timestamp? = nil, scopes: [String]? = nil, askedScopes: [String]? = nil,
    source: Source, hasRefreshToken: Bool, mark: Mark = .none, notes: [String] = []
  ) {
    self.clientID = clientID
    self.kind = kind
    self.tokenType = tokenType
    self.generation = generation
    self.obtainedAt = obtainedAt
    self.lifetime = lifetime
    self.expiry = expiry.notBefore(obtainedAt)
    self.refreshExpiresAt = refreshExpiresAt
    self.dataAccessUntil = dataAccessUntil
    self.scopes = scopes
    self.askedScopes = askedScopes
    self.source = source
    self.hasRefreshToken = hasRefreshToken
    self.mark = mark
    self.notes = notes
  }
}
