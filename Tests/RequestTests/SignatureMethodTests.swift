import AccountVault
import AccountVaultNetwork
import Crypto
import Encoding
import Foundation
import HTTPTypes
import OAuth
import Providers
import Sodium
import TestSupport
import Testing
import Time

/// How a definition's members change what is sent; what each method signs is shown by the vectors.
@Suite struct `A definition's signature` {
  static let network = Network.unconnected()
  static let time = Timestamp(seconds: 1_318_622_958)

  static func provider(_ members: String, protocol kind: String = "oauth1") throws -> Provider {
    try Provider.parse(
      """
      {"id": "example", "protocol": "\(kind)", "api_hosts": ["api.example"],
       "endpoints": {"token": "https://api.example/token"}\(members.isEmpty ? "" : ", " + members)}
      """)
  }

  static func access(_ clientSecret: String = "cs") -> Access {
    Access(
      clientID: "ck", clientSecret: .text(clientSecret), tokenType: "oauth1",
      accessToken: .text("t"), tokenSecret: .text("ts"))
  }

  static func header(_ request: HTTPRequest) throws -> [String: String] {
    let value = try #require(
      request.secretHeaders.first { $0.name == "Authorization" }?.value.shown)
    #expect(value.hasPrefix("OAuth "))
    var fields: [String: String] = [:]
    for pair in value.dropFirst(6).components(separatedBy: ", ") {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      fields[parts[0]] = parts[1].dropFirst().dropLast().removingPercentEncoding
    }
    return fields
  }

  /// The signed text of a request without parameters of its own.
  static func baseString(_ request: HTTPRequest, _ fields: [String: String]) throws -> [UInt8] {
    var list = ParameterList()
    for (name, value) in fields where name != "oauth_signature" { list.append(name, value) }
    let text = OAuth1Request.baseString(request.method, request.url, list)
    return text.withBytes { span in span.withUnsafeBytes { Array($0) } }
  }

  @Test func `is HMAC-SHA1 unless it says another`() throws {
    for (members, name) in [
      ("", "HMAC-SHA1"), (#""signature_method": "HMAC-SHA256""#, "HMAC-SHA256"),
      (#""signature_method": "PLAINTEXT""#, "PLAINTEXT"),
    ] {
      let request = try Self.network.authorize(
        ResourceRequest("GET", RequestURL("https://api.example/me")), by: Self.access(),
        of: Self.provider(members), time: Self.time)
      let fields = try Self.header(request)
      #expect(fields["oauth_signature_method"] == name)
      let text = try Self.baseString(request, fields)
      let key = SecretBytes(copying: Array("cs&ts".utf8).span.bytes)
      let expected =
        switch name {
        case "HMAC-SHA1":
          try key.withBytes { key in
            Base64.encode(try HMACSHA1.authenticate(text.span.bytes, key: key))
          }
        case "HMAC-SHA256":
          key.withBytes { key in
            Base64.encode(HMACSHA256.authenticate(text.span.bytes, key: key).bytes)
          }
        default: "cs&ts"
        }
      #expect(fields["oauth_signature"] == expected, "\(name)")
    }
  }

  @Test func `by RSA-SHA1 uses the client secret as private key, and no other secret`() throws {
    let directory = try TemporaryDirectory()
    try run("/usr/bin/openssl", "genrsa", "-out", directory("key.pem"), "2048")
    try run(
      "/usr/bin/openssl", "rsa", "-in", directory("key.pem"), "-pubout", "-out",
      directory("public.pem"))
    let pem = try String(contentsOfFile: directory("key.pem"), encoding: .utf8)
    let provider = try Self.provider(#""signature_method": "RSA-SHA1""#)
    let request = try Self.network.authorize(
      ResourceRequest("GET", RequestURL("https://api.example/me")), by: Self.access(pem),
      of: provider, time: Self.time)
    let fields = try Self.header(request)
    #expect(fields["oauth_signature_method"] == "RSA-SHA1")
    let signature = try #require(Data(base64Encoded: fields["oauth_signature"] ?? ""))
    try signature.write(to: URL(filePath: directory("signature")))
    try Data(Self.baseString(request, fields)).write(to: URL(filePath: directory("text")))
    // Another program says whether it holds.
    try run(
      "/usr/bin/openssl", "dgst", "-sha1", "-verify", directory("public.pem"), "-signature",
      directory("signature"), directory("text"))
    #expect(throws: OAuthError.self) {
      try Self.network.authorize(
        ResourceRequest("GET", RequestURL("https://api.example/me")), by: Self.access("no key"),
        of: provider, time: Self.time)
    }
  }

  @Test func `covers the hash of a body that is no form, where it says so`() throws {
    let provider = try Self.provider(#""body_hash": true"#)
    func hash(_ body: HTTPBody, _ provider: Provider) throws -> String? {
      var request = ResourceRequest("POST", try RequestURL("https://api.example/me"))
      request.body = body
      return try Self.header(
        Self.network.authorize(request, by: Self.access(), of: provider, time: Self.time))[
          "oauth_body_hash"]
    }
    let json = HTTPBody.bytes(.text("Hello World!"), contentType: "text/plain")
    // Of the draft's own example.
    #expect(try hash(json, provider) == "Lve95gjOVATpfV8EL5X4nxwjKHE=")
    #expect(try hash(.none, provider) == "2jmj7l5rSw0yVb/vlWAYkK/YBwk=")
    let form = HTTPBody.bytes(.text("a=b"), contentType: "application/x-www-form-urlencoded")
    #expect(try hash(form, provider) == nil)
    #expect(try hash(json, Self.provider("")) == nil)
    #expect(throws: OAuthError.self) { try hash(.multipart([]), provider) }
  }

  @Test func `is followed by Facebook's proof where the client has a secret`() throws {
    let members = #""app_secret_proof": true"#
    let url = try RequestURL("https://api.example/me")
    var access = Access(
      clientID: "1", clientSecret: .text("app secret"), tokenType: "bearer",
      accessToken: .text("EAA"))
    let proof = FacebookProofs.appSecretProof(
      of: SharedSecret.text("EAA").bytes, SharedSecret.text("app secret").bytes)
    let header = try Self.network.authorize(
      ResourceRequest("GET", url), by: access, of: Self.provider(members, protocol: "oauth2"),
      time: Self.time)
    #expect(header.secretQuery?.shown == "appsecret_proof=\(proof)")
    #expect(header.secretHeaders.first?.value.shown == "Bearer EAA")
    #expect(!header.url.contains(proof))
    let query = try Self.network.authorize(
      ResourceRequest("GET", url), by: access,
      of: Self.provider(members + #", "token_in": "query""#, protocol: "oauth2"), time: Self.time)
    #expect(query.secretQuery?.shown == "access_token=EAA&appsecret_proof=\(proof)")
    access = Access(
      clientID: "1", clientSecret: nil, tokenType: "bearer", accessToken: .text("EAA"))
    let without = try Self.network.authorize(
      ResourceRequest("GET", url), by: access, of: Self.provider(members, protocol: "oauth2"),
      time: Self.time)
    #expect(without.secretQuery == nil)
  }
}
