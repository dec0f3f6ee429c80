import Encoding
import Sodium
import TestSupport
import Testing

@testable import OAuth

@Suite(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
struct `A published answer of OAuth 1.0a` {
  func pairs(_ value: SharedVector.Value) -> [(String, String)] {
    value.list.map { ($0.list[0].text ?? "", $0.list[1].text ?? "") }
  }

  @Test func `is here in all its kinds`() {
    let kinds = Dictionary(grouping: SharedVector.all(), by: \.kind).mapValues(\.count)
    #expect(
      kinds == [
        "oauth1.percent_encode": 14, "oauth1.normalize_parameters": 7, "oauth1.base_string_uri": 8,
        "oauth1.collect_parameters": 1, "oauth1.base_string": 3, "oauth1.hmac_signature": 15,
        "oauth1.hmac_over_base_string": 5, "oauth1.plaintext": 2, "oauth1.rsa_signature": 4,
        "oauth1.body_hash": 2, "oauth1.authorization_header": 2, "oauth2.basic_header": 4,
        "oauth2.form_encode": 1, "oauth2.metadata_url": 2, "pkce.s256": 1, "base64url": 1,
        "dpop.verify_proof": 3, "dpop.ath": 1, "jwk.thumbprint_sha256": 2, "jws.es256_verify": 1,
        "hash.sha1": 4, "hash.hmac_sha1": 7, "hash.hmac_sha256": 3, "facebook.signed_request": 1,
        "facebook.appsecret_proof": 1,
      ])
    #expect(kinds.values.reduce(0, +) == 95)
  }

  @Test(arguments: SharedVector.all(["oauth1.percent_encode"]))
  func `encodes a text`(_ vector: SharedVector) throws {
    let text = try #require(vector.inputs["string"].text)
    #expect(PercentEncoding.strict.encode(text) == vector.expected.text)
    #expect(normalized([(text, text)]) == "\(vector.expected.text!)=\(vector.expected.text!)")
  }

  @Test(arguments: SharedVector.all(["oauth1.normalize_parameters"]))
  func `normalizes parameters`(_ vector: SharedVector) throws {
    let pairs = pairs(vector.inputs["params"])
    #expect(normalized(pairs) == vector.expected.text)
    #expect(normalized(pairs.reversed()) == vector.expected.text)
  }

  @Test(arguments: SharedVector.all(["oauth1.base_string_uri"]))
  func `finds the base string URI`(_ vector: SharedVector) throws {
    let url = try #require(vector.inputs["uri"].text)
    #expect(
      try RequestURL(url, hostHeader: vector.inputs["host"].text).base == vector.expected.text)
  }

  @Test(arguments: SharedVector.all(["oauth1.collect_parameters"]))
  func `collects parameters`(_ vector: SharedVector) throws {
    var list = ParameterList()
    try list.append(query: #require(vector.inputs["query"].text))
    try list.append(query: #require(vector.inputs["form_body"].text))
    try list.append(authorization: #require(vector.inputs["authorization"].text))
    let count = list.count
    #expect(count == vector.expected.list.count)
    let found = list.normalized().string
    #expect(found == normalized(pairs(vector.expected)))
  }

  @Test(arguments: SharedVector.all(["oauth1.base_string"]))
  func `makes a base string`(_ vector: SharedVector) throws {
    let text = OAuth1Request.baseString(
      try #require(vector.inputs["method"].text), try #require(vector.inputs["base_uri"].text),
      parameters(pairs(vector.inputs["params"]))
    ).string
    #expect(text == vector.expected.text)
    #expect(text.count { $0 == "&" } == 2)
  }

  /// As `signing over pairs` would be done by a server, and as this client does it with a header, a
  /// query and a form.
  @Test(arguments: SharedVector.all(["oauth1.hmac_signature"]))
  func `signs`(_ vector: SharedVector) throws {
    let method = try #require(vector.inputs["method"].text)
    let base = try #require(vector.inputs["base_uri"].text)
    let pairs = pairs(vector.inputs["params"])
    let clientSecret = try #require(vector.inputs["consumer_secret"].text)
    let tokenSecret = try #require(vector.inputs["token_secret"].text)
    let signer = try RequestSigner.named(#require(vector.inputs["signature_method"].text))
    let baseString = OAuth1Request.baseString(method, base, parameters(pairs)).string
    if let expected = vector.expected["base_string"].text { #expect(baseString == expected) }
    let found = try signer.signature(of: baseString, clientSecret, tokenSecret)

    let values = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    let own = pairs.filter { !$0.0.hasPrefix("oauth_") }
    let query = own.map {
      PercentEncoding.form.encode($0.0) + "=" + PercentEncoding.form.encode($0.1)
    }.joined(separator: "&")
    let moment = OAuth1Request.Moment(
      try #require(values["oauth_nonce"]),
      try #require(Int64(values["oauth_timestamp"] ?? "")))
    let client = credentials(
      try #require(values["oauth_consumer_key"]), clientSecret, values["oauth_token"],
      values["oauth_token"] == nil ? nil : tokenSecret)
    let asQuery = try header(
      method, own.isEmpty ? base : base + "?" + query, by: client, moment, signer,
      version: values["oauth_version"] != nil
    ) { options in
      for name in ["oauth_callback", "oauth_verifier"] {
        if let value = values[name] { options.extra.append((name, value)) }
      }
    }
    let asForm = try header(
      method, base, form: query, by: client, moment, signer,
      version: values["oauth_version"] != nil
    ) { options in
      for name in ["oauth_callback", "oauth_verifier"] {
        if let value = values[name] { options.extra.append((name, value)) }
      }
    }
    #expect(try signature(asQuery) == found)
    #expect(try signature(asForm) == found)

    if vector.status == "published-does-not-verify" {
      #expect(vector.name == "rfc5849-3.1-printed")
      #expect(found != vector.expected["signature"].text)
      #expect(found == "r6/TJjbCOr97/+UU0NsvSne7s5g=")
    } else {
      #expect(found == vector.expected["signature"].text)
    }
  }

  @Test(arguments: SharedVector.all(["oauth1.hmac_over_base_string"]))
  func `signs a base string`(_ vector: SharedVector) throws {
    let signer = try RequestSigner.named(#require(vector.inputs["signature_method"].text))
    let found = try signer.signature(
      of: #require(vector.inputs["base_string"].text),
      #require(vector.inputs["consumer_secret"].text), #require(vector.inputs["token_secret"].text))
    #expect(found == vector.expected["signature"].text)
  }

  @Test(arguments: SharedVector.all(["oauth1.plaintext"]))
  func `shows the secrets`(_ vector: SharedVector) throws {
    let clientSecret = try #require(vector.inputs["consumer_secret"].text)
    let tokenSecret = try #require(vector.inputs["token_secret"].text)
    let found = try RequestSigner.plaintext.signature(of: "any", clientSecret, tokenSecret)
    #expect(found == vector.expected["signature"].text)
    if let value = vector.expected["header_value"].text {
      let header = try header(
        "POST", "https://example.com/", by: credentials("c", clientSecret), nil, .plaintext)
      #expect(header.hasSuffix("oauth_signature=\"\(value)\""))
    }
  }

  @Test(arguments: SharedVector.all(["oauth1.rsa_signature"]))
  func `signs by a private key`(_ vector: SharedVector) throws {
    let signer = try RequestSigner.rsa(
      #require(vector.inputs["signature_method"].text),
      pem: #require(vector.inputs["private_key_pem"].text))
    let baseString = try #require(vector.inputs["base_string"].text)
    let found = try signer.signature(of: baseString)
    #expect(found == vector.expected["signature"].text)
    // The secrets play no part.
    #expect(try signer.signature(of: baseString, "client", "token") == found)
  }

  @Test(arguments: SharedVector.all(["oauth1.body_hash"]))
  func `hashes a body`(_ vector: SharedVector) throws {
    let body = try #require(vector.inputs["body"].text)
    let found = try Array(body.utf8).withBytes { body throws(OAuthError) in
      try OAuth1Request.bodyHash(body, RequestSigner.sha1)
    }
    #expect(found == vector.expected.text)
    if body.isEmpty {
      #expect(try OAuth1Request.bodyHash(nil, RequestSigner.sha1) == vector.expected.text)
    }
  }

  @Test(arguments: SharedVector.all(["oauth1.authorization_header"]))
  func `writes a header`(_ vector: SharedVector) throws {
    let pairs = pairs(vector.inputs["oauth_params_in_order"])
    let found = try AuthorizationHeader.write(
      realm: vector.inputs["realm"].text, parameters(pairs)
    ).string
    #expect(found == vector.expected.text)
    var list = ParameterList()
    try list.append(authorization: found)
    let read = list.normalized().string
    #expect(read == normalized(pairs.filter { $0.0 != "oauth_signature" }))
  }
}
