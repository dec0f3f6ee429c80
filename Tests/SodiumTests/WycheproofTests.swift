import Encoding
import Testing

@testable import Sodium

@Suite(
  .enabled(if: SharedCases.arePresent, "shared/cases does not lie beside the package"))
struct `Wycheproof` {
  struct File<Group: Decodable>: Decodable {
    let numberOfTests: Int
    let testGroups: [Group]
  }

  struct Boxes: Decodable {
    let tests: [Box]
  }

  struct Box: Decodable {
    let tcId: Int
    let comment: String
    let key: String
    let iv: String
    let aad: String
    let msg: String
    let ct: String
    let tag: String
    let result: String
  }

  /// Our boxes carry their nonce, so a nonce of another size is a box that is put together wrongly:
  /// it must not open.
  @Test func `XChaCha20-Poly1305: every box is opened or refused as it should be`() throws {
    let file = try SharedCases.read(File<Boxes>.self, "public/wycheproof_xchacha20_poly1305.json")
    var opened = 0
    var refused = 0
    for test in file.testGroups.flatMap(\.tests) {
      let key = SecretBytes(copying: try Hex.decode(test.key))
      let associated = try Hex.decode(test.aad)
      let box = try Hex.decode(test.iv) + Hex.decode(test.ct) + Hex.decode(test.tag)
      var buffer: [UInt8] = []
      if test.result == "valid" {
        let plaintext = try AEAD.open(box, associated: associated, key: key).array
        #expect(Hex.encode(plaintext) == test.msg, "\(test.tcId) \(test.comment)")
        let count = try AEAD.open(box, associated: associated, key: key, into: &buffer)
        #expect(Hex.encode(Array(buffer.prefix(count))) == test.msg, "\(test.tcId)")
        opened += 1
      } else {
        #expect(throws: SodiumError.cannotOpen, "\(test.tcId) \(test.comment)") {
          _ = try AEAD.open(box, associated: associated, key: key)
        }
        #expect(throws: SodiumError.cannotOpen, "\(test.tcId) \(test.comment)") {
          _ = try AEAD.open(box, associated: associated, key: key, into: &buffer)
        }
        refused += 1
      }
    }
    #expect(opened == 246)
    #expect(refused == 69)
    #expect(opened + refused == file.numberOfTests)
  }

  @Test func `XChaCha20-Poly1305: sealing with the nonce of a valid box gives that box`() throws {
    let file = try SharedCases.read(File<Boxes>.self, "public/wycheproof_xchacha20_poly1305.json")
    var sealed = 0
    for test in file.testGroups.flatMap(\.tests) where test.result == "valid" {
      let key = SecretBytes(copying: try Hex.decode(test.key))
      let nonce = try Hex.decode(test.iv)
      let associated = try Hex.decode(test.aad)
      let box = try Hex.decode(test.msg).withBytes { message in
        associated.withBytes { associated in
          AEAD.seal(message, associated: associated, key: key) { start in
            for (index, byte) in nonce.enumerated() { start[index] = byte }
          }
        }
      }
      #expect(Hex.encode(box) == test.iv + test.ct + test.tag, "\(test.tcId) \(test.comment)")
      sealed += 1
    }
    #expect(sealed == 246)
  }

  struct Signatures: Decodable {
    let publicKey: PublicKey
    let tests: [Signature]
  }

  struct PublicKey: Decodable {
    let pk: String
  }

  struct Signature: Decodable {
    let tcId: Int
    let comment: String
    let msg: String
    let sig: String
    let result: String
  }

  @Test func `Ed25519: every signature is accepted or refused as it should be`() throws {
    let file = try SharedCases.read(File<Signatures>.self, "public/wycheproof_ed25519.json")
    var accepted = 0
    var refused = 0
    for group in file.testGroups {
      let publicKey = try Hex.decode(group.publicKey.pk)
      for test in group.tests {
        let holds = Ed25519.verify(
          try Hex.decode(test.sig), try Hex.decode(test.msg), publicKey: publicKey)
        #expect(holds == (test.result == "valid"), "\(test.tcId) \(test.comment)")
        if holds { accepted += 1 } else { refused += 1 }
      }
    }
    #expect(accepted == 88)
    #expect(refused == 63)
    #expect(accepted + refused == file.numberOfTests)
  }
}
