import JSON

/// What a provider is: its addresses, its permissions, how its replies are read and what its refusals
/// mean. All of it is data, from a definition that was checked when it was read.
public struct Provider: Sendable {
  /// 1 to 64 of lower-case letters, digits and `-`; with `@` and the value of its variable where the
  /// provider was named so, such as `mastodon@social.example`.
  public internal(set) var id: String
  /// What people call the provider.
  public let name: String
  /// The built-in that the definition started from.
  public let extends: String?

  package let `protocol`: OAuthProtocol
  package let issuer: String?
  /// Whether every redirect back carries `iss` (RFC 9207), so that one without is refused.
  package let sendsIssuer: Bool
  /// Only those that the provider has; a definition with a variable left open has none.
  package let endpoints: [EndpointName: String]
  package let apiHosts: [String]
  /// Sent with every request of ours.
  package let headers: [(name: String, value: String)]
  package let authorizeParameters: [(name: String, value: String)]
  package let clientAuthentication: ClientAuthentication
  package let publicClientAuthentication: PublicClientAuthentication
  package let pkce: PKCE
  package let dpop: DPoPUse
  package let tokenPlace: TokenPlace
  /// The word before the token in `Authorization`.
  package let tokenScheme: String
  /// The parameter's name where the token goes into the query.
  package let tokenParameter: String
  /// Sent with every call of the API; `{client_id}` and `{user_id}` stand for the credential's own.
  package let apiParameters: [(name: String, value: String)]
  /// Whether a call carries Facebook's `appsecret_proof`, where the client has a secret.
  package let sendsAppSecretProof: Bool
  /// How OAuth 1.0a signs.
  package let signatureMethod: SignatureMethod
  /// Whether a signature covers the hash of a body that is no form.
  package let signsBodyHash: Bool
  package let scopeSeparator: String
  package let replyScopeSeparators: Set<Character>
  /// The parameter of the authorize address that holds the scopes; with OAuth 1.0a the field of the
  /// first request that asks for `read` or `write` only, empty where there is none.
  package let scopeParameter: String
  /// Other names under which a scope comes back, and wider scopes that contain it.
  package let scopeAliases: [String: [String]]
  /// What stands between a scope and those that it contains: `read` contains `read:accounts`.
  package let scopeTree: String?
  /// Beginnings that a scope may come back with or without.
  package let scopePrefixes: [String]
  /// Scopes that every sign-in asks for, besides those that the app wants.
  package let alwaysScopes: [String]
  package let deviceStyle: DeviceStyle
  package let revocation: Revocation
  package let revocationReach: RevocationReach
  package let introspection: Introspection
  package let granted: Granted
  package let response: ResponseShape
  package let identity: Identity
  package let renewal: Renewal
  package let permissions: [Permission]
  /// Names that the provider once had, each with what to say of it.
  package let retiredPermissions: [String: String]
  package let otherPermissions: OtherPermissions
  package let extendedRule: ExtendedRule
  package let asks: AskShape
  package let rateHeaders: [RateHeader]
  package let errorBody: ErrorBodyShape
  package let errors: [ErrorRow]
  /// Variables that are still open, such as a server's name.
  package let openVariables: [String]

  /// The definition with what it extends put in, its variables still standing in the addresses.
  let merged: JSONValue
  /// The same with the variables' values put in.
  let resolved: JSONValue

  /// What kind of thing a permission allows.
  public enum Group: String, Sendable, Hashable, CaseIterable {
    /// Looking at what is the person's.
    case read
    /// Publishing in the person's name.
    case write
    /// Asked for alone, and shown as such, or not at all.
    case extended
  }

  /// A permission as the definition has it.
  public struct Permission: Sendable, Hashable {
    /// As the provider writes it. Case counts.
    public let name: String
    /// Which kind of thing it allows.
    public let group: Group
    /// Whether it may stand in an app's first ask on its own.
    public let isBasic: Bool
  }

  package struct Granted: Sendable {
    package var source = GrantedSource.scope
    package var header: String?
    /// The header's value to the permissions it stands for.
    package var levels: [String: [String]] = [:]
  }

  package struct ResponseShape: Sendable {
    package var token: [MemberPath]
    package var tokenSecret: [MemberPath]
    package var refreshToken: [MemberPath]
    package var tokenTypes: [String]
    package var expiresIn: [MemberPath]
    package var expiresAt: [MemberPath]
    package var expiresUnit: ExpiryUnit
    package var missingExpiry: MissingExpiry
    package var zeroExpiry: ZeroExpiry
    package var refreshExpiresIn: [MemberPath]
    package var dataAccessExpiresAt: [MemberPath]
    package var scope: [MemberPath]
    package var userID: [MemberPath]
    package var username: [MemberPath]
    /// Members without which the response is not taken.
    package var required: [MemberPath]
    /// Scopes without which it is not taken.
    package var requiredScopes: [String]
  }

  /// Where `userinfo` says who the token belongs to.
  package struct Identity: Sendable {
    package var userID: [MemberPath] = []
    package var username: [MemberPath] = []
    /// Without these `userinfo` does not answer.
    package var scopes: [String] = []
  }

  package struct Renewal: Sendable, Equatable {
    package var method = RenewalMethod.none
    /// How long before the end a credential becomes due.
    package var marginSeconds: Int64 = 600
    /// A credential younger than this is not renewed by the engine.
    package var minimumAgeSeconds: Int64 = 0
    package var minimumIntervalSeconds: Int64 = 60
    package var rotation = Rotation.optional
    /// Whether the redirect address is sent with a refresh token too.
    package var sendsRedirect = false
  }

  /// The rules for an app's own ask.
  package struct AskShape: Sendable {
    package var separate = true
    package var basicFirst = true
    package var addBasic: String?
    package var audience = AudienceRule.required
  }

  package struct RateHeader: Sendable {
    package var reset: String
    package var remaining: String?
    package var unit: RateUnit
    package var member: String?
  }

  package struct ErrorBodyShape: Sendable {
    package var code: [MemberPath]
    package var subcode: [MemberPath] = []
    package var type: [MemberPath] = []
    package var description: [MemberPath]
    package var message: [MemberPath]
    package var title: [MemberPath] = []
    package var userTitle: [MemberPath] = []
    package var userMessage: [MemberPath] = []
    package var transient: [MemberPath] = []
    /// A truth value that is false in an error.
    package var ok: MemberPath?
    /// Codes that mean that all is well.
    package var successCodes: Set<String> = []
    /// Members beside which errors in a 2xx reply are only partial.
    package var partial: [MemberPath] = []
    /// Whether an API's reply with a status of success may be an error. Only then is its body looked
    /// at before it is handed out.
    package var inSuccess = false
  }
}

extension Provider {
  /// `oauth1` or `oauth2`.
  public var protocolName: String { `protocol`.rawValue }

  /// The definition with what it extends put in, as one line of JSON; reading it gives the same provider.
  public var definition: String { resolved.text }

  package func endpoint(_ name: EndpointName) -> String? { endpoints[name] }

  /// Whether a request to `address` may carry the account's token: https to a host of `api_hosts`, on
  /// the port that is written there, else on 443. A loopback host without a port stands for all of its
  /// ports, and takes http too.
  package func mayReceiveToken(_ address: String) -> Bool {
    guard let target = Address(address) else { return false }
    guard target.scheme == "https" || target.host.isLoopback else { return false }
    let port = target.host.port ?? (target.scheme == "https" ? 443 : 80)
    return apiHosts.contains { text in
      guard let host = HostAndPort(text), host.host == target.host.host else { return false }
      guard let written = host.port else { return host.isLoopback || port == 443 }
      return written == port
    }
  }

  /// What the provider knows under `name`, or what `other_permissions` makes of an unknown one.
  public func permission(named name: String) -> Permission? {
    guard !name.hasSuffix(".*") else { return nil }
    if let known = permissions.first(where: { $0.name == name }) { return known }
    guard retiredPermissions[name] == nil, Self.isPermissionName(name) else { return nil }
    for pattern in permissions where pattern.name.hasSuffix(".*") {
      let stem = pattern.name.dropLast()
      if name.hasPrefix(stem), name.count > stem.count {
        return Permission(name: name, group: pattern.group, isBasic: pattern.isBasic)
      }
    }
    switch otherPermissions {
    case .refuse: return nil
    case .read: return Permission(name: name, group: .read, isBasic: false)
    case .write: return Permission(name: name, group: .write, isBasic: false)
    }
  }

  /// The names of a group that the definition lists, in its order; patterns are left out.
  public func permissions(in group: Group) -> [String] {
    permissions.filter { $0.group == group && !$0.name.hasSuffix(".*") }.map(\.name)
  }

  /// Why the provider no longer has a permission that it once had.
  public func retirement(of name: String) -> String? { retiredPermissions[name] }

  /// The scope characters of RFC 6749 section 3.3 without the comma, which separates names in a list.
  static func isPermissionName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 256
      && name.utf8.allSatisfy {
        $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C && $0 != 0x2C
      }
  }
}
