import Crypto
import Encoding
import Foundation
import Sodium
import Testing
import Time

@testable import OAuth

private func device(_ text: String) throws -> DeviceAuthorization {
  try Array(text.utf8).withBytes { (bytes) throws(OAuthError) in try DeviceAuthorization(bytes) }
}

@Suite struct `An answer on the way to a token` {
  @Test func `begins a device grant under any of the names that providers use`() throws {
    // RFC 8628's own example, Google's, Facebook's, and one that sent a form.
    for (text, code, address, complete, interval, lifetime) in [
      (
        #"{"device_code":"GmRh","user_code":"WDJB-MJHT","verification_uri":"https://example.com/device","verification_uri_complete":"https://example.com/device?user_code=WDJB-MJHT","expires_in":1800,"interval":5}"#,
        "GmRh", "https://example.com/device",
        "https://example.com/device?user_code=WDJB-MJHT" as String?, 5, 1800
      ),
      (
        #"{"device_code":"4/4-GM","user_code":"GQVQ-JKEC","verification_url":"https://www.google.com/device","expires_in":1800,"interval":"7"}"#,
        "4/4-GM", "https://www.google.com/device", nil, 7, 1800
      ),
      (
        #"{"code":"abc","user_code":"A1NWZ9","verification_uri":"https://www.facebook.com/device","expires_in":420,"interval":5}"#,
        "abc", "https://www.facebook.com/device", nil, 5, 420
      ),
      (
        "device_code=d&user_code=U-1&verification_uri=https%3A%2F%2Fgithub.com%2Flogin%2Fdevice&expires_in=900",
        "d", "https://github.com/login/device", nil, 5, 900
      ),
      (
        #"{"device_code":"d","user_code":"U","verification_uri":"http://127.0.0.1:9/d","interval":0}"#,
        "d", "http://127.0.0.1:9/d", nil, 1, 900
      ),
    ] as [(String, String, String, String?, Int64, Int64)] {
      let answer = try device(text)
      #expect(answer.deviceCode.string == code)
      #expect(answer.address == address)
      #expect(answer.completeAddress == complete)
      #expect(answer.interval == interval)
      #expect(answer.lifetime == lifetime)
    }
  }

  @Test(arguments: [
    "", "{}", "[]", "{\"device_code\":", #"{"device_code":"d","user_code":"u"}"#,
    #"{"device_code":"d","verification_uri":"https://a.example/"}"#,
    #"{"user_code":"u","verification_uri":"https://a.example/"}"#,
    #"{"device_code":"d","user_code":"u","verification_uri":"http://a.example/"}"#,
    #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)"}"#,
    #"{"device_code":"d","user_code":"u\u001b[2J","verification_uri":"https://a.example/"}"#,
    #"{"device_code":"d","device_code":"e","user_code":"u","verification_uri":"https://a.example/"}"#,
    #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example/","expires_in":-1}"#,
    #"{"device_code":7,"user_code":"u","verification_uri":"https://a.example/"}"#,
  ])
  func `is refused where a person could not use it`(_ text: String) {
    #expect(throws: OAuthError.self) { _ = try device(text) }
  }

  @Test func `names a new interval or none`() {
    func interval(_ text: String) -> Int64? {
      Array(text.utf8).withBytes { DeviceAuthorization.interval(ofAnswer: $0) }
    }
    #expect(interval(#"{"error":"slow_down","interval":10}"#) == 10)
    #expect(interval(#"{"error":"slow_down"}"#) == nil)
    #expect(interval("<html>") == nil)
    #expect(interval("") == nil)
  }

  @Test func `gives a pushed request its name`() throws {
    func read(_ text: String) throws -> PushedRequest {
      try Array(text.utf8).withBytes { (bytes) throws(OAuthError) in try PushedRequest(bytes) }
    }
    let pushed = try read(
      #"{"request_uri":"urn:ietf:params:oauth:request_uri:made-up","expires_in":60}"#)
    #expect(pushed.requestURI == "urn:ietf:params:oauth:request_uri:made-up")
    #expect(pushed.lifetime == 60)
    for text in ["{}", #"{"request_uri":""}"#, #"{"request_uri":"a b"}"#, #"{"request_uri":1}"#] {
      #expect(throws: OAuthError.self) { try read(text) }
    }
  }

  @Test func `gives an app that registers itself its id and secret`() throws {
    func read(_ text: String) throws -> AppRegistration {
      try Array(text.utf8).withBytes { (bytes) throws(OAuthError) in try AppRegistration(bytes) }
    }
    let given = try read(
      #"{"id":"1","client_id":"TWhM","client_secret":"ZEk","client_secret_expires_at":0}"#)
    #expect(given.clientID == "TWhM")
    #expect(string(given.clientSecret) == "ZEk")
    #expect(throws: OAuthError.self) { _ = try read(#"{"error":"Validation failed"}"#) }
    let request = try AppRegistration.request(
      at: RequestURL("https://social.example/api/v1/apps"), name: "A B",
      redirects: ["http://127.0.0.1/", "urn:ietf:wg:oauth:2.0:oob"], scopes: ["read", "write"])
    #expect(
      string(request.form)
        == "client_name=A+B&redirect_uris=http%3A%2F%2F127.0.0.1%2F%0A"
        + "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob&scopes=read+write")
  }

  @Test func `stands for all tenants only where nothing else differs`() throws {
    func read(_ named: String, _ issuer: String) throws -> String? {
      try Array(#"{"issuer":"\#(named)"}"#.utf8).withBytes { (bytes) throws(OAuthError) in
        try ServerMetadata(bytes, issuer: issuer).issuer
      }
    }
    let common = "https://login.example/common/v2.0"
    #expect(try read(common, common) == common)
    #expect(try read("https://login.example/{tenantid}/v2.0", common) == nil)
    for other in [
      "https://evil.example/{tenantid}/v2.0", "https://{tenantid}/common/v2.0",
      "https://login.example/{tenantid}/v1.0", "https://login.example/{tenantid}/{tenantid}",
      "https://login.example/{tenantid}", "https://login.example/other/v2.0",
    ] {
      #expect(throws: OAuthError.badAnswer("another issuer")) { try read(other, common) }
    }
  }
}

@Suite struct `A client without a shared secret` {
  @Test func `signs a statement for one server and sixty seconds`() throws {
    let key = try P256.SigningKey.generate()
    let jwk = try JSONWebKey(key.publicKey.jwk)
    let pair = SharedKey(key)
    var seen: Set<String> = []
    for _ in 0..<3 {
      let client = try OAuth2Client(
        id: "https://app.example/client.json", audience: "https://as.example",
        time: Timestamp(seconds: 1_800_000_000),
        key: ("ES256", { (message) throws(OAuthError) in try pair.sign(message) }))
      #expect(string(client.authorization()) == nil)
      let request = try OAuth2.refresh(
        at: RequestURL("https://as.example/token"), token: SecretBytes("r"), by: client)
      let fields = try required(request.form).split(separator: "&").map(String.init)
      #expect(
        fields.prefix(4) == [
          "grant_type=refresh_token", "refresh_token=r",
          "client_id=https%3A%2F%2Fapp.example%2Fclient.json",
          "client_assertion_type="
            + "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer",
        ])
      let text = try #require(fields.last?.split(separator: "=").last.map(String.init))
      let statement = try JSONWebSignature(text)
      #expect(statement.header("alg") == "ES256")
      #expect(statement.claim("iss") == "https://app.example/client.json")
      #expect(statement.claim("sub") == "https://app.example/client.json")
      #expect(statement.claim("aud") == "https://as.example")
      #expect(statement.number("iat") == 1_800_000_000)
      #expect(statement.number("exp") == 1_800_000_060)
      #expect(pair.verifies(statement.signature, statement.signed))
      seen.insert(try #require(statement.claim("jti")))
    }
    #expect(seen.count == 3)
    #expect(jwk.member("crv") == "P-256")
  }

  @Test func `shows itself by Basic with an empty secret where the server wants that`() throws {
    let client = try OAuth2Client(publicByBasic: "reddit-app")
    let request = try OAuth2.refresh(
      at: RequestURL("https://as.example/token"), token: SecretBytes("r"), by: client)
    #expect(string(request.authorization) == "Basic " + Base64.encode(Array("reddit-app:".utf8)))
    #expect(string(request.form) == "grant_type=refresh_token&refresh_token=r")
  }

  @Test func `is an app token at Facebook's device addresses`() throws {
    let url = try RequestURL("https://graph.facebook.com/v2.6/device/login")
    let begun = try FacebookDevice.begin(
      at: url, clientID: "2000", secret: SecretBytes("ct"), scopes: ["email", "user_photos"])
    #expect(string(begun.form) == "access_token=2000%7Cct&scope=email%2Cuser_photos")
    let poll = try FacebookDevice.poll(
      at: url, clientID: "2000", secret: SecretBytes("ct"), code: SecretBytes("c"))
    #expect(string(poll.form) == "access_token=2000%7Cct&code=c")
  }

  /// Holds the key for a closure.
  private final class SharedKey: Sendable {
    let key: P256.SigningKey
    init(_ key: consuming P256.SigningKey) { self.key = key }

    func sign(_ message: RawSpan) throws(OAuthError) -> [UInt8] {
      do throws(CryptoError) { return try key.sign(message) } catch {
        throw .cannotSign("\(error)")
      }
    }

    func verifies(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
      message.withBytes { key.publicKey.verify(signature, $0) }
    }
  }
}

@Suite struct `A challenge that is the verifier` {
  @Test func `is named as such, and only where it is asked for`() throws {
    let pkce = PKCE()
    #expect(pkce.plainChallenge == pkce.verifier.string)
    let request = try AuthorizationRequest(
      clientID: "c", redirectURI: "http://127.0.0.1:1/", scopes: ["a"],
      scopeParameter: "user_scope",
      state: "0123456789012345678901", challenge: pkce.plainChallenge, challengeMethod: "plain")
    let url = try request.url(at: RequestURL("https://as.example/a"))
    #expect(url.contains("&user_scope=a&"))
    #expect(url.contains("&code_challenge=\(pkce.plainChallenge)&code_challenge_method=plain"))
  }
}
