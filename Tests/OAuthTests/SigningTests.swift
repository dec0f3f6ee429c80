import Encoding
import Sodium
import Testing

@testable import OAuth

/// Field cases B37, B49, B50, B52, B53 and the example of RFC 5849 section 1.2.
@Suite struct `A signed request` {
  static let twitter = ("kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", Int64(1_318_622_958))

  var account: SigningCredentials {
    credentials(
      "xvz1evFS4wEEPTGEFPHBog", "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
      "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
      "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE")
  }

  @Test(arguments: [
    ("https://api.twitter.com/1.1/statuses/update.json", "hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D"),
    ("https://api.twitter.com/1/statuses/update.json", "tnnArxj06cWHq44gCs1OSKk%2FjLY%3D"),
    ("https://api.x.com/1.1/statuses/update.json", "Ls93hJiZbQ3akF3HF3x1Bz8%2FzU4%3D"),
  ])
  func `holds a space and a plus apart, however the form wrote them`(
    _ url: String, _ expected: String
  ) throws {
    for form in [
      "status=Hello+Ladies+%2B+Gentlemen%2C+a+signed+OAuth+request%21",
      "status=Hello%20Ladies%20%2B%20Gentlemen%2C%20a%20signed%20OAuth%20request!",
    ] {
      let header = try header(
        "POST", url + "?include_entities=true", form: form, by: account,
        OAuth1Request.Moment(Self.twitter.0, Self.twitter.1))
      #expect(header.contains("oauth_signature=\"\(expected)\""))
      #expect(
        header
          == "OAuth oauth_consumer_key=\"xvz1evFS4wEEPTGEFPHBog\", "
          + "oauth_nonce=\"kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg\", "
          + "oauth_signature_method=\"HMAC-SHA1\", oauth_timestamp=\"1318622958\", "
          + "oauth_token=\"370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb\", "
          + "oauth_version=\"1.0\", oauth_signature=\"\(expected)\"")
    }
  }

  /// The published signature of this request is that of the same request as GET.
  @Test(arguments: [
    ("POST", "r6/TJjbCOr97/+UU0NsvSne7s5g="), ("GET", "bYT5CMsGcbgUdFHObYMEfcx6bsw="),
  ])
  func `of RFC 5849 section 3.1 has the right signature and not the printed one`(
    _ method: String, _ expected: String
  ) throws {
    let client = credentials(
      "9djdj82h48djs9d2", "j49sk3j29djd", "kkk9d7dh3k39sjv7", "dh893hdasih9")
    let header = try header(
      method, "http://example.com/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", form: "c2&a3=2+q",
      by: client, OAuth1Request.Moment("7d8f3e4a", 137_131_201), version: false)
    #expect(try signature(header) == expected)
    var list = ParameterList()
    try list.append(query: "b5=%3D%253D&a3=a&c%40=&a2=r%20b")
    try list.append(query: "c2&a3=2+q")
    let text = list.normalized().string
    #expect(text == "a2=r%20b&a3=2%20q&a3=a&b5=%3D%253D&c%40=&c2=")
  }

  @Test func `of RFC 5849 section 1.2 goes through all three steps`() throws {
    let client = credentials("dpf43f3p2l4k3l03", "kd94hf93k423kf44")
    let first = try header(
      "POST", "https://photos.example.net/initiate", by: client,
      OAuth1Request.Moment("wIjqoS", 137_131_200), version: false
    ) {
      $0.realm = "Photos"
      $0.extra = [("oauth_callback", "http://printer.example.com/ready")]
    }
    #expect(
      first
        == "OAuth realm=\"Photos\", oauth_consumer_key=\"dpf43f3p2l4k3l03\", "
        + "oauth_nonce=\"wIjqoS\", oauth_signature_method=\"HMAC-SHA1\", "
        + "oauth_timestamp=\"137131200\", "
        + "oauth_callback=\"http%3A%2F%2Fprinter.example.com%2Fready\", "
        + "oauth_signature=\"74KNZJeDHnMBp0EMJ9ZHt%2FXKycU%3D\"")

    let body =
      "oauth_token=hh5s93j4hdidpola&oauth_token_secret=hdhd0244k9j7ao03&"
      + "oauth_callback_confirmed=true"
    let temporary = try Array(body.utf8).withBytes { body throws(OAuthError) in
      try TemporaryCredentials(body)
    }
    #expect(
      try temporary.authorizeURL(at: RequestURL("https://photos.example.net/authorize"))
        == "https://photos.example.net/authorize?oauth_token=hh5s93j4hdidpola")
    let verifier = try temporary.verifier(
      fromQuery: "oauth_token=hh5s93j4hdidpola&oauth_verifier=hfdp7dh39dks9884")
    let text = string(verifier)
    #expect(text == "hfdp7dh39dks9884")

    let second = try header(
      "POST", "https://photos.example.net/token",
      by: credentials(
        "dpf43f3p2l4k3l03", "kd94hf93k423kf44", temporary.token, temporary.secret.string),
      OAuth1Request.Moment("walatlh", 137_131_201), version: false
    ) { $0.extra = [("oauth_verifier", text ?? "")] }
    #expect(try signature(second) == "gKgrFCywp7rO0OXSjdot/IHF7IU=")

    let third = try header(
      "GET", "http://photos.example.net/photos?file=vacation.jpg&size=original",
      by: credentials(
        "dpf43f3p2l4k3l03", "kd94hf93k423kf44", "nnch734d00sl2jdk", "pfkkdhi9sl3r4s00"),
      OAuth1Request.Moment("chapoH", 137_131_202), version: false)
    #expect(try signature(third) == "MdpQcU8iPSUjWoN/UDMsK2sui9I=")
  }

  /// Cases B52 and B53, whose signatures oauthlib's tests print, over one client.
  @Test(arguments: [
    ("https://example.com/?foo=3&foo=2&foo=1", "https://example.com/?foo=1&foo=2&foo=3"),
    ("https://example.com/p?q", "https://example.com/p?q="),
    ("https://example.com:443/p", "https://example.com/p"),
    ("HTTPS://EXAMPLE.com/p", "https://example.com/p"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com/p#f", "https://example.com/p"),
    ("https://example.com/p?a=%7e&b=%7E", "https://example.com/p?b=~&a=~"),
    ("https://example.com/p?&a=1&&b=2&", "https://example.com/p?a=1&b=2"),
  ])
  func `is the same however its address is written`(_ first: String, _ second: String) throws {
    let moment = OAuth1Request.Moment("n", 1)
    let one = try header("GET", first, by: account, moment)
    let two = try header("GET", second, by: account, moment)
    #expect(one == two)
  }

  @Test(arguments: [
    ("https://example.com/p?q=", "https://example.com/p"),
    ("https://example.com/p?q=1&q=1", "https://example.com/p?q=1"),
    ("https://example.com:8443/p", "https://example.com/p"),
    ("https://example.com/p%2Fq", "https://example.com/p/q"),
    ("https://example.com/P", "https://example.com/p"),
    ("https://api.twitter.com/p", "https://api.x.com/p"),
    ("http://example.com:443/", "http://example.com/"),
    ("https://example.com/p/", "https://example.com/p"),
    ("https://example.com/p?a=%2B", "https://example.com/p?a=+"),
  ])
  func `is another at another address`(_ first: String, _ second: String) throws {
    let moment = OAuth1Request.Moment("n", 1)
    let one = try header("GET", first, by: account, moment)
    let two = try header("GET", second, by: account, moment)
    #expect(one != two)
  }

  @Test func `is another each time that it is tried`() throws {
    let moments = (0..<100).map { _ in OAuth1Request.Moment.at(.init(seconds: 1)) }
    #expect(Set(moments.map(\.nonce)).count == 100)
    #expect(moments.allSatisfy { $0.nonce.count == 32 })
    // Case B37: the time is the server's, given by value.
    let header = try header(
      "GET", "https://example.com/", by: account,
      OAuth1Request.Moment(nonce: "n", time: .init(seconds: 1_378_850_423 + 28_407)))
    #expect(header.contains("oauth_timestamp=\"1378878830\""))
  }

  @Test func `holds each protocol parameter once`() throws {
    let moment = OAuth1Request.Moment("n", 1)
    #expect(throws: OAuthError.repeatedParameter("oauth_token")) {
      try header("GET", "https://example.com/?oauth_token=x", by: account, moment)
    }
    #expect(throws: OAuthError.repeatedParameter("oauth_nonce")) {
      try header("POST", "https://example.com/", form: "oauth_nonce=x", by: account, moment)
    }
    #expect(throws: OAuthError.repeatedParameter("oauth_nonce")) {
      try header("GET", "https://example.com/", by: account, moment) {
        $0.extra = [("oauth_nonce", "x")]
      }
    }
    #expect(throws: OAuthError.badParameter("status")) {
      try header("GET", "https://example.com/", by: account, moment) {
        $0.extra = [("status", "x")]
      }
    }
  }

  @Test func `has a time after 1970 and a nonce of ASCII`() throws {
    for moment in [
      OAuth1Request.Moment("n", 0), OAuth1Request.Moment("n", -1), OAuth1Request.Moment("", 1),
      OAuth1Request.Moment("ä", 1), OAuth1Request.Moment("a b", 1),
    ] {
      #expect(throws: OAuthError.self) {
        try header("GET", "https://example.com/", by: account, moment)
      }
    }
    #expect(throws: OAuthError.badParameter("oauth_nonce")) {
      try header("GET", "https://example.com/", by: account, nil)
    }
  }

  @Test func `shows its secrets to nobody on the way`() throws {
    #expect(throws: OAuthError.insecure("PLAINTEXT without TLS shows both secrets")) {
      try header("GET", "http://example.com/", by: account, nil, .plaintext)
    }
    let local = try header("GET", "http://127.0.0.1:8080/", by: account, nil, .plaintext)
    #expect(local.contains("oauth_signature_method=\"PLAINTEXT\""))
    #expect(!local.contains("oauth_nonce"))
    #expect(!local.contains("oauth_timestamp"))
  }

  @Test func `has no parameters of a body that is no form, but its hash where it is wanted`() throws
  {
    let moment = OAuth1Request.Moment("n", 1)
    let plain = try header(
      "POST", "https://example.com/", by: account, moment, body: "{\"a\":1}")
    let none = try header("POST", "https://example.com/", by: account, moment)
    #expect(plain == none)
    let hashed = try header(
      "PUT", "http://www.example.com/resource", by: credentials("consumer", "c", "token", "t"),
      OAuth1Request.Moment("10369470270925", 1_236_874_236), body: "Hello World!"
    ) { $0.sendsBodyHash = true }
    #expect(hashed.contains("oauth_body_hash=\"Lve95gjOVATpfV8EL5X4nxwjKHE%3D\""))
    #expect(throws: OAuthError.badParameter("oauth_body_hash with a form")) {
      try header("POST", "https://example.com/", form: "a=b", by: account, moment) {
        $0.sendsBodyHash = true
      }
    }
    #expect(throws: OAuthError.badParameter("oauth_body_hash with PLAINTEXT")) {
      try header("POST", "https://example.com/", by: account, nil, .plaintext, body: "x") {
        $0.sendsBodyHash = true
      }
    }
    let sha256 = try header(
      "POST", "https://example.com/", by: account, moment, .hmacSHA256, body: ""
    ) { $0.sendsBodyHash = true }
    #expect(
      sha256.contains("oauth_body_hash=\"47DEQpj8HBSa%2B%2FTImW%2B5JCeuQeRkm5NMpJWZG3hSuFU%3D\""))
  }

  @Test(arguments: ["%", "%2", "%zz", "a=%", "a%4=1", "a=1&b=%g0"])
  func `is refused with an escape that is none`(_ query: String) {
    #expect(throws: OAuthError.badEscape) {
      try header("GET", "https://example.com/?" + query, by: account, OAuth1Request.Moment("n", 1))
    }
    #expect(throws: OAuthError.badEscape) {
      try header(
        "POST", "https://example.com/", form: query, by: account, OAuth1Request.Moment("n", 1))
    }
  }

  @Test func `names a realm as a quoted string`() throws {
    let header = try header(
      "GET", "https://example.com/", by: account, OAuth1Request.Moment("n", 1)
    ) { $0.realm = "a \"b\" \\c" }
    #expect(header.hasPrefix("OAuth realm=\"a \\\"b\\\" \\\\c\", oauth_consumer_key="))
    #expect(throws: OAuthError.badParameter("realm")) {
      try OAuthTests.header(
        "GET", "https://example.com/", by: account, OAuth1Request.Moment("n", 1)
      ) { $0.realm = "a\r\nX-Evil: 1" }
    }
  }

  @Test(arguments: ["get", "", "GET\r\n", "GÉT"])
  func `has a method in upper case`(_ method: String) {
    #expect(throws: OAuthError.badParameter("method")) {
      try header(method, "https://example.com/", by: account, OAuth1Request.Moment("n", 1))
    }
  }

  @Test func `fails as its signer does`() {
    let broken = RequestSigner.mac("HMAC-SHA1") { (_, _) throws(OAuthError) in
      throw .cannotSign("no provider")
    }
    #expect(throws: OAuthError.cannotSign("no provider")) {
      try header("GET", "https://example.com/", by: account, OAuth1Request.Moment("n", 1), broken)
    }
  }
}
