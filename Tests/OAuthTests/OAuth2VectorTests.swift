import Crypto
import Encoding
import JSON
import Sodium
import TestSupport
import Testing

@testable import OAuth

/// Verifies ES256 by the key that a proof carries.
func holdsES256(_ key: JSONWebKey, _ signature: [UInt8], _ message: [UInt8]) -> Bool {
  guard let x = key.member("x").flatMap(Base64.decodeURL),
    let y = key.member("y").flatMap(Base64.decodeURL),
    let key = try? P256.VerifyingKey(x: x, y: y)
  else { return false }
  return message.withBytes { key.verify(signature, $0) }
}

@Suite(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
struct `A published answer of OAuth 2.0` {
  /// A JSON text of a shared value whose members are all texts.
  func json(_ value: SharedVector.Value) throws -> String {
    guard case .object(let members) = value else { return "" }
    return JSONValue.object(
      members.map { JSONValue.Member($0.key, .string($0.value.text ?? "")) }
    ).text
  }

  @Test(arguments: SharedVector.all(["oauth2.basic_header"]))
  func `shows a client by Basic`(_ vector: SharedVector) throws {
    let id = try #require(vector.inputs["client_id"].text)
    let secret = try #require(vector.inputs["client_secret"].text)
    let client = try OAuth2Client(id: id, secret: SecretBytes(secret), .basic)
    #expect(string(client.authorization()) == vector.expected.text)
    if id.contains(":") {
      #expect(throws: OAuthError.badParameter("client_id")) {
        _ = try OAuth2Client(id: id, secret: SecretBytes(secret), .basicRaw)
      }
    } else {
      let raw = try OAuth2Client(id: id, secret: SecretBytes(secret), .basicRaw)
      #expect(
        string(raw.authorization())
          == "Basic " + Base64.encode(Array((id + ":" + secret).utf8)))
    }
  }

  @Test(arguments: SharedVector.all(["oauth2.form_encode"]))
  func `encodes a form`(_ vector: SharedVector) throws {
    let text = try #require(vector.inputs["string"].text)
    #expect(Hex.encode(Array(text.utf8)) == vector.inputs["utf8_hex"].text)
    #expect(PercentEncoding.form.encode(text) == vector.expected.text)
    var form = FormBody()
    form.append("a", text)
    let body = form.finish().string
    #expect(body == "a=" + vector.expected.text!)
    let reply = try FormReply(body)
    #expect(try reply.text("a") == text)
  }

  @Test(arguments: SharedVector.all(["oauth2.metadata_url"]))
  func `finds the metadata`(_ vector: SharedVector) throws {
    let issuer = try #require(vector.inputs["issuer"].text)
    #expect(try ServerMetadata.url(of: issuer).text == vector.expected.text)
    #expect(try ServerMetadata.url(of: issuer + "/").text == vector.expected.text)
  }

  @Test(arguments: SharedVector.all(["pkce.s256"]))
  func `makes verifier and challenge`(_ vector: SharedVector) throws {
    let octets = vector.inputs["verifier_octets"].list.compactMap { $0.number }.map { UInt8($0) }
    #expect(octets.count == 32)
    let pkce = PKCE(random: octets.withBytes { SecretBytes(copying: $0) })
    let verifier = pkce.verifier.string
    #expect(verifier == vector.inputs["code_verifier"].text)
    #expect(pkce.challenge == vector.expected["code_challenge"].text)
    let kept = try PKCE(verifier: SecretBytes(verifier))
    #expect(kept.challenge == vector.expected["code_challenge"].text)
  }

  @Test(arguments: SharedVector.all(["base64url"]))
  func `writes base64url`(_ vector: SharedVector) throws {
    let octets = vector.inputs["octets"].list.compactMap { $0.number }.map { UInt8($0) }
    #expect(octets.withBytes { Base64URL.encode($0) }.string == vector.expected.text)
  }

  @Test(arguments: SharedVector.all(["dpop.verify_proof"]))
  func `proves possession`(_ vector: SharedVector) throws {
    let text = try #require(vector.inputs["proof"].text)
    let (proof, key) = try DPoP.verify(text, holdsES256)
    let claims = vector.expected["claims"]
    for name in ["jti", "htm", "htu", "ath"] {
      #expect(proof.claim(name) == claims[name].text)
    }
    #expect(proof.number("iat") == claims["iat"].number.map(Int64.init))
    #expect(try key == JSONWebKey(json(vector.expected["jwk"])))
    if let token = vector.inputs["access_token"].text {
      #expect(DPoP.hash(of: SecretBytes(token)) == proof.claim("ath"))
    }
    // One character of the payload changed.
    var parts = text.split(separator: ".").map(String.init)
    parts[1] = String(parts[1].dropLast()) + (parts[1].last == "0" ? "4" : "0")
    #expect(throws: OAuthError.self) {
      try DPoP.verify(parts.joined(separator: "."), holdsES256)
    }
  }

  @Test(arguments: SharedVector.all(["dpop.ath"]))
  func `hashes a token`(_ vector: SharedVector) throws {
    let token = try #require(vector.inputs["access_token"].text)
    #expect(DPoP.hash(of: SecretBytes(token)) == vector.expected.text)
  }

  @Test(arguments: SharedVector.all(["jwk.thumbprint_sha256"]))
  func `names a key`(_ vector: SharedVector) throws {
    #expect(try JSONWebKey(json(vector.inputs["jwk"])).thumbprint == vector.expected.text)
  }

  @Test(arguments: SharedVector.all(["jws.es256_verify"]))
  func `is a JWS`(_ vector: SharedVector) throws {
    let jws = try JSONWebSignature(#require(vector.inputs["jws"].text))
    #expect(jws.header("alg") == "ES256")
    guard case .object(var members) = vector.inputs["jwk"] else { return }
    // A private key is no key to send.
    #expect(throws: OAuthError.self) { try JSONWebKey(json(.object(members))) }
    members["d"] = nil
    let key = try JSONWebKey(json(.object(members)))
    #expect(holdsES256(key, jws.signature, jws.signed))
    #expect(!holdsES256(key, jws.signature, jws.signed + [0]))
    #expect(jws.claim("iss") == "joe")
    #expect(jws.number("exp") == 1_300_819_380)
  }

  @Test(arguments: SharedVector.all(["facebook.signed_request"]))
  func `is Facebook's signed request`(_ vector: SharedVector) throws {
    let secret = SecretBytes(try #require(vector.inputs["app_secret"].text))
    let text = try #require(vector.inputs["signed_request"].text)
    let payload = try FacebookProofs.payload(ofSignedRequest: text, secret)
    #expect(payload["algorithm"] == "HMAC-SHA256")
    #expect(payload["0"] == "payload")
    #expect(throws: OAuthError.badAnswer("a wrong signature")) {
      try FacebookProofs.payload(ofSignedRequest: text, SecretBytes("other"))
    }
    for bad in [
      "", ".", "a.b.c", text + "A", String(text.dropFirst()), "." + text.split(separator: ".")[1],
    ] {
      #expect(throws: OAuthError.self, "\(bad)") {
        try FacebookProofs.payload(ofSignedRequest: bad, secret)
      }
    }
  }

  @Test(arguments: SharedVector.all(["facebook.appsecret_proof"]))
  func `is Facebook's proof of the app's secret`(_ vector: SharedVector) throws {
    let secret = SecretBytes(try #require(vector.inputs["app_secret"].text))
    let token = SecretBytes(try #require(vector.inputs["access_token"].text))
    #expect(FacebookProofs.appSecretProof(of: token, secret) == vector.expected.text)
  }
}
