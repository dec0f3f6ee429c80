import AccountVault
import Accounts
import Faults
import Foundation
import Ledger
import Listener
import Providers
import Testing

/// What a class of refusals must come to, written down from the contract and PROVIDERS section 1.
struct Consequence {
  let code: VaultError.Code
  var state = CredentialState.valid
  var standing = PermissionState.granted
  /// Entries that the refusal must leave, besides the use.
  var events: [Event] = []
  /// Nil where a second try depends on the server's clock.
  var sends: Int? = 1

  /// - Parameter renews: Whether the provider has a way to renew; the stage's is out of order.
  static func of(_ errorClass: ErrorClass, renews: Bool) -> Consequence {
    switch errorClass {
    case .expired:
      renews
        ? Consequence(code: .tryAgain, state: .expired)
        : Consequence(code: .signIn, state: .expired, events: [.expired])
    case .revoked:
      Consequence(
        code: .signIn, state: .rejected, standing: .revoked, events: [.rejected, .lostOnSite])
    case .invalid: Consequence(code: .signIn, state: .rejected, events: [.rejected])
    case .permission: Consequence(code: .revoked, standing: .revoked, events: [.narrowed])
    case .userAction: Consequence(code: .tryAgain)
    case .throttled, .transient, .pending: Consequence(code: .tryAgain)
    // Where the first reply tells another time, the request is signed again by it.
    case .clock: Consequence(code: .tryAgain, sends: nil)
    case .config: Consequence(code: .config)
    case .content: Consequence(code: .failed)
    }
  }
}

/// A provider whose API answers with one reply, and whose other addresses are out of order.
struct CatalogueStage: ~Copyable {
  let stage: Stage
  let session: Session
  let provider: Provider
  let permission: String
  private var number = 0

  init(_ stage: Stage, _ session: consuming Session, _ provider: Provider, _ permission: String) {
    self.stage = stage
    self.session = session
    self.provider = provider
    self.permission = permission
    stage.on("/token", .text("out of order", status: 503))
  }

  static func of(_ id: String) throws -> CatalogueStage {
    let stage = try Stage()
    let session = try stage.place.create()
    let provider = try session.addProvider(stage.definition(id))
    // A scope that every token has cannot be missing.
    let permission = try #require(
      (provider.permissions(in: .read) + provider.permissions(in: .write)).first {
        !provider.alwaysScopes.contains($0)
      })
    return CatalogueStage(stage, session, provider, permission)
  }

  /// Sends one request for an account of its own, gets `reply`, and says what it meant.
  mutating func play(
    _ reply: HTTPServer.Response, _ expected: ErrorClass?, _ name: String,
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    number += 1
    let renews = provider.renewal.method != .none
    let account = try session.addPlayed(
      provider.id, "user\(number)", id: "\(number)", token: "at~\(number)",
      response: provider.dpop == .required
        ? #","token_type":"DPoP","sub":"\#(number)","scope":"atproto transition:email","expires_in":3600,"refresh_token":"r""#
        : renews
          ? #","token_type":"bearer","expires_in":3600,"refresh_token":"rt\#(number)""# : "",
      permissions: [permission])
    let path = "/api/\(number)"
    for path in [path, "/userinfo", "/permissions", "/introspect"] { stage.on(path, reply) }
    let before = try session.entries().count
    let comment = Comment(rawValue: "\(provider.id): \(name)")
    let response: SignedResponse
    do {
      response = try await session.send(
        SignedRequest(.get, stage.url(path)), app: "123", account: account.id.text,
        permissions: [permission], over: stage.network)
    } catch {
      Issue.record("\(provider.id): \(name): \(error)", sourceLocation: location)
      return
    }
    // The next account has the same client, and the provider's word holds for it.
    defer { stage.place.clock.advance(300) }
    #expect(response.errorClass == expected, comment, sourceLocation: location)
    #expect(response.status == reply.status, comment, sourceLocation: location)
    // Success or refusal, the caller gets what the provider said.
    #expect(response.body == reply.body, comment, sourceLocation: location)
    guard let expected else {
      #expect(response.error == nil, comment, sourceLocation: location)
      return
    }
    let consequence = Consequence.of(expected, renews: renews)
    #expect(response.error?.code == consequence.code, comment, sourceLocation: location)
    #expect(try session.state(account) == consequence.state, comment, sourceLocation: location)
    #expect(
      try session.standing(account, permission) == consequence.standing, comment,
      sourceLocation: location)
    #expect(
      stage.requests(path).count == consequence.sends ?? stage.requests(path).count, comment,
      sourceLocation: location)
    let events = try session.entries().dropFirst(before).map(\.event)
    for event in consequence.events {
      #expect(
        events.contains(event), "\(provider.id): \(name): \(events)", sourceLocation: location)
    }
    #expect(
      !"\(response.error.map { "\($0.message) \($0.hint ?? "")" } ?? "")".contains("at~\(number)"),
      sourceLocation: location)
  }
}

@Suite struct `Each row of a provider's catalogue` {
  /// The replies that a row must match: of each code, of both ends of each range, as number and text.
  static func replies(_ row: [String: Any], _ definition: [String: Any]) -> [HTTPServer.Response] {
    let shape = definition["error_body"] as? [String: Any] ?? [:]
    func paths(_ member: String) -> [String] { shape[member] as? [String] ?? [] }
    let status = (row["status"] as? Int) ?? (row["status"] as? [Int])?.first ?? 400
    var headers: [(name: String, value: String)] = []
    if let challenge = row["challenge"] as? String {
      headers.append(("WWW-Authenticate", #"Bearer error="\#(challenge)""#))
    }
    if let name = row["header"] as? String { headers.append((name, "required; url=https://x")) }
    let codes = values(row["code"])
    let subcodes = values(row["subcode"])
    var replies: [HTTPServer.Response] = []
    for code in codes.isEmpty ? [nil] : codes.map(Optional.some) {
      for subcode in subcodes.isEmpty ? [nil] : subcodes.map(Optional.some) {
        for asText in [false, true] {
          var body: [String: Any] = [:]
          if let code {
            // Twitter's words stand in a problem document, its numbers in a list.
            let isWord = code is String && paths("code").contains("type")
            set(&body, isWord ? "type" : paths("code")[0], asText ? "\(code)" : code)
          }
          if let subcode { set(&body, paths("subcode")[0], asText ? "\(subcode)" : subcode) }
          if let type = row["type"] as? String { set(&body, paths("type")[0], type) }
          if let text = row["description"] as? String { set(&body, paths("description")[0], text) }
          if let part = row["description_contains"] as? String {
            set(&body, paths("description")[0], "made up: \(part) and more")
          }
          if let ok = shape["ok"] as? String { set(&body, ok, false) }
          let data = try? JSONSerialization.data(withJSONObject: body, options: [.sortedKeys])
          replies.append(
            HTTPServer.Response(
              status, headers: [("Content-Type", "application/json")] + headers,
              body: Array(data ?? Data())))
        }
      }
    }
    return replies
  }

  private static func values(_ value: Any?) -> [Any] {
    switch value {
    case let list as [Any]: list.flatMap { values($0) }
    case let range as [String: Any]: [range["from"], range["to"]].compactMap(\.self)
    case is NSNull, nil: []
    case .some(let one): [one]
    }
  }

  /// Puts a value at a path of members, `*` being a list of one.
  private static func set(_ object: inout [String: Any], _ path: String, _ value: Any) {
    let parts = path.split(separator: ".").map(String.init)
    object[parts[0]] = put(object[parts[0]], Array(parts.dropFirst()), value)
  }

  private static func put(_ present: Any?, _ path: [String], _ value: Any) -> Any {
    guard let first = path.first else { return value }
    let rest = Array(path.dropFirst())
    if first == "*" { return [put((present as? [Any])?.first, rest, value)] }
    var object = present as? [String: Any] ?? [:]
    object[first] = put(object[first], rest, value)
    return object
  }

  @Test(arguments: Provider.builtInIdentifiers)
  func `comes to what its class says`(_ id: String) async throws {
    var catalogue = try CatalogueStage.of(id)
    let definition = try #require(
      try JSONSerialization.jsonObject(with: Data(catalogue.provider.definition.utf8))
        as? [String: Any])
    let rows = try #require(definition["errors"] as? [[String: Any]])
    #expect(rows.count == catalogue.provider.errors.count)
    var played = 0
    for (index, row) in rows.enumerated() {
      // The addresses of the protocol are another's to play.
      if let place = row["at"] as? String, place != "api" { continue }
      let expected = try #require(ErrorClass(rawValue: row["class"] as? String ?? ""))
      let replies = Self.replies(row, definition)
      #expect(!replies.isEmpty, "\(id): row \(index) was not played")
      for reply in replies {
        played += 1
        try await catalogue.play(
          reply, expected, "row \(index), \(String(decoding: reply.body, as: UTF8.self))")
      }
    }
    #expect(played > 0 || ["reddit"].contains(id))
  }
}

@Suite struct `Each documented reply` {
  struct Example: Sendable {
    let provider: String
    let status: Int
    let body: String
    var headers: [(name: String, value: String)] = []
    let expected: ErrorClass?

    init(_ provider: String, _ status: Int, _ body: String, _ expected: ErrorClass?) {
      self.init(provider, status, body, [], expected)
    }

    init(
      _ provider: String, _ status: Int, _ body: String,
      _ headers: [(name: String, value: String)], _ expected: ErrorClass?
    ) {
      self.provider = provider
      self.status = status
      self.body = body
      self.headers = headers
      self.expected = expected
    }
  }

  private static func bearer(_ rest: String, _ scheme: String = "Bearer") -> [(
    name: String, value: String
  )] { [("WWW-Authenticate", "\(scheme) \(rest)")] }

  /// Written down from PROVIDERS, not from the definitions.
  static let examples: [Example] = [
    Example(
      "facebook", 400,
      #"{"error":{"message":"Error validating access token: Session has expired at unix time 1354320000. The current unix time is 1354321234.","type":"OAuthException","code":190,"error_subcode":463}}"#,
      .expired),
    Example(
      "facebook", 400,
      #"{"error":{"message":"Error validating access token: User 1000 has not authorized application 2000.","type":"OAuthException","code":190,"error_subcode":458,"fbtrace_id":"AbC"}}"#,
      .revoked),
    Example(
      "facebook", 400,
      #"{"error":{"message":"(#200) The user hasn't authorized the application to perform this action","type":"OAuthException","code":200}}"#,
      .permission),
    Example(
      "facebook", 400, #"{"error":{"message":"Bad session","type":"OAuthException"}}"#, .expired),
    Example(
      "facebook", 403,
      #"{"error":{"message":"(#4) Application request limit reached","type":"OAuthException","is_transient":true,"code":4}}"#,
      .throttled),
    Example("facebook", 200, #"{"data":[{"installed":1,"email":1,"user_birthday":1}]}"#, nil),
    Example(
      "facebook", 200,
      #"{"data":[{"permission":"email","status":"granted"},{"permission":"user_photos","status":"declined"}]}"#,
      nil),
    Example(
      "facebook", 200,
      #"{"data":{"app_id":"2000","is_valid":false,"error":{"code":190,"subcode":460,"message":"password changed"},"scopes":[]}}"#,
      .invalid),
    Example(
      "twitter", 401, #"{"errors":[{"code":89,"message":"Invalid or expired token."}]}"#, .invalid),
    Example(
      "twitter", 401, #"{"errors":[{"code":135,"message":"Timestamp out of bounds."}]}"#, .clock),
    Example(
      "twitter", 429, #"{"errors":[{"code":88,"message":"Rate limit exceeded"}]}"#,
      [("x-rate-limit-reset", "1705420800")], .throttled),
    Example(
      "x", 403,
      #"{"title":"Forbidden","status":403,"detail":"…","type":"https://api.x.com/2/problems/client-forbidden"}"#,
      .config),
    Example(
      "x", 401,
      #"{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}"#,
      .expired),
    Example(
      "twitter", 401,
      #"{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}"#,
      .invalid),
    Example("x", 200, #"{"data":{"id":"1"},"errors":[{"code":89,"message":"m"}]}"#, nil),
    Example(
      "weibo", 403, #"{"error":"expired_token","error_code":21327,"request":"/2/users/show.json"}"#,
      .expired),
    Example(
      "weibo", 403,
      #"{"request":"/2/statuses/update.json","error_code":"10023","error":"User requests out of rate limit!"}"#,
      .throttled),
    Example(
      "weibo", 400,
      #"{"error":"invalid_grant","error_code":21325,"request":"/oauth2/access_token","error_uri":"/oauth2/access_token","error_description":"invalid authorization code:x"}"#,
      .invalid),
    Example(
      "weibo", 200,
      #"{"uid":1073880650,"appkey":1352222456,"scope":null,"create_at":1352267591,"expire_in":157679471}"#,
      nil),
    Example("tencentweibo", 200, #"{"ret":3,"errcode":9,"msg":"made up","data":null}"#, .expired),
    Example("tencentweibo", 200, #"{"ret":0,"errcode":0,"msg":"ok","data":{}}"#, nil),
    Example(
      "tencentweibo", 200, #"callback( {"error":100014,"error_description":"made up"} );"#, .expired
    ),
    Example(
      "linkedin", 401,
      #"{"serviceErrorCode":65601,"code":"REVOKED_ACCESS_TOKEN","message":"The token used in the request has been revoked by the user","status":401}"#,
      .revoked),
    Example("mastodon", 401, #"{"error":"The access token is invalid"}"#, .invalid),
    Example(
      "mastodon", 429, #"{"error":"Too many requests"}"#,
      [("X-RateLimit-Reset", "2026-01-05T10:05:00.000000Z")], .throttled),
    Example("mastodon", 422, #"{"error":"Validation failed: made up"}"#, .content),
    Example("github", 401, #"{"message":"Bad credentials"}"#, .invalid),
    Example("github-app", 401, #"{"message":"Bad credentials"}"#, .expired),
    Example(
      "github", 403, #"{"message":"API rate limit exceeded"}"#,
      [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1705420800")], .throttled),
    Example("github", 404, #"{"message":"Not Found"}"#, .content),
    Example(
      "google", 401,
      #"{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}"#,
      .expired),
    Example(
      "microsoft", 401, #"{"error":{"code":"InvalidAuthenticationToken","message":"made up"}}"#,
      .expired),
    Example(
      "microsoft", 401, #"{"error":{"code":"InvalidAuthenticationToken","message":"made up"}}"#,
      bearer(#"error="insufficient_claims", claims="e30""#), .invalid),
    Example(
      "slack", 200,
      #"{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"users:read"}"#,
      .permission),
    Example("slack", 200, #"{"ok":false,"error":"token_expired"}"#, .expired),
    Example("slack", 200, #"{"ok":true,"user":"u"}"#, nil),
    Example("reddit", 401, "", bearer(#"realm="reddit", error="invalid_token""#), .expired),
    Example("reddit", 403, "", bearer(#"realm="reddit", error="insufficient_scope""#), .permission),
    Example(
      "reddit", 429, "", [("x-ratelimit-remaining", "0.0"), ("x-ratelimit-reset", "214")],
      .throttled),
    Example("reddit", 520, "<html>", .transient),
    Example(
      "bluesky", 401, #"{"error":"invalid_token"}"#,
      bearer(#"error="invalid_token""#, "DPoP") + [("DPoP-Nonce", "n3")], .expired),
    Example(
      "bluesky", 403,
      #"{"error":"ScopeMissingError","message":"Missing required scope \"rpc:made.up\""}"#,
      .permission),
    Example("bluesky", 400, #"{"error":"ExpiredToken","message":"Token has expired"}"#, .expired),
    Example(
      "google", 401, "",
      bearer(#"realm="api", error="invalid_token", error_description="expired""#),
      .expired),
    Example(
      "google", 403, "", bearer(#"error="insufficient_scope", scope="mail.send""#), .permission),
    Example("google", 401, "", bearer(#"realm="api""#), .config),
    Example("google", 503, "", [("Retry-After", "120")], .transient),
    Example("google", 302, "", [("Location", "https://elsewhere.example/")], .config),
  ]

  @Test(arguments: Provider.builtInIdentifiers)
  func `comes to what it must`(_ id: String) async throws {
    let mine = Self.examples.filter { $0.provider == id }
    #expect(!mine.isEmpty)
    var catalogue = try CatalogueStage.of(id)
    for example in mine {
      let type = example.body.isEmpty ? [] : [(name: "Content-Type", value: "application/json")]
      try await catalogue.play(
        HTTPServer.Response(
          example.status, headers: type + example.headers, body: Array(example.body.utf8)),
        example.expected, "\(example.status) \(example.body) \(example.headers)")
    }
  }
}
