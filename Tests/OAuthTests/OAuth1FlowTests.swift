import Encoding
import Foundation
import Sodium
import Testing

@testable import OAuth

@Suite struct `A sign-in by OAuth 1.0a` {
  let moment = OAuth1Request.Moment("n", 1_322_697_052)
  let endpoint = try! RequestURL("https://api.twitter.com/oauth/request_token")
  let tokenEndpoint = try! RequestURL("https://api.twitter.com/oauth/access_token")

  func temporary(_ body: String) throws -> TemporaryCredentials {
    try Array(body.utf8).withBytes { body throws(OAuthError) in try TemporaryCredentials(body) }
  }

  @Test func `begins with a callback or with oob, which is signed and not in the form`() throws {
    for (callback, expected) in [
      (OAuth1.Callback.pin, "oob"),
      (.url("http://127.0.0.1:1/a?b=c"), "http%3A%2F%2F127.0.0.1%3A1%2Fa%3Fb%3Dc"),
    ] {
      let request = try OAuth1.temporaryCredentials(
        at: endpoint, callback, by: credentials("c", "s"), .hmacSHA1, moment)
      let header = try required(request.authorization)
      #expect(header.contains("oauth_callback=\"\(expected)\""))
      #expect(!header.contains("oauth_token"))
      #expect(request.method == .post)
      #expect(string(request.form) == nil)
    }
    let less = try OAuth1.temporaryCredentials(
      at: endpoint, .pin, by: credentials("c", "s"), .hmacSHA1, moment,
      further: [("x_auth_access_type", "read")])
    #expect(string(less.form) == "x_auth_access_type=read")
    for bad in ["", "/ready", "ready", "http://a.example/#f", "http://a.example/ b"] {
      #expect(throws: OAuthError.self) {
        _ = try OAuth1.temporaryCredentials(
          at: endpoint, .url(bad), by: credentials("c", "s"), .hmacSHA1, moment)
      }
    }
    #expect(throws: OAuthError.badParameter("oauth_token")) {
      _ = try OAuth1.temporaryCredentials(
        at: endpoint, .pin, by: credentials("c", "s", "t", "ts"), .hmacSHA1, moment)
    }
  }

  @Test(arguments: [
    "oauth_token=rt&oauth_token_secret=rs",
    "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=",
    "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=false",
    "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=True",
    "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=1",
    "oauth_token=&oauth_token_secret=rs&oauth_callback_confirmed=true",
    "oauth_token_secret=rs&oauth_callback_confirmed=true",
    "oauth_token=rt&oauth_callback_confirmed=true",
    "oauth_token=rt&oauth_token=ru&oauth_token_secret=rs&oauth_callback_confirmed=true",
    "oauth_token=%zz&oauth_token_secret=rs&oauth_callback_confirmed=true", "", "<html>",
  ])
  func `stops unless the callback is confirmed and both credentials are there`(_ body: String) {
    #expect(throws: OAuthError.self) { _ = try temporary(body) }
  }

  @Test func `goes on with the verifier of this sign-in alone`() throws {
    let temporary = try temporary(
      "oauth_token=r%2Bt&oauth_token_secret=rs&oauth_callback_confirmed=true\n")
    let token = temporary.token
    #expect(token == "r+t")
    let found = try temporary.verifier(fromQuery: "own=1&oauth_token=r%2Bt&oauth_verifier=v%20w")
    #expect(string(found) == "v w")
    let denied = try temporary.verifier(fromQuery: "denied=r%2Bt")
    #expect(string(denied) == nil)
    for query in [
      "oauth_token=other&oauth_verifier=v", "oauth_verifier=v", "oauth_token=r%2Bt", "denied=other",
      "oauth_token=r%2Bt&oauth_verifier=", "", "oauth_token=r%2Bt&oauth_token=x&oauth_verifier=v",
      "oauth_token=r%2Bt&oauth_verifier=v&oauth_verifier=w",
    ] {
      var refused = false
      do { _ = try temporary.verifier(fromQuery: query) } catch { refused = true }
      #expect(refused, "\(query)")
    }
    let url = try temporary.authorizeURL(
      at: RequestURL("https://api.twitter.com/oauth/authorize?lang=en"),
      further: [("force_login", "true")])
    #expect(
      url == "https://api.twitter.com/oauth/authorize?lang=en&oauth_token=r%2Bt&force_login=true")
  }

  @Test func `ends with the verifier signed, a typed number without its spaces`() throws {
    let request = try OAuth1.token(
      at: tokenEndpoint, verifier: " 1234567\n", by: credentials("c", "s", "rt", "rs"), .hmacSHA1,
      moment)
    let text = try required(request.authorization)
    #expect(text.contains("oauth_token=\"rt\""))
    #expect(text.contains("oauth_verifier=\"1234567\""))
    #expect(string(request.form) == nil)
    let same = try header(
      "POST", tokenEndpoint.text, by: credentials("c", "s", "rt", "rs"), moment
    ) { $0.extra = [("oauth_verifier", "1234567")] }
    #expect(text == same)
    #expect(throws: OAuthError.badParameter("oauth_verifier")) {
      _ = try OAuth1.token(
        at: tokenEndpoint, verifier: " ", by: credentials("c", "s", "rt", "rs"), .hmacSHA1, moment)
    }
  }

  @Test func `by xAuth signs name and password, and sends them encoded once`() throws {
    let request = try OAuth1.xAuth(
      at: tokenEndpoint, username: "oauth_test_exec", password: SecretBytes("twitter-xauth"),
      by: credentials("JvyS7DO2qd6NNTsXJ4E7zA", "9z6157pUbOBqtbm0A0q4r29Y2EYzIHlUwbF4Cl9c"),
      .hmacSHA1,
      OAuth1Request.Moment("6AN2dKRzxyGhmIXUKSmp1JcB4pckM8rD3frKMTmVAo", 1_284_565_601))
    #expect(
      string(request.form)
        == "x_auth_mode=client_auth&x_auth_password=twitter-xauth&x_auth_username=oauth_test_exec")
    #expect(
      try signature(required(request.authorization)) == "1L1oXQmawZAkQ47FHLwcOV+kjwc=")
    let special = try OAuth1.xAuth(
      at: tokenEndpoint, username: "ü", password: SecretBytes("p+ &%ä"),
      by: credentials("c", "s"), .hmacSHA1, moment)
    #expect(
      string(special.form)
        == "x_auth_mode=client_auth&x_auth_password=p%2B%20%26%25%C3%A4&x_auth_username=%C3%BC")
  }

  @Test func `by Reverse Auth asks with the app's own client`() throws {
    let request = try OAuth1.reverseAuthorization(
      at: endpoint,
      by: credentials("JP3PyvG67rXRsnayOJOcQ", "ydC2yUbFaScbSlykO0PmrMjXFeLraSi3Q2HfTOlGxQM"),
      .hmacSHA1,
      OAuth1Request.Moment("1B7D865D-9E15-4ADD-8165-EF90D7A7D3D2", 1_322_697_052))
    #expect(string(request.form) == "x_auth_mode=reverse_auth")
    #expect(
      try signature(required(request.authorization)) == "03EyxBdr6bwBAx8M0Qq0R0F8CKY=")
  }

  /// Whatever the bytes are: signed as they are, sent encoded once, read back the same.
  @Test(arguments: [
    "OAuth oauth_nonce=\"n\", oauth_signature_method=\"HMAC-SHA1\", "
      + "oauth_timestamp=\"1322697053\", oauth_consumer_key=\"yours\", oauth_token=\"t\", "
      + "oauth_signature=\"s%3D\", oauth_version=\"1.0\"",
    "OAuth a=\"b+c%2B d\"\r\n", "%", "\u{e4}\t ~",
  ])
  func `by Reverse Auth keeps the first answer byte for byte`(_ answer: String) throws {
    let request = try OAuth1.reverseToken(
      at: tokenEndpoint, for: "yours", SecretBytes(answer),
      by: credentials("system", "ss", "at", "as"), .hmacSHA1, moment)
    let form = try required(request.form)
    let fields = form.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
    #expect(fields.map { $0[0] } == ["x_reverse_auth_target", "x_reverse_auth_parameters"])
    #expect(fields[0][1] == "yours")
    #expect(fields[1][1].removingPercentEncoding == answer)
    let pairs = [
      ("oauth_consumer_key", "system"), ("oauth_nonce", "n"),
      ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "1322697052"),
      ("oauth_token", "at"), ("oauth_version", "1.0"), ("x_reverse_auth_target", "yours"),
      ("x_reverse_auth_parameters", answer),
    ]
    let baseString = OAuth1Request.baseString("POST", tokenEndpoint.base, parameters(pairs))
    #expect(
      try signature(required(request.authorization))
        == RequestSigner.hmacSHA1.signature(of: baseString.string, "ss", "as"))
  }

  @Test func `by Reverse Auth takes no empty answer, none of a whole page, and needs a token`() {
    for answer in ["", String(repeating: "x", count: 8193)] {
      #expect(throws: OAuthError.badAnswer("no reverse authorization")) {
        _ = try OAuth1.reverseToken(
          at: tokenEndpoint, for: "yours", SecretBytes(answer),
          by: credentials("system", "ss", "at", "as"), .hmacSHA1, moment)
      }
    }
    #expect(throws: OAuthError.badParameter("oauth_token is missing")) {
      _ = try OAuth1.reverseToken(
        at: tokenEndpoint, for: "yours", SecretBytes("OAuth x"), by: credentials("system", "ss"),
        .hmacSHA1, moment)
    }
  }

  @Test func `is not sent over plain HTTP to another machine`() throws {
    let plain = try RequestURL("http://api.twitter.com/oauth/request_token")
    #expect(throws: OAuthError.insecure("credentials over plain HTTP")) {
      _ = try OAuth1.temporaryCredentials(
        at: plain, .pin, by: credentials("c", "s"), .hmacSHA1, moment)
    }
  }
}
