/// Every member that a definition may hold, by the object it stands in.
///
/// `Documentation/Providers.md` tells their meaning and `Documentation/provider.schema.json` their
/// types; a test holds the three against each other. `*` stands for any name, `[]` for an element.
package enum DefinitionMembers {
  package static let known: [String: [String]] = [
    "": [
      "id", "name", "extends", "protocol", "variables", "issuer", "sends_issuer", "endpoints",
      "api_hosts",
      "headers", "authorize_parameters", "client_auth", "public_client_auth", "pkce", "dpop",
      "token_in", "token_scheme", "token_parameter", "api_parameters", "app_secret_proof",
      "signature_method", "body_hash", "scope_separator",
      "reply_scope_separators", "scope_parameter", "scope_aliases", "scope_tree", "scope_prefixes",
      "always_scopes", "device_style", "revocation", "revocation_reach", "introspection", "granted",
      "response",
      "identity", "renewal", "permissions", "retired_permissions", "other_permissions", "extended",
      "asks", "rate_headers", "error_body", "errors",
    ],
    "endpoints": EndpointName.allCases.map(\.rawValue),
    "granted": ["from", "header", "levels"],
    "response": [
      "token", "token_secret", "refresh_token", "token_types", "expires_in", "expires_at",
      "expires_unit", "missing_expiry", "zero_expiry", "refresh_expires_in",
      "data_access_expires_at", "scope", "user_id", "username", "required", "required_scopes",
    ],
    "identity": ["user_id", "username", "scopes"],
    "renewal": [
      "method", "margin_seconds", "minimum_age_seconds", "minimum_interval_seconds", "rotation",
      "redirect_uri",
    ],
    "permissions.*": ["group", "basic"],
    "asks": ["separate", "basic_first", "add_basic", "audience"],
    "rate_headers[]": ["reset", "remaining", "unit", "member"],
    "error_body": [
      "code", "subcode", "type", "description", "message", "title", "user_title", "user_message",
      "transient", "ok", "success_codes", "partial", "in_success",
    ],
    "errors[]": [
      "status", "code", "subcode", "type", "description", "description_contains", "challenge",
      "header", "at", "class", "retry",
      "reset_headers", "slower", "advice", "note",
    ],
    "range": ["from", "to"],
  ]

  /// The words that a member takes, by the member's path.
  package static let words: [String: [String]] = [
    "protocol": OAuthProtocol.words, "client_auth": ClientAuthentication.words,
    "public_client_auth": PublicClientAuthentication.words, "pkce": PKCE.words,
    "dpop": DPoPUse.words, "token_in": TokenPlace.words,
    "signature_method": SignatureMethod.words, "device_style": DeviceStyle.words,
    "revocation": Revocation.words, "revocation_reach": RevocationReach.words,
    "introspection": Introspection.words,
    "granted.from": GrantedSource.words, "response.expires_unit": ExpiryUnit.words,
    "response.zero_expiry": ZeroExpiry.words, "renewal.method": RenewalMethod.words,
    "renewal.rotation": Rotation.words, "permissions.*.group": Provider.Group.words,
    "other_permissions": OtherPermissions.words, "extended": ExtendedRule.words,
    "asks.audience": AudienceRule.words, "rate_headers[].unit": RateUnit.words,
    "errors[].at": Endpoint.words, "errors[].class": ErrorClass.words,
  ]
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
  static var words: [String] { allCases.map(\.rawValue) }
}

/// The addresses that a definition may name.
package enum EndpointName: String, Sendable, Hashable, CaseIterable {
  case authorize, token, device
  case deviceStatus = "device_status"
  case revoke, introspect, userinfo, permissions
  case requestToken = "request_token"
  case reverseAuth = "reverse_auth"
  /// Pushed authorization requests (RFC 9126).
  case par
  /// Where whoever asks is given a client of its own, as by each Mastodon server.
  case register
}

package enum OAuthProtocol: String, Sendable, CaseIterable { case oauth1, oauth2 }

/// How the client shows itself at the token endpoint.
package enum ClientAuthentication: String, Sendable, CaseIterable {
  /// Id and secret in the form.
  case post
  /// Basic, id and secret form-encoded first (RFC 6749 section 2.3.1).
  case basic
  /// Basic with id and secret as they are.
  case basicRaw = "basic_raw"
  /// A signed statement in the form (RFC 7523); the client's secret is its private key, in PEM.
  case privateKeyJWT = "private_key_jwt"
  /// A public client: the id in the form, no secret.
  case none
}

/// How a client without a secret shows itself.
package enum PublicClientAuthentication: String, Sendable, CaseIterable {
  /// The id in the form.
  case none
  /// Basic with an empty secret.
  case basic
}

package enum PKCE: String, Sendable, CaseIterable { case s256 = "S256", plain, none }
package enum DPoPUse: String, Sendable, CaseIterable { case none, required }
package enum TokenPlace: String, Sendable, CaseIterable { case header, query }

/// How OAuth 1.0a signs (RFC 5849 section 3.4).
package enum SignatureMethod: String, Sendable, CaseIterable {
  case hmacSHA1 = "HMAC-SHA1"
  case hmacSHA256 = "HMAC-SHA256"
  /// The client's secret is a private key (PEM).
  case rsaSHA1 = "RSA-SHA1"
  case plaintext = "PLAINTEXT"
}

package enum DeviceStyle: String, Sendable, CaseIterable { case rfc8628, facebook }

/// How a token is taken back at the provider.
package enum Revocation: String, Sendable, CaseIterable {
  case none, rfc7009
  /// DELETE of the permissions address, whole or one name.
  case deletePermissions = "delete_permissions"
  /// POST that carries the token itself: signed with it (OAuth 1.0a), or in `Authorization`.
  case signedPost = "signed_post"
  /// The token as the parameter `access_token`.
  case tokenParameter = "token_parameter"
  /// DELETE as the client (Basic), with `{"access_token": …}` as JSON.
  case deleteToken = "delete_token"
}

/// What ends with a token that is taken back.
package enum RevocationReach: String, Sendable, CaseIterable {
  /// That token, and what was renewed from it.
  case token
  /// All that the person allowed the client, tokens of a later sign-in among it.
  case grant
}

package enum Introspection: String, Sendable, CaseIterable {
  case none, rfc7662
  case debugToken = "debug_token"
  case getTokenInfo = "get_token_info"
  /// GET with the token as the parameter `access_token`; a dead token is a 400.
  case tokenInfo = "tokeninfo"
  /// POST as the client (Basic), with `{"access_token": …}` as JSON.
  case checkToken = "check_token"
}

/// Where the provider says what the token may do.
package enum GrantedSource: String, Sendable, CaseIterable {
  case scope, permissions, header, introspect
  /// The permissions address lists installations, each with its permissions and their levels.
  case installations
  case none
}

package enum ExpiryUnit: String, Sendable, CaseIterable {
  case seconds, milliseconds
  case epochSeconds = "epoch_seconds"
  case epochMilliseconds = "epoch_milliseconds"
  /// Seconds, unless they would last over ten years: then decided by size, and noted.
  case guess
}

package enum MissingExpiry: Sendable, Equatable {
  case unknown, never
  case seconds(Int64)
}

package enum ZeroExpiry: String, Sendable, CaseIterable { case now, never }

package enum RenewalMethod: String, Sendable, CaseIterable {
  case refreshToken = "refresh_token"
  case exchange, none
}

package enum Rotation: String, Sendable, CaseIterable {
  /// The refresh token stays, or a new one comes and the old still works.
  case optional
  /// Each refresh token works once: a second use may end the whole grant.
  case singleUse = "single_use"
}

package enum OtherPermissions: String, Sendable, CaseIterable { case refuse, read, write }
package enum ExtendedRule: String, Sendable, CaseIterable { case ask, refuse }
package enum AudienceRule: String, Sendable, CaseIterable { case required, optional, refused }

package enum RateUnit: String, Sendable, CaseIterable {
  case epochSeconds = "epoch_seconds"
  case epochMilliseconds = "epoch_milliseconds"
  case secondsLeft = "seconds_left"
  case rfc3339
  case minutesInJSON = "minutes_in_json"
}
