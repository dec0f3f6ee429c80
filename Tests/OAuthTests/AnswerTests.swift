import Crypto
import Encoding
import Sodium
import Testing

@testable import OAuth

@Suite struct `An answer in the browser's address` {
  func read(
    _ query: String, issuer: String? = nil, requiresIssuer: Bool = false
  ) throws -> String {
    switch try RedirectAnswer.read(
      query: query, state: "st+ate", issuer: issuer, requiresIssuer: requiresIssuer)
    {
    case .code(let code): "code " + code.string
    case .refused(let error, let description): "refused \(error) \(description ?? "-")"
    }
  }

  @Test func `holds a code or the provider's refusal`() throws {
    #expect(try read("code=a%2Fb&state=st%2Bate") == "code a/b")
    #expect(try read("state=st%2Bate&code=c&session_state=x") == "code c")
    #expect(
      try read("error=access_denied&error_description=no+thanks&state=st%2Bate")
        == "refused access_denied no thanks")
    #expect(try read("error=server_error&state=st%2Bate") == "refused server_error -")
  }

  @Test(arguments: [
    "", "code=c", "code=c&state=", "code=c&state=other", "code=c&state=st+ate",
    "code=c&state=st%2Bat", "code=c&state=st%2Batee", "state=st%2Bate", "code=&state=st%2Bate",
    "code=c&code=d&state=st%2Bate", "code=c&state=st%2Bate&state=st%2Bate",
    "code=c&error=access_denied&state=st%2Bate", "code=%zz&state=st%2Bate", "error=access_denied",
  ])
  func `of another sign-in, or one that is not well formed, is refused`(_ query: String) {
    #expect(throws: OAuthError.self) { try read(query) }
  }

  @Test func `names the server that was asked`() throws {
    let query = "code=c&state=st%2Bate&iss=https%3A%2F%2Fas.example"
    #expect(try read(query, issuer: "https://as.example", requiresIssuer: true) == "code c")
    #expect(throws: OAuthError.badAnswer("another server's iss")) {
      try read(query, issuer: "https://as.example/", requiresIssuer: true)
    }
    #expect(throws: OAuthError.badAnswer("no iss")) {
      try read("code=c&state=st%2Bate", issuer: "https://as.example", requiresIssuer: true)
    }
    // Not announced: it may be missing, but not wrong.
    #expect(try read("code=c&state=st%2Bate", issuer: "https://as.example") == "code c")
    #expect(throws: OAuthError.badAnswer("another server's iss")) {
      try read("error=access_denied&state=st%2Bate&iss=x", issuer: "https://as.example")
    }
  }
}

@Suite struct `A server's own document` {
  func read(_ text: String, issuer: String = "https://as.example/p") throws -> ServerMetadata {
    try Array(text.utf8).withBytes { text throws(OAuthError) in
      try ServerMetadata(text, issuer: issuer)
    }
  }

  @Test func `is where the two standards say`() throws {
    for (issuer, oauth, openID) in [
      (
        "https://h.example", "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration"
      ),
      (
        "https://h.example/", "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration"
      ),
      (
        "https://h.example/p/q/", "/.well-known/oauth-authorization-server/p/q",
        "/p/q/.well-known/openid-configuration"
      ),
    ] {
      #expect(try ServerMetadata.url(of: issuer).text == "https://h.example" + oauth)
      #expect(try ServerMetadata.openIDURL(of: issuer).text == "https://h.example" + openID)
    }
    for bad in ["https://h.example/?a", "https://h.example/#f", "http://h.example", "h.example"] {
      #expect(throws: OAuthError.self) { try ServerMetadata.url(of: bad) }
    }
    #expect(
      try ServerMetadata.url(of: "http://127.0.0.1:9/p").text
        == "http://127.0.0.1:9/.well-known/oauth-authorization-server/p")
  }

  @Test func `fills in what the standard says for what is missing`() throws {
    let metadata = try read("{\"issuer\":\"https://as.example/p\"}")
    #expect(metadata.tokenAuthentication == ["client_secret_basic"])
    #expect(metadata.grantTypes == ["authorization_code", "implicit"])
    #expect(metadata.challengeMethods == [])
    #expect(!metadata.sendsIssuer && !metadata.requiresPush)
    #expect(metadata.tokenEndpoint == nil)
  }

  @Test func `tells its endpoints`() throws {
    let metadata = try read(
      """
      {"issuer":"https://as.example/p","authorization_endpoint":"https://as.example/a",
      "token_endpoint":"https://as.example/t","revocation_endpoint":"https://as.example/r",
      "introspection_endpoint":"https://as.example/i","device_authorization_endpoint":null,
      "pushed_authorization_request_endpoint":"https://as.example/par",
      "userinfo_endpoint":"https://as.example/u","scopes_supported":["a","b"],
      "code_challenge_methods_supported":["S256"],"dpop_signing_alg_values_supported":["ES256"],
      "authorization_response_iss_parameter_supported":true,
      "require_pushed_authorization_requests":true,"unknown":{"a":[1]}}
      """)
    #expect(metadata.authorizationEndpoint?.text == "https://as.example/a")
    #expect(metadata.tokenEndpoint?.text == "https://as.example/t")
    #expect(metadata.revocationEndpoint?.text == "https://as.example/r")
    #expect(metadata.introspectionEndpoint?.text == "https://as.example/i")
    #expect(metadata.deviceEndpoint == nil)
    #expect(metadata.pushEndpoint?.text == "https://as.example/par")
    #expect(metadata.userInfoEndpoint?.text == "https://as.example/u")
    #expect(metadata.scopes == ["a", "b"])
    #expect(metadata.challengeMethods == ["S256"])
    #expect(metadata.proofAlgorithms == ["ES256"])
    #expect(metadata.sendsIssuer && metadata.requiresPush)
  }

  @Test(arguments: [
    "", "[]", "{}", "{\"issuer\":\"https://as.example/p/\"}", "{\"issuer\":\"https://as.example\"}",
    "{\"issuer\":\"https://AS.example/p\"}", "{\"issuer\":1}",
    "{\"issuer\":\"https://as.example/p\",\"issuer\":\"https://as.example/p\"}",
    "{\"issuer\":\"https://as.example/p\",\"token_endpoint\":\"http://as.example/t\"}",
    "{\"issuer\":\"https://as.example/p\",\"token_endpoint\":\"/t\"}",
    "{\"issuer\":\"https://as.example/p\",\"token_endpoint\":7}",
    "{\"issuer\":\"https://as.example/p\",\"scopes_supported\":\"a\"}",
    "{\"issuer\":\"https://as.example/p\",\"scopes_supported\":[1]}",
    "{\"issuer\":\"https://as.example/p\",\"require_pushed_authorization_requests\":\"true\"}",
  ])
  func `of another issuer, or with wrong members, is discarded`(_ text: String) {
    #expect(throws: OAuthError.self) { try read(text) }
  }

  /// Equal for Swift's `==`, since both are é.
  @Test func `names its issuer byte for byte`() {
    #expect("\u{e9}" == "e\u{301}")
    #expect(throws: OAuthError.badAnswer("another issuer")) {
      try read("{\"issuer\":\"https://as.example/e\u{301}\"}", issuer: "https://as.example/\u{e9}")
    }
  }
}

@Suite struct `A proof of possession` {
  final class Signer: Sendable {
    let key: P256.SigningKey
    init() throws { key = try P256.SigningKey.generate() }

    func proofKey() throws -> DPoP.Key {
      try DPoP.Key(publicKey: JSONWebKey(key.publicKey.jwk)) { (message) throws(OAuthError) in
        do throws(CryptoError) { return try self.key.sign(message) } catch {
          throw .cannotSign("\(error)")
        }
      }
    }
  }

  @Test func `names method, address and time, and verifies by the key in it`() throws {
    let key = try Signer().proofKey()
    let text = try DPoP.proof(
      "POST", RequestURL("HTTPS://AS.example:443/token?a=b#c"), by: key, identifier: "id",
      time: .init(seconds: 1_700_000_000))
    let (proof, found) = try DPoP.verify(text, holdsES256)
    #expect(found == key.publicKey)
    #expect(proof.claim("jti") == "id")
    #expect(proof.claim("htm") == "POST")
    #expect(proof.claim("htu") == "https://as.example/token")
    #expect(proof.number("iat") == 1_700_000_000)
    #expect(proof.claim("ath") == nil)
    #expect(proof.claim("nonce") == nil)
    #expect(found.member("d") == nil)
    #expect(proof.signature.count == 64)
  }

  @Test func `holds the token's hash and the server's nonce where there are any`() throws {
    let key = try Signer().proofKey()
    let hash = DPoP.hash(of: SecretBytes("token"))
    let text = try DPoP.proof(
      "GET", RequestURL("https://rs.example/r"), by: key, accessTokenHash: hash,
      nonce: "n \"1\"", time: .init(seconds: 1))
    let (proof, _) = try DPoP.verify(text, holdsES256)
    #expect(proof.claim("ath") == hash)
    #expect(proof.claim("nonce") == "n \"1\"")
    #expect(try #require(proof.claim("jti")).utf8.count == 16)
  }

  @Test func `is another each time`() throws {
    let key = try Signer().proofKey()
    let url = try RequestURL("https://rs.example/r")
    let proofs = try (0..<20).map { _ in
      try DPoP.proof("GET", url, by: key, time: .init(seconds: 1))
    }
    #expect(Set(proofs).count == 20)
  }

  @Test func `by another key, or of another form, does not verify`() throws {
    let key = try Signer().proofKey()
    let url = try RequestURL("https://rs.example/r")
    let first = try DPoP.proof("GET", url, by: key, time: .init(seconds: 1))
    let other = try DPoP.proof("GET", url, by: Signer().proofKey(), time: .init(seconds: 1))
    let parts = (first.split(separator: "."), other.split(separator: "."))
    for bad in [
      "\(parts.0[0]).\(parts.0[1]).\(parts.1[2])", "\(parts.1[0]).\(parts.0[1]).\(parts.0[2])",
      "\(parts.0[0]).\(parts.0[1])", first + ".", first + "=", "", "..",
    ] {
      #expect(throws: OAuthError.self, "\(bad)") { try DPoP.verify(bad, holdsES256) }
    }
    // `none` and a symmetric algorithm would let anybody sign.
    for (header, claims) in [
      ("{\"typ\":\"dpop+jwt\",\"alg\":\"none\",\"jwk\":\(key.publicKey.text)}", "{}"),
      ("{\"typ\":\"dpop+jwt\",\"alg\":\"HS256\",\"jwk\":\(key.publicKey.text)}", "{}"),
      ("{\"typ\":\"JWT\",\"alg\":\"ES256\",\"jwk\":\(key.publicKey.text)}", "{}"),
      ("{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\"}", "{}"),
      ("{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":\(key.publicKey.text)}", "{\"jti\":\"\"}"),
    ] {
      let text = [header, claims].map { Base64.encodeURL(Array($0.utf8)) }.joined(separator: ".")
      #expect(throws: OAuthError.self) {
        try DPoP.verify(text + ".AAAA") { _, _, _ in true }
      }
    }
  }

  @Test(arguments: [
    "{}", "{\"kty\":\"EC\"}", "{\"kty\":\"oct\",\"k\":\"AAAA\"}", "x",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"a\",\"y\":1}",
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"a\",\"y\":\"b\",\"d\":\"c\"}",
    "{\"kty\":\"EC\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"a\",\"y\":\"b\"}",
  ])
  func `holds no key that is incomplete, symmetric or private`(_ text: String) {
    #expect(throws: OAuthError.self) { try JSONWebKey(text) }
  }

  @Test func `names its key whatever the order of its members`() throws {
    let text = try Signer().key.publicKey.jwk
    let key = try JSONWebKey(text)
    #expect(key.text == text)
    let members = ["crv", "kty", "x", "y"].reversed().map { "\"\($0)\" : \"\(key.member($0)!)\"" }
    let other = try JSONWebKey("{ \(members.joined(separator: ", ")), \"kid\":\"k\" }")
    #expect(other == key)
    #expect(other.thumbprint == Base64.encodeURL(SHA256.digest(Array(text.utf8)).bytes))
  }
}
