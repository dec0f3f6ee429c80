import Encoding
import Testing

@testable import Sodium

/// Known answers of BLAKE2b come from Python's hashlib, whose implementation is another one.
@Suite struct `A hash` {
  static func data(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8($0 % 251) }
  }

  struct Answer {
    let count: Int
    let keyed32: String
    let keyed16: String
    let plain: String
  }

  static let answers = [
    Answer(
      count: 0, keyed32: "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d",
      keyed16: "3daf97bce7888fd59773c66bf647459c",
      plain: "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
    Answer(
      count: 1, keyed32: "41ff93a4eaeebd3b78a93438a6f62a92ab5959c859e682b72c7def406197ca4d",
      keyed16: "cb0f7736a53974236661585b8842dd8c",
      plain: "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"),
    Answer(
      count: 128, keyed32: "138893f1631ef3165629515d6ed800da3771b7926dced294205c7507351deebc",
      keyed16: "45d43af02414a146c8803c3f7da3554d",
      plain: "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"),
    Answer(
      count: 129, keyed32: "ca60f75cbb714330c046d8f28b4ed351a3ee81776bb02a96abb646fe573e3d5c",
      keyed16: "aab5517a7ade99ce990a81aa3d3ea27d",
      plain: "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"),
    Answer(
      count: 256, keyed32: "da3bcd809850732f09afb9c749da4fc019f47d0ea35a28282f482ef5ffd91378",
      keyed16: "5da794ea4e08b3d7177a21f39541f1db",
      plain: "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"),
  ]

  @Test(arguments: answers) func `of BLAKE2b is the known one, whole and in parts`(_ answer: Answer)
  {
    let key = SecretBytes(copying: [UInt8](0..<32))
    let data = Self.data(answer.count)
    #expect(Hex.encode(KeyedHash.digest32(data, key: key).bytes) == answer.keyed32)
    #expect(Hex.encode(KeyedHash.digest16(data, key: key).bytes) == answer.keyed16)
    #expect(Hex.encode(BLAKE2b.digest32(data).bytes) == answer.plain)
    let plainKey = [UInt8](0..<32)
    let keyed = data.withBytes { data in plainKey.withBytes { BLAKE2b.digest32(data, key: $0) } }
    #expect(Hex.encode(keyed.bytes) == answer.keyed32)
    for border in stride(from: 0, through: data.count, by: 1) {
      var long = KeyedHash(key: key)
      long.update(Array(data.prefix(border)))
      long.update(Array(data.suffix(data.count - border)))
      let digest32 = long.finish32()
      #expect(Hex.encode(digest32.bytes) == answer.keyed32)
      var short = KeyedHash(key: key, outputCount: 16)
      short.update(Array(data.prefix(border)))
      short.update(Array(data.suffix(data.count - border)))
      let digest16 = short.finish16()
      #expect(Hex.encode(digest16.bytes) == answer.keyed16)
    }
  }

  @Test func `of BLAKE2b takes keys of 16 and of 64 bytes`() {
    let short = KeyedHash.digest32(
      Self.data(129), key: SecretBytes(copying: [UInt8](0..<16)))
    let long = KeyedHash.digest32(
      Self.data(129), key: SecretBytes(copying: [UInt8](0..<64)))
    #expect(
      Hex.encode(short.bytes) == "20344d7bd83502a3472abfd36026b9b186e063f51d9b702f8b07350d1c2aa818")
    #expect(
      Hex.encode(long.bytes) == "20f607da31ed9652deecf4ef78905d4916ba6f5df37bfc4b610d50ba5447623a")
  }

  @Test(arguments: [0, 15, 65]) func `with a key of another length is never made`(_ count: Int)
    async
  {
    await #expect(processExitsWith: .failure) { [count] in
      _ = KeyedHash.digest32([1], key: SecretBytes(count: count))
    }
    await #expect(processExitsWith: .failure) { [count] in
      _ = KeyedHash(key: SecretBytes(count: count))
    }
    await #expect(processExitsWith: .failure) { [count] in
      let key = [UInt8](repeating: 1, count: count)
      _ = key.withBytes { BLAKE2b.digest32($0, key: $0) }
    }
  }

  @Test func `is taken only in the length it was made for`() async {
    await #expect(processExitsWith: .failure) {
      _ = KeyedHash(key: SecretBytes(count: 32)).finish16()
    }
    await #expect(processExitsWith: .failure) {
      _ = KeyedHash(key: SecretBytes(count: 32), outputCount: 16).finish32()
    }
  }

  /// FIPS 180-4 examples.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `of SHA-256 is the published one, whole and in parts`(_ text: String, _ digest: String) {
    let data = Array(text.utf8)
    #expect(Hex.encode(SHA256.digest(data).bytes) == digest)
    for border in 0...data.count {
      let parts = Array(data.prefix(border)).withBytes { first in
        Array(data.suffix(data.count - border)).withBytes { last in
          [UInt8]().withBytes { SHA256.digest(first, $0, last) }
        }
      }
      #expect(Hex.encode(parts.bytes) == digest)
    }
  }

  @Test func `of SHA-256 over a leaf and a node is that of the bytes in a row`() {
    let left = SHA256.digest([1])
    let right = SHA256.digest([2])
    #expect(SHA256.digest(1, left, right) == SHA256.digest([1] + left.bytes + right.bytes))
    let entry = Self.data(100)
    #expect(entry.withBytes { SHA256.digest(0, $0) } == SHA256.digest([0] + entry))
    #expect([UInt8]().withBytes { SHA256.digest(0, $0) } == SHA256.digest([0]))
  }

  @Test(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
  func `of HMAC-SHA-256 is that of RFC 4231`() throws {
    let vectors = try Vectors.of("hash.hmac_sha256")
    #expect(vectors.count == 3)
    for vector in vectors {
      let key = try Hex.decode(vector.text("key_hex"))
      let data = try Hex.decode(vector.text("data_hex"))
      let expected = try vector.expectedText("hex")
      let tag = data.withBytes { data in
        key.withBytes { HMACSHA256.authenticate(data, key: $0) }
      }
      #expect(Hex.encode(tag.bytes) == expected, "\(vector.name)")
      let secret = SecretBytes(copying: key)
      #expect(HMACSHA256.authenticate(data, key: secret) == tag, "\(vector.name)")
    }
  }

  struct Tags: Decodable {
    let key: String
    let msg: String
    let tag: String
    let result: String
  }

  struct Group: Decodable {
    let tagSize: Int
    let tests: [Tags]
  }

  struct File: Decodable {
    let numberOfTests: Int
    let testGroups: [Group]
  }

  @Test(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
  func `of HMAC-SHA-256 agrees with Wycheproof, cut tags included`() throws {
    let file = try SharedCases.read(File.self, "public/wycheproof_hmac_sha256.json")
    var count = 0
    for group in file.testGroups {
      for test in group.tests {
        let key = try Hex.decode(test.key)
        let tag = try Hex.decode(test.msg).withBytes { message in
          key.withBytes { HMACSHA256.authenticate(message, key: $0) }
        }
        let cut = Hex.encode(Array(tag.bytes.prefix(group.tagSize / 8)))
        #expect((cut == test.tag) == (test.result == "valid"))
        count += 1
      }
    }
    #expect(count == file.numberOfTests)
  }
}
