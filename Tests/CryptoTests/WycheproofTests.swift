import Encoding
import Sodium
import TestSupport
import Testing

@testable import Crypto

@Suite(.enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
struct `Wycheproof of libcrypto` {
  struct File<Group: Decodable>: Decodable {
    let numberOfTests: Int
    let testGroups: [Group]
  }

  struct Tags: Decodable {
    /// Bits; a shorter tag is the beginning of the whole.
    let tagSize: Int
    let tests: [Tag]
  }

  struct Tag: Decodable {
    let tcId: Int
    let comment: String
    let key: String
    let msg: String
    let tag: String
    let result: String
  }

  func check(
    _ path: String, total: Int, _ authenticate: ([UInt8], [UInt8]) throws -> [UInt8]
  ) throws {
    let file = try SharedCases.read(File<Tags>.self, path)
    var checked = 0
    for group in file.testGroups {
      for test in group.tests {
        let whole = try authenticate(Hex.decode(test.msg), Hex.decode(test.key))
        let tag = Hex.encode(Array(whole.prefix(group.tagSize / 8)))
        #expect((tag == test.tag) == (test.result == "valid"), "\(test.tcId) \(test.comment)")
        checked += 1
      }
    }
    #expect(checked == total)
    #expect(checked == file.numberOfTests)
  }

  @Test func `HMAC-SHA1: every tag is the right one or is not`() throws {
    try check("public/wycheproof_hmac_sha1.json", total: 170) {
      try HMACSHA1.authenticate($0, $1)
    }
  }

  @Test func `HMAC-SHA256: every tag is the right one or is not`() throws {
    try check("public/wycheproof_hmac_sha256.json", total: 174) {
      try FastHMACSHA256.authenticate($0, $1)
    }
  }

  struct Signatures: Decodable {
    let publicKey: Key
    let tests: [Signature]
  }

  struct Key: Decodable {
    let uncompressed: String
  }

  struct Signature: Decodable {
    let tcId: Int
    let comment: String
    let msg: String
    let sig: String
    let result: String
  }

  @Test func `ECDSA P-256: every signature is accepted or refused as it should be`() throws {
    let file = try SharedCases.read(
      File<Signatures>.self, "public/wycheproof_ecdsa_secp256r1_sha256_p1363.json")
    var accepted = 0
    var refused = 0
    for group in file.testGroups {
      let point = try Hex.decode(group.publicKey.uncompressed)
      let key = try P256.VerifyingKey(x: Array(point[1..<33]), y: Array(point[33...]))
      for test in group.tests {
        let holds = key.verify(try Hex.decode(test.sig), try Hex.decode(test.msg))
        #expect(holds == (test.result == "valid"), "\(test.tcId) \(test.comment)")
        if holds { accepted += 1 } else { refused += 1 }
      }
    }
    #expect(accepted > 100)
    #expect(refused > 50)
    #expect(accepted + refused == file.numberOfTests)
    #expect(file.numberOfTests == 262)
  }
}
