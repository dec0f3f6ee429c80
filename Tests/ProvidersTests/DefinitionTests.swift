import Providers
import Testing

@Suite struct `A provider definition` {
  @Test func `of the public contract is read`() throws {
    let provider = try Provider.parse(
      """
      {
        "id": "example", "name": "Example", "extends": null, "protocol": "oauth2",
        "endpoints": {
          "authorize": "https://auth.example/authorize", "token": "https://auth.example/token",
          "device": null, "revoke": "https://auth.example/revoke", "introspect": null,
          "userinfo": "https://api.example/me", "permissions": null,
          "request_token": null, "reverse_auth": null
        },
        "api_hosts": ["api.example"], "client_auth": "post", "pkce": "S256", "token_in": "header",
        "scope_separator": " ",
        "response": {"token": null, "expires_unit": "seconds", "missing_expiry": "unknown",
          "zero_expiry": "now", "user_id": ["user_id", "uid", "id"]},
        "renewal": {"method": "refresh_token", "margin_seconds": 600},
        "permissions": {"email": {"group": "read", "basic": true},
          "publish_actions": {"group": "write"}, "read_mailbox": {"group": "extended"}},
        "other_permissions": "refuse",
        "errors": [{"status": 400, "code": 190, "subcode": 458, "class": "revoked"}]
      }
      """)
    #expect(provider.endpoint(.token) == "https://auth.example/token")
    #expect(provider.endpoint(.device) == nil)
    #expect(provider.revocation == .rfc7009)
    #expect(provider.renewal.marginSeconds == 600)
    #expect(provider.asks.addBasic == "email")
    #expect(provider.permissions.count == 3)
    let body = #"{"error":"x"}"#
    #expect(meaning(provider, 400, body)?.errorClass == .content)
  }

  @Test(arguments: Provider.builtInIdentifiers)
  func `of a built-in is whole, and its shown form is the same provider`(_ id: String) throws {
    var provider = builtIn(id)
    #expect(provider.id == id)
    if id == "mastodon" {
      #expect(provider.openVariable == "server")
      provider = try provider.with(value: "social.example")
    }
    #expect(provider.openVariables.isEmpty)
    #expect(!provider.apiHosts.isEmpty && !provider.permissions.isEmpty && !provider.errors.isEmpty)
    for open in ["{version}", "{server}", "{tenant}"] {
      #expect(!provider.definition.contains(open))
    }
    let again = try Provider.parse(provider.definition)
    #expect(again.definition == provider.definition)
    #expect(again.errors == provider.errors)
    #expect(again.endpoints == provider.endpoints)
    #expect(again.permissions == provider.permissions)
  }

  @Test func `of no built-in is nil`() {
    #expect(Provider.builtIn("example") == nil)
    #expect(Provider.builtIn("") == nil)
  }

  @Test func `that extends a built-in changes only what differs`() throws {
    let provider = try Provider.parse(
      """
      {"id": "test", "extends": "facebook", "endpoints": {"token": "http://127.0.0.1:8080/t",
        "device": null}, "api_hosts": ["127.0.0.1:8080"],
        "permissions": {"user_groups": null, "extra": {"group": "write"}},
        "errors": [{"code": 190, "subcode": 463, "class": "invalid"}, {"code": 4242, "class": "clock"}]}
      """)
    #expect(provider.id == "test")
    #expect(provider.extends == "facebook")
    #expect(provider.endpoint(.token) == "http://127.0.0.1:8080/t")
    #expect(provider.endpoint(.authorize) == "https://www.facebook.com/v25.0/dialog/oauth")
    #expect(provider.endpoint(.device) == nil)
    #expect(provider.apiHosts == ["127.0.0.1:8080"])
    #expect(provider.permission(named: "user_groups") == nil)
    #expect(provider.permission(named: "extra")?.group == .write)
    #expect(provider.permission(named: "user_likes")?.group == .read)
    #expect(provider.renewal == builtIn("facebook").renewal)
    func by(_ code: Int, _ subcode: Int) -> ErrorClass? {
      meaning(provider, 400, #"{"error":{"code":\#(code),"error_subcode":\#(subcode)}}"#)?
        .errorClass
    }
    #expect(by(190, 463) == .invalid)
    #expect(by(190, 458) == .revoked)
    #expect(by(4242, 0) == .clock)
  }

  @Test func `puts its variables into its addresses`() throws {
    let facebook = try Provider.parse(
      #"{"id": "old", "extends": "facebook", "variables": {"version": "v2.0"}}"#)
    #expect(facebook.endpoint(.token) == "https://graph.facebook.com/v2.0/oauth/access_token")
    let open = try Provider.parse(
      """
      {"id": "fedi", "protocol": "oauth2", "variables": {"server": null},
       "endpoints": {"authorize": "https://{server}/oauth/authorize",
         "token": "https://{server}/oauth/token", "userinfo": "https://fixed.example/me"},
       "api_hosts": ["{server}"]}
      """)
    #expect(open.openVariables == ["server"])
    #expect(open.endpoint(.token) == nil)
    #expect(open.endpoint(.userinfo) == "https://fixed.example/me")
    let closed = try open.with(variables: ["server": "social.example"])
    #expect(closed.endpoint(.token) == "https://social.example/oauth/token")
    #expect(closed.apiHosts == ["social.example"])
    #expect(throws: DefinitionError.self) { try open.with(variables: ["server": "a/b?c"]) }
  }

  @Test func `names the only hosts that may be sent a token`() throws {
    let provider = try custom(
      #""api_hosts": ["api.example", "odd.example:8443", "127.0.0.1", "[::1]:9000"]"#)
    for address in [
      "https://api.example/me?x=1", "https://API.example:443/", "https://api.example",
      "https://odd.example:8443/x", "http://127.0.0.1:8080/x", "https://127.0.0.1/x",
      "http://[::1]:9000/",
    ] {
      #expect(provider.mayReceiveToken(address), "\(address)")
    }
    for address in [
      "http://api.example/", "https://api.example:8443/", "https://api.example.evil.example/",
      "https://evil.example/api.example", "https://api.example@evil.example/",
      "https://odd.example/", "http://[::1]:9001/", "https://xapi.example/", "api.example", "",
      "https://evil.example\\@api.example/", "https://api.example\n.evil.example/",
    ] {
      #expect(!provider.mayReceiveToken(address), "\(address)")
    }
  }

  @Test func `may extend a definition of one's own`() throws {
    let base = try custom("")
    let provider = try Provider.parse(
      #"{"id": "more", "extends": "example", "pkce": "plain"}"#,
      others: { $0 == "example" ? base : nil })
    #expect(provider.endpoint(.token) == "https://auth.example/t")
    #expect(provider.pkce == .plain)
  }

  static let wrong: [(member: String, text: String)] = [
    ("", ""), ("", "[]"), ("", "{"), ("", #""text""#), ("id", "{}"), ("id", #"{"id": 1}"#),
    ("id", #"{"id": ""}"#), ("id", #"{"id": "Up"}"#), ("id", #"{"id": "a b"}"#),
    ("id", #"{"id": "\#(String(repeating: "a", count: 65))"}"#),
    ("protocol", #"{"id": "a"}"#), ("protocol", #"{"id": "a", "protocol": "saml"}"#),
    ("id", #"{"id": "a", "id": "b"}"#), ("colour", #"{"id": "a", "colour": 1}"#),
    ("extends", #"{"id": "a", "extends": "nobody"}"#), ("extends", #"{"id": "a", "extends": 1}"#),
    ("extends", #"{"id": "a", "extends": "../facebook"}"#),
  ]

  @Test(arguments: wrong.indices) func `that is wrong at its top names the member`(_ index: Int) {
    let row = Self.wrong[index]
    expectError(row.member, row.text)
  }

  static let wrongMembers: [(member: String, text: String)] = [
    ("name", #""name": """#), ("name", #""name": "a\nb""#),
    ("endpoints", #""endpoints": []"#), ("endpoints.tokens", #""endpoints": {"tokens": "x"}"#),
    ("endpoints.token", #""endpoints": {"token": "http://auth.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "http://127.0.0.1.evil.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "http://localhost@evil.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "ftp://auth.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "auth.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "https://auth.example/t#f"}"#),
    ("endpoints.token", #""endpoints": {"token": "https://a.example/{x}"}"#),
    ("endpoints.token", #""endpoints": {"token": "https://user@auth.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "https:///t"}"#),
    ("endpoints.token", #""endpoints": {"token": "https://a.example:99999/t"}"#),
    ("endpoints.token", #""endpoints": {"token": 1}"#),
    ("issuer", #""issuer": "http://a.example""#),
    ("api_hosts[1]", #""api_hosts": ["a.example", "https://b.example"]"#),
    ("api_hosts[0]", #""api_hosts": ["*.example"]"#), ("api_hosts[0]", #""api_hosts": [1]"#),
    ("endpoints.token", #""endpoints": {"token": "https://{client_id}.example/t"}"#),
    ("endpoints.token", #""endpoints": {"token": "https://a.example/t?x={client_id}"}"#),
    ("scope_tree", #""scope_tree": "::""#), ("scope_tree", #""scope_tree": """#),
    ("scope_parameter", #""scope_parameter": "a b""#),
    ("public_client_auth", #""public_client_auth": "post""#),
    (
      "errors[0].description_contains",
      #""errors": [{"description_contains": "a", "class": "config"}]"#
    ),
    ("errors[0].header", #""errors": [{"header": "a b", "class": "config"}]"#),
    ("client_auth", #""client_auth": "secret""#), ("pkce", #""pkce": "s256""#),
    ("dpop", #""dpop": true"#), ("token_in", #""token_in": "body""#),
    ("token_scheme", #""token_scheme": "Bearer x""#),
    ("token_parameter", #""token_parameter": "a&b""#),
    ("signature_method", #""signature_method": "hmac-sha1""#), ("body_hash", #""body_hash": 1"#),
    ("app_secret_proof", #""app_secret_proof": "yes""#),
    ("scope_separator", #""scope_separator": ";""#),
    ("reply_scope_separators", #""reply_scope_separators": "x""#),
    ("always_scopes[0]", #""always_scopes": [1]"#),
    ("scope_aliases.a", #""scope_aliases": {"a": 1}"#),
    ("device_style", #""device_style": "pin""#), ("revocation", #""revocation": "delete""#),
    ("introspection", #""introspection": 7"#), ("granted.from", #""granted": {"from": "air"}"#),
    ("granted.header", #""granted": {"from": "header"}"#),
    ("granted.x", #""granted": {"x": 1}"#),
    ("response.expiry", #""response": {"expiry": 1}"#),
    ("response.token", #""response": {"token": ""}"#),
    ("response.token", #""response": {"token": "a..b"}"#),
    ("response.user_id[1]", #""response": {"user_id": ["a", 1]}"#),
    ("response.expires_unit", #""response": {"expires_unit": "days"}"#),
    ("response.missing_expiry", #""response": {"missing_expiry": "soon"}"#),
    ("response.missing_expiry", #""response": {"missing_expiry": 0}"#),
    ("response.zero_expiry", #""response": {"zero_expiry": "unknown"}"#),
    ("response.token_types", #""response": {"token_types": 1}"#),
    ("identity.name", #""identity": {"name": "x"}"#),
    ("renewal.method", #""renewal": {"method": "magic"}"#),
    ("renewal.margin_seconds", #""renewal": {"margin_seconds": -1}"#),
    ("renewal.margin_seconds", #""renewal": {"margin_seconds": 1.5}"#),
    ("renewal.margin_seconds", #""renewal": {"margin_seconds": "600"}"#),
    ("renewal.rotation", #""renewal": {"rotation": "yes"}"#),
    ("permissions.a b", #""permissions": {"a b": {"group": "read"}}"#),
    ("permissions.a.group", #""permissions": {"a": {}}"#),
    ("permissions.a.group", #""permissions": {"a": {"group": "admin"}}"#),
    ("permissions.a.basic", #""permissions": {"a": {"group": "read", "basic": "yes"}}"#),
    ("permissions.a.level", #""permissions": {"a": {"group": "read", "level": 1}}"#),
    ("permissions.a", #""permissions": {"a": "read"}"#),
    (
      "retired_permissions.a",
      #""permissions": {"a": {"group": "read"}}, "retired_permissions": {"a": "gone"}"#
    ),
    ("other_permissions", #""other_permissions": "extended""#),
    ("extended", #""extended": "allow""#),
    ("asks.audience", #""asks": {"audience": "yes"}"#),
    ("asks.separate", #""asks": {"separate": 1}"#),
    ("asks.add_basic", #""asks": {"add_basic": "email"}"#),
    ("asks.order", #""asks": {"order": 1}"#),
    ("rate_headers", #""rate_headers": {}"#),
    ("rate_headers[0].reset", #""rate_headers": [{"unit": "rfc3339"}]"#),
    ("rate_headers[0].unit", #""rate_headers": [{"reset": "x-r"}]"#),
    ("rate_headers[0].member", #""rate_headers": [{"reset": "x-r", "unit": "minutes_in_json"}]"#),
    ("headers.A B", #""headers": {"A B": "x"}"#), ("headers.A", #""headers": {"A": "x\ny"}"#),
    ("error_body.kode", #""error_body": {"kode": "x"}"#),
    ("error_body.code", #""error_body": {"code": "*.x"}"#),
    ("error_body.success_codes", #""error_body": {"success_codes": [{"from": 1, "to": 2}]}"#),
    ("error_body.in_success", #""error_body": {"in_success": "yes"}"#),
    ("error_body.in_success", #""error_body": {"ok": "ok", "in_success": false}"#),
    ("errors", #""errors": {}"#), ("errors[0]", #""errors": [{"class": "invalid"}]"#),
    ("errors[0]", #""errors": [{"at": "token", "class": "invalid"}]"#),
    ("errors[0].class", #""errors": [{"code": 1}]"#),
    (
      "errors[1].class",
      #""errors": [{"code": 1, "class": "config"}, {"code": 2, "class": "dead"}]"#
    ),
    ("errors[0].status", #""errors": [{"status": 99, "class": "config"}]"#),
    ("errors[0].status[1]", #""errors": [{"status": [400, "401"], "class": "config"}]"#),
    ("errors[0].code", #""errors": [{"code": true, "class": "config"}]"#),
    ("errors[0].code", #""errors": [{"code": [], "class": "config"}]"#),
    ("errors[0].code", #""errors": [{"code": null, "class": "config"}]"#),
    ("errors[0].code", #""errors": [{"code": {"from": 5, "to": 2}, "class": "config"}]"#),
    ("errors[0].code[1]", #""errors": [{"code": [1, 2.5], "class": "config"}]"#),
    ("errors[0].code.until", #""errors": [{"code": {"from": 5, "until": 7}, "class": "config"}]"#),
    ("errors[0].at", #""errors": [{"code": 1, "at": "browser", "class": "config"}]"#),
    ("errors[0].kode", #""errors": [{"kode": 1, "class": "config"}]"#),
    ("errors[1]", #""errors": [{"code": 1, "class": "config"}, {"code": 1, "class": "invalid"}]"#),
    ("variables.A", #""variables": {"A": "x"}"#), ("variables.a", #""variables": {"a": "x y"}"#),
  ]

  @Test(arguments: wrongMembers.indices)
  func `that is wrong in one member names its path and what is accepted`(_ index: Int) {
    let row = Self.wrongMembers[index]
    expectError(row.member, #"{"id": "a", "protocol": "oauth2", \#(row.text)}"#)
    // The same where it extends another, before anything is merged.
    guard !row.member.hasPrefix("asks.add_basic"), !row.text.contains(#"{"id""#) else { return }
    if row.member != "granted.header" {
      expectError(row.member, #"{"id": "a", "extends": "x", \#(row.text)}"#)
    }
  }

  @Test func `tells how OAuth 1.0a signs, and what goes with each token`() throws {
    let plain = try custom("", protocol: "oauth1")
    #expect(plain.signatureMethod == .hmacSHA1 && !plain.signsBodyHash)
    for method in SignatureMethod.allCases {
      let provider = try custom(#""signature_method": "\#(method.rawValue)""#, protocol: "oauth1")
      #expect(provider.signatureMethod == method)
    }
    #expect(try custom(#""body_hash": true"#, protocol: "oauth1").signsBodyHash)
    #expect(builtIn("facebook").sendsAppSecretProof)
    for id in Provider.builtInIdentifiers where id != "facebook" {
      #expect(!builtIn(id).sendsAppSecretProof, "\(id)")
    }
  }

  @Test func `takes no member of the other protocol`() {
    expectError(
      "signature_method",
      #"{"id": "a", "protocol": "oauth2", "signature_method": "PLAINTEXT"}"#)
    expectError("body_hash", #"{"id": "a", "protocol": "oauth2", "body_hash": true}"#)
    expectError("app_secret_proof", #"{"id": "a", "protocol": "oauth1", "app_secret_proof": true}"#)
    expectError(
      "body_hash",
      #"{"id": "a", "protocol": "oauth1", "body_hash": true, "signature_method": "PLAINTEXT"}"#)
  }

  @Test func `of OAuth 1 has no renewal`() {
    expectError(
      "renewal.method",
      #"{"id": "a", "protocol": "oauth1", "renewal": {"method": "refresh_token"}, "endpoints": {"token": "https://a.example/t"}}"#
    )
    expectError(
      "endpoints.token",
      #"{"id": "a", "protocol": "oauth2", "renewal": {"method": "refresh_token"}}"#)
  }

  @Test func `shows foreign text in its errors without control characters`() throws {
    do {
      _ = try Provider.parse("{\"id\": \"a\", \"protocol\": \"\\u202Eoauth2\\u001b[2J\"}")
      Issue.record("the protocol was taken")
    } catch {
      #expect(
        error.description == #"protocol: is "\u{202E}oauth2\u{1B}[2J"; accepted: oauth1, oauth2"#)
    }
  }

  private func expectError(_ member: String, _ text: String) {
    do {
      _ = try Provider.parse(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(error.member == member, "\(text): \(error)")
      #expect(!error.problem.isEmpty)
    }
  }
}

@Suite struct `Text from a provider` {
  @Test func `is shown without what could deceive`() {
    #expect(
      ProviderText.safe("a\u{202E}b\u{200B}c\u{1B}[31m\nd")
        == "a\\u{202E}b\\u{200B}c\\u{1B}[31m\\u{A}d")
    #expect(ProviderText.safe("\u{E0041}\u{2028}\u{3164}") == "\\u{E0041}\\u{2028}\\u{3164}")
    #expect(ProviderText.safe("Grüße 会话 👋") == "Grüße 会话 👋")
  }

  @Test func `is capped`() {
    let long = ProviderText.safe(String(repeating: "é ", count: 10_000))
    #expect(long.unicodeScalars.count == ProviderText.limit + 1)
    #expect(long.hasSuffix("…"))
    #expect(
      ProviderText.safe("e" + String(repeating: "\u{301}", count: 5000)).unicodeScalars.count <= 301
    )
  }

  @Test func `holds no token that the provider echoed`() {
    let echoed = ProviderText.safe("Malformed access token EAAB1234567890abcdefghijkl|x=")
    #expect(echoed == "Malformed access token [hidden]")
    #expect(ProviderText.safe("code AAABBBCCCDDDEEEFFFGGG") == "code AAABBBCCCDDDEEEFFFGGG")
  }
}
