import Encoding
import Sodium
import Testing

@testable import OAuth

@Suite struct `A request of OAuth 2.0` {
  let endpoint = try! RequestURL("https://as.example/token")

  func client(_ authentication: OAuth2Client.Authentication) throws -> OAuth2Client {
    authentication == .none
      ? try OAuth2Client(id: "app~1", .none)
      : try OAuth2Client(id: "app~1", secret: SecretBytes("p %"), authentication)
  }

  @Test func `shows its client in one way`() throws {
    for (authentication, header, rest) in [
      (OAuth2Client.Authentication.post, nil, "&client_id=app%7E1&client_secret=p+%25"),
      (.basic, "Basic " + Base64.encode(Array("app%7E1:p+%25".utf8)), ""),
      (.basicRaw, "Basic " + Base64.encode(Array("app~1:p %".utf8)), ""),
      (.none, nil, "&client_id=app%7E1"),
    ] as [(OAuth2Client.Authentication, String?, String)] {
      let request = try OAuth2.refresh(
        at: endpoint, token: SecretBytes("r&1"), by: client(authentication))
      #expect(string(request.authorization) == header)
      #expect(string(request.form) == "grant_type=refresh_token&refresh_token=r%261" + rest)
    }
    for authentication in [OAuth2Client.Authentication.post, .basic, .basicRaw] {
      #expect(throws: OAuthError.insecure("no client secret")) {
        _ = try OAuth2Client(id: "a", authentication)
      }
      #expect(throws: OAuthError.insecure("no client secret")) {
        _ = try OAuth2Client(id: "a", secret: SecretBytes(""), authentication)
      }
    }
    #expect(throws: OAuthError.badParameter("client_id")) { _ = try OAuth2Client(id: "", .none) }
  }

  @Test func `exchanges a code with the same address and the verifier`() throws {
    let pkce = PKCE()
    let verifier = pkce.verifier.string
    #expect(verifier.utf8.count == 43)
    let request = try OAuth2.codeExchange(
      at: endpoint, code: SecretBytes("c/1"), redirectURI: "http://127.0.0.1:1/cb",
      verifier: pkce, by: client(.none), further: [("resource", "x")])
    #expect(
      string(request.form)
        == "grant_type=authorization_code&code=c%2F1&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcb"
        + "&code_verifier=\(verifier)&client_id=app%7E1&resource=x")
    #expect(throws: OAuthError.repeatedParameter("code")) {
      _ = try OAuth2.codeExchange(
        at: endpoint, code: SecretBytes("c"), redirectURI: "http://127.0.0.1:1/cb",
        verifier: PKCE(), by: client(.none), further: [("code", "x")])
    }
    let without = try OAuth2.codeExchange(
      at: endpoint, code: SecretBytes("c"), redirectURI: "https://a.example/", by: client(.none))
    #expect(string(without.form)?.contains("code_verifier") == false)
  }

  @Test func `starts and polls a device grant with the client's id in the form`() throws {
    for authentication in [OAuth2Client.Authentication.post, .basic, .basicRaw, .none] {
      let start = try OAuth2.device(
        at: endpoint, scopes: ["a", "b"], by: client(authentication))
      let text = try required(start.form)
      #expect(text.contains("scope=a+b"))
      #expect(text.split(separator: "&").count { $0 == "client_id=app%7E1" } == 1)
      let poll = try OAuth2.devicePoll(
        at: endpoint, deviceCode: SecretBytes("d"), by: client(authentication))
      let polled = try required(poll.form)
      #expect(
        polled.hasPrefix(
          "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=d"))
      #expect(polled.split(separator: "&").count { $0 == "client_id=app%7E1" } == 1)
    }
  }

  @Test func `revokes and introspects with a hint`() throws {
    let revocation = try OAuth2.revocation(
      at: endpoint, of: SecretBytes("t"), .refreshToken, by: client(.none))
    #expect(string(revocation.form) == "token=t&token_type_hint=refresh_token&client_id=app%7E1")
    let introspection = try OAuth2.introspection(
      at: endpoint, of: SecretBytes("t"), .accessToken, by: client(.basic))
    #expect(string(introspection.form) == "token=t&token_type_hint=access_token")
    let plain = try OAuth2.revocation(
      at: endpoint, of: SecretBytes("t"), nil, by: client(.basic))
    #expect(string(plain.form) == "token=t")
  }

  @Test func `asks for the client's own token`() throws {
    let request = try OAuth2.clientCredentials(at: endpoint, by: client(.basic))
    #expect(string(request.form) == "grant_type=client_credentials")
  }

  @Test(arguments: ["", "a b", "a\"", "a\\", "ä", "a\n"])
  func `asks for no scope that the protocol has not`(_ scope: String) {
    #expect(throws: OAuthError.badParameter("scope")) {
      _ = try OAuth2.refresh(
        at: endpoint, token: SecretBytes("r"), scopes: [scope], by: client(.none))
    }
  }

  @Test func `goes over TLS, or to this machine`() throws {
    #expect(throws: OAuthError.insecure("credentials over plain HTTP")) {
      _ = try OAuth2.refresh(
        at: RequestURL("http://as.example/token"), token: SecretBytes("r"), by: client(.none))
    }
    #expect(throws: OAuthError.badURL("a fragment")) {
      _ = try OAuth2.refresh(
        at: RequestURL("https://as.example/token#f"), token: SecretBytes("r"), by: client(.none))
    }
    _ = try OAuth2.refresh(
      at: RequestURL("http://127.0.0.1:9/token"), token: SecretBytes("r"), by: client(.none))
  }

  func authorization(
    state: String = "0123456789012345678901", challenge: String? = "ch",
    redirect: String = "http://127.0.0.1:1/cb", further: OAuth2.Fields = []
  ) throws -> AuthorizationRequest {
    try AuthorizationRequest(
      clientID: "app~1", redirectURI: redirect, scopes: ["read", "write"], state: state,
      challenge: challenge, further: further)
  }

  @Test func `opens a page with every field once, S256 and the endpoint's own query`() throws {
    let url = try authorization(further: [("prompt", "consent")]).url(
      at: RequestURL("https://as.example/authorize?tenant=a%20b"))
    #expect(
      url
        == "https://as.example/authorize?tenant=a%20b&response_type=code&client_id=app~1"
        + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcb&scope=read%20write"
        + "&state=0123456789012345678901&code_challenge=ch&code_challenge_method=S256"
        + "&prompt=consent")
    for further in [[("state", "x")], [("code_challenge_method", "plain")]] {
      #expect(throws: OAuthError.repeatedParameter(further[0].0)) {
        try authorization(further: further).url(at: RequestURL("https://as.example/authorize"))
      }
    }
    #expect(throws: OAuthError.repeatedParameter("client_id")) {
      try authorization().url(at: RequestURL("https://as.example/authorize?client_id=other"))
    }
    #expect(throws: OAuthError.insecure("a sign-in page without TLS")) {
      try authorization().url(at: RequestURL("http://as.example/authorize"))
    }
    #expect(throws: OAuthError.badParameter("state")) { try authorization(state: "short") }
    #expect(throws: OAuthError.self) { try authorization(redirect: "https://a.example/#f") }
    let states = Set((0..<50).map { _ in AuthorizationRequest.newState() })
    #expect(states.count == 50)
    #expect(states.allSatisfy { $0.utf8.count == 43 })
  }

  @Test func `is pushed with all its fields, and then named by the server's name alone`() throws {
    for authentication in [OAuth2Client.Authentication.post, .basic, .basicRaw, .none] {
      let pushed = try OAuth2.push(authorization(), at: endpoint, by: client(authentication))
      let fields = try required(pushed.form).split(separator: "&")
      #expect(fields.count { $0 == "client_id=app%7E1" } == 1)
      #expect(fields.contains("code_challenge_method=S256"))
      #expect(fields.contains("state=0123456789012345678901"))
      #expect(
        (string(pushed.authorization) != nil)
          == (fields.contains("client_secret=p+%25") ? false : authentication != .none))
    }
    #expect(
      try authorization().url(
        at: RequestURL("https://as.example/authorize"), pushedAs: "urn:x:1")
        == "https://as.example/authorize?client_id=app~1&request_uri=urn%3Ax%3A1")
    #expect(throws: OAuthError.badParameter("request_uri")) {
      _ = try OAuth2.push(
        authorization(further: [("request_uri", "x")]), at: endpoint, by: client(.none))
    }
    #expect(throws: OAuthError.badParameter("client_id")) {
      _ = try OAuth2.push(
        authorization(), at: endpoint, by: OAuth2Client(id: "another", .none))
    }
  }

  @Test(arguments: [
    "", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
    String(repeating: "a", count: 42) + "+", String(repeating: "a", count: 42) + "=",
  ])
  func `has no verifier that PKCE has not`(_ verifier: String) {
    #expect(throws: OAuthError.badParameter("code_verifier")) {
      _ = try PKCE(verifier: SecretBytes(verifier))
    }
  }

  @Test func `writes base64url as libsodium does, of every length`() {
    for count in 0..<80 {
      let bytes = Random.bytes(count)
      #expect(bytes.withBytes { Base64URL.encode($0) }.string == Base64.encodeURL(bytes))
    }
    let all = (0...255).map { UInt8($0) }
    #expect(all.withBytes { Base64URL.encode($0) }.string == Base64.encodeURL(all))
  }
}
