import Encoding
import Sodium
import TestSupport
import Testing

@testable import Crypto

@Suite(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
struct `A published answer` {
  @Test(arguments: SharedVector.all(["hash.sha1"]))
  func `of SHA-1 is given`(_ vector: SharedVector) throws {
    let text = try #require(vector.inputs["ascii"].text)
    let data = Array(String(repeating: text, count: vector.inputs["repeat"].number ?? 1).utf8)
    #expect(try Hex.encode(SHA1.digest(data)) == vector.expected["hex"].text)
  }

  @Test(arguments: SharedVector.all(["hash.hmac_sha1"]))
  func `of HMAC-SHA1 is given`(_ vector: SharedVector) throws {
    let key = try Hex.decode(#require(vector.inputs["key_hex"].text))
    let data = try Hex.decode(#require(vector.inputs["data_hex"].text))
    #expect(try Hex.encode(HMACSHA1.authenticate(data, key)) == vector.expected["hex"].text)
  }

  @Test(arguments: SharedVector.all(["hash.hmac_sha256"]))
  func `of HMAC-SHA256 is given`(_ vector: SharedVector) throws {
    let key = try Hex.decode(#require(vector.inputs["key_hex"].text))
    let data = try Hex.decode(#require(vector.inputs["data_hex"].text))
    #expect(try Hex.encode(FastHMACSHA256.authenticate(data, key)) == vector.expected["hex"].text)
    // The part that has no libcrypto answers the same.
    #expect(
      Hex.encode(HMACSHA256.authenticate(data, key: SecretBytes(key)).bytes)
        == vector.expected["hex"].text)
  }

  @Test(arguments: SharedVector.all(["oauth1.rsa_signature"]))
  func `of an RSA key is given, and verifies`(_ vector: SharedVector) throws {
    let key = try RSA.SigningKey(
      pem: SecretBytes(#require(vector.inputs["private_key_pem"].text)))
    let method = try #require(vector.inputs["signature_method"].text)
    let hash = try #require(
      RSA.Hash(
        rawValue: String(method.dropFirst(4))
          .replacing("-", with: "")))
    let message = try #require(vector.inputs["base_string"].text)
    let signature = try key.sign(message, hash)
    #expect(Base64.encode(signature) == vector.expected["signature"].text)
    let verifier = try key.verifier()
    let holds = verifier.verify(signature, message, hash)
    #expect(holds)
    let holdsForAnother = verifier.verify(signature, message + "x", hash)
    #expect(!holdsForAnother)
    for other in RSA.Hash.allCases where other != hash {
      let holdsUnderAnother = verifier.verify(signature, message, other)
      #expect(!holdsUnderAnother)
    }
    var altered = signature
    altered[0] ^= 1
    let holdsAltered = verifier.verify(altered, message, hash)
    #expect(!holdsAltered)
  }

  @Test(arguments: SharedVector.all(["jws.es256_verify"]))
  func `of ES256 verifies, and its private key signs what verifies`(_ vector: SharedVector) throws {
    let jwk = vector.inputs["jwk"]
    let key = try P256.VerifyingKey(
      x: Base64.decodeURL(jwk["x"].text ?? "") ?? [], y: Base64.decodeURL(jwk["y"].text ?? "") ?? []
    )
    let parts = try #require(vector.inputs["jws"].text).split(separator: ".").map(String.init)
    let message = Array((parts[0] + "." + parts[1]).utf8)
    let signature = try #require(Base64.decodeURL(parts[2]))
    #expect(key.verify(signature, message))
    #expect(!key.verify(signature, message + [0]))
    let scalar = try #require(Base64.decodeURL(jwk["d"].text ?? ""))
    let signer = try P256.SigningKey(scalar: SecretBytes(scalar))
    let found = signer.publicKey
    #expect(found == key)
    let own = try signer.sign(message)
    #expect(own.count == 64)
    #expect(key.verify(own, message))
    let kept = try signer.scalar().array
    #expect(kept == scalar)
  }
}
