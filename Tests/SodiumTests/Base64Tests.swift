import Encoding
import Testing

@testable import Sodium

@Suite struct `Base64 text` {
  /// RFC 4648 section 10.
  static let published = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ]

  @Test(arguments: published) func `is as RFC 4648 has it`(_ plain: String, _ text: String) {
    let bytes = Array(plain.utf8)
    let unpadded = text.filter { $0 != "=" }
    #expect(Base64.encode(bytes) == text)
    #expect(Base64.decode(text) == bytes)
    #expect(Base64.encodeURL(bytes) == unpadded)
    #expect(Base64.decodeURL(unpadded) == bytes)
  }

  @Test func `gives back every byte at every place`() {
    for count in 0...100 {
      let bytes = Random.bytes(count)
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
    }
    #expect(Base64.encode([0xfb, 0xff, 0xfe]) == "+//+")
    #expect(Base64.encodeURL([0xfb, 0xff, 0xfe]) == "-__-")
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm8", "Zm 9v", "Zm9v\n", " Zm9v", "Zm9v=", "====", "=",
    "Z", "-__-", "Zm9vé", "Zg==Zg==",
  ])
  func `in any other form is refused`(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(arguments: ["Zg==", "Zm8=", "Zh", "Zm9", "Z", "+//+", "Zm9v\n", "Zm 9v", "Zm9vé"])
  func `for URLs in any other form is refused`(_ text: String) {
    #expect(Base64.decodeURL(text) == nil)
  }

  @Test(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
  func `for URLs is that of RFC 7636`() throws {
    let plain = try Vectors.of("base64url")
    #expect(plain.count == 1)
    for vector in plain {
      let octets = try vector.octets("octets")
      let expected = try vector.expectedText()
      #expect(Base64.encodeURL(octets) == expected)
      #expect(Base64.decodeURL(expected) == octets)
    }
    let challenges = try Vectors.of("pkce.s256")
    #expect(challenges.count == 1)
    for vector in challenges {
      let verifier = Base64.encodeURL(try vector.octets("verifier_octets"))
      let expected = try vector.text("code_verifier")
      #expect(verifier == expected)
      let challenge = Base64.encodeURL(SHA256.digest(Array(verifier.utf8)).bytes)
      let expectedChallenge = try vector.expectedText("code_challenge")
      #expect(challenge == expectedChallenge)
    }
  }
}
