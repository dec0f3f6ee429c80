import Encoding
import Testing

@Suite struct `Base32 text` {
  /// RFC 4648 section 10, in lower case and without padding.
  static let published = [
    ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"),
    ("fooba", "mzxw6ytb"), ("foobar", "mzxw6ytboi"),
  ]

  @Test(arguments: published) func `is as RFC 4648 has it`(_ plain: String, _ text: String) throws {
    #expect(Base32.encode(Array(plain.utf8)) == text)
    #expect(try Base32.decode(text) == Array(plain.utf8))
  }

  @Test func `gives back every byte at every place`() throws {
    for count in 0...16 {
      for byte in UInt8.min...UInt8.max {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) ^ byte }
        #expect(try Base32.decode(Base32.encode(bytes)) == bytes)
      }
    }
  }

  @Test(arguments: [
    "MY", "My", "my======", "my ", " my", "m y", "my\n", "m1", "m0", "m8", "m9", "mé",
  ])
  func `with another character is refused`(_ text: String) {
    #expect(throws: EncodingError.notCanonical("not a lower-case base32 character")) {
      try Base32.decode(text)
    }
  }

  @Test(arguments: ["m", "mzx", "mzxw6y", "mzxw6ytbm"])
  func `of a length that no bytes give is refused`(_ text: String) {
    #expect(throws: EncodingError.notCanonical("not a length of base32")) {
      try Base32.decode(text)
    }
  }

  @Test(arguments: ["mz", "mzxr", "mzxw7", "mzxw6yr", "77"])
  func `with bits left over is refused, since it would be a second name`(_ text: String) {
    #expect(throws: EncodingError.notCanonical("bits are left over in base32")) {
      try Base32.decode(text)
    }
  }

  @Test func `has exactly one form for a key`() {
    // 16 bytes are 25.6 characters: of the 32 last characters 8 are canonical.
    let key = Key16([UInt8](repeating: 0xa5, count: 16))
    let stem = String(key.base32.dropLast())
    let accepted = "abcdefghijklmnopqrstuvwxyz234567".filter { Key16(base32: stem + [$0]) != nil }
    #expect(accepted.count == 8)
    #expect(Key16(base32: key.base32) == key)
  }
}
