import Encoding
import Foundation
import Testing

@testable import Sodium

@Suite final class `A subkey` {
  let key = SecretBytes(copying: [UInt8](0..<32))

  /// Computed with hashlib: BLAKE2b with the number as salt and the context as person.
  @Test func `is the known one`() {
    let rows = KeyContext("vltrows_")
    let first = KeyDerivation.subkey(0, rows, from: key)
    let second = KeyDerivation.subkey(1, rows, from: key)
    let last = KeyDerivation.subkey(.max, KeyContext("vltstate"), from: key)
    #expect(
      Hex.encode(first.array) == "8fad342746b50034a6c2e682cd261464397f709c0b9020e96f30165c62c48db7")
    #expect(
      Hex.encode(second.array) == "69683c23afb449a7d38a3eeaf746a345b1c4d1fceccb84f1477df7c8f4ccb039"
    )
    #expect(
      Hex.encode(last.array) == "06035cf54c6550ae58146bb0cde28cf00319efb37558a3295b7e2c2382436bf1")
  }

  @Test func `has a context of eight ASCII characters and no other`() async {
    await #expect(processExitsWith: .success) { _ = KeyContext("vltledgr") }
    await #expect(processExitsWith: .failure) { _ = KeyContext("vltrows") }
    await #expect(processExitsWith: .failure) { _ = KeyContext("vltrows__") }
    await #expect(processExitsWith: .failure) { _ = KeyContext("") }
    await #expect(processExitsWith: .failure) { _ = KeyContext("x") }
    await #expect(processExitsWith: .failure) { _ = KeyContext("vltrowé") }
  }
}

/// Known answers come from the reference implementation of Argon2 (through argon2-cffi), version
/// 0x13, one lane, salt 00…0f.
@Suite struct `A passphrase's key` {
  struct Answer {
    let passphrase: [UInt8]
    let operations: UInt32
    let kibibytes: UInt64
    let key: String
  }

  static let answers = [
    Answer(
      passphrase: Array("correct horse battery staple".utf8), operations: 1, kibibytes: 8192,
      key: "9aeef75313e585f492c33c5e12d82e9ad253b7dd78632d537e899cd4eddd789c"),
    Answer(
      passphrase: Array("correct horse battery staple".utf8), operations: 2, kibibytes: 8192,
      key: "a891dd91a3d123add6ea78ceedcc94a7f1dc1e4ca480e57e6f240a113662ea2f"),
    Answer(
      passphrase: [], operations: 1, kibibytes: 8192,
      key: "50445b64a362cf432d175b0fbd484f23f51d3f1f797b60bd490532c2add1d65a"),
    Answer(
      passphrase: [0x00, 0xff, 0x00], operations: 3, kibibytes: 19_456,
      key: "dc7544e3f283e1713a4f23d9411a5525ab4aa4de689348b9736a319b5fcad5d3"),
  ]

  @Test(arguments: answers) func `is the known one`(_ answer: Answer) throws {
    let hash = PasswordHash(
      operations: answer.operations, memoryBytes: answer.kibibytes * 1024, salt: [UInt8](0..<16))
    let key = try hash.derive(SecretBytes(copying: answer.passphrase))
    #expect(Hex.encode(key.array) == answer.key)
  }

  @Test func `has a new salt unless one is given`() {
    let one = PasswordHash(operations: 1, memoryBytes: 8 << 20)
    let other = PasswordHash(operations: 1, memoryBytes: 8 << 20)
    #expect(one.salt.count == 16)
    #expect(one != other)
  }

  /// Every refusal comes at once: these would otherwise take terabytes or hours.
  @Test func `is refused by its parameters before any memory is taken`() {
    let passphrase = SecretBytes(copying: [1])
    func refusal(_ operations: UInt32, _ memory: UInt64, salt: Int = 16, allow: Bool = false)
      -> SodiumError?
    {
      let hash = PasswordHash(
        operations: operations, memoryBytes: memory, salt: [UInt8](repeating: 1, count: salt))
      do {
        try hash.check(allowExpensive: allow)
        return nil
      } catch {
        do {
          _ = try hash.derive(passphrase, allowExpensive: allow)
          Issue.record("derived what is refused")
        } catch let second {
          #expect(second == error)
        }
        return error
      }
    }
    let gibibyte: UInt64 = 1 << 30
    #expect(refusal(1, 8 << 20) == nil)
    #expect(refusal(10, gibibyte) == nil)
    #expect(refusal(11, gibibyte) == .tooExpensive(memoryBytes: gibibyte))
    #expect(refusal(1, gibibyte + 1024) == .tooExpensive(memoryBytes: gibibyte + 1024))
    #expect(refusal(1, .max) == .tooExpensive(memoryBytes: .max))
    #expect(refusal(.max, 8 << 20) == .tooExpensive(memoryBytes: 8 << 20))
    #expect(refusal(0, 8 << 20) == .badParameters)
    #expect(refusal(1, (8 << 20) - 1024) == .badParameters)
    #expect(refusal(1, 0) == .badParameters)
    #expect(refusal(1, (8 << 20) + 1) == .badParameters)
    #expect(refusal(1, 8 << 20, salt: 15) == .badParameters)
    #expect(refusal(1, 8 << 20, salt: 17) == .badParameters)
    #expect(refusal(11, 8 << 20, allow: true) == nil)
    #expect(refusal(1, 2 * gibibyte, allow: true) == nil)
    #expect(refusal(1, .max, allow: true) == .badParameters)
    #expect(refusal(0, 8 << 20, allow: true) == .badParameters)
    #expect(refusal(1, 1 << 20, allow: true) == .badParameters)
  }

  @Test func `that the system has no memory for is refused by name`() async {
    await #expect(processExitsWith: .success) {
      let passphrase = SecretBytes(copying: [1])
      // No more address space than is in use, and 64 MiB.
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        .split(separator: " ").first.flatMap { UInt($0) }!
      let bytes = rlim_t(pages) * 4096 + (64 << 20)
      var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      let hash = PasswordHash(operations: 1, memoryBytes: 512 << 20)
      do throws(SodiumError) {
        _ = try hash.derive(passphrase)
        fatalError("there was memory")
      } catch {
        precondition(error == .outOfMemory(memoryBytes: 512 << 20))
      }
      // And the process goes on.
      _ = try PasswordHash(operations: 1, memoryBytes: 8 << 20).derive(passphrase)
    }
  }
}

@Suite struct `A signing key` {
  /// RFC 8032 section 7.1, tests 1 to 3.
  static let published = [
    (
      seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      message: "",
      signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ),
    (
      seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
      message: "72",
      signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
      message: "af82",
      signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    ),
  ]

  @Test func `signs as RFC 8032 has it`() throws {
    for vector in Self.published {
      let key = SigningKey(seed: SecretBytes(copying: try Hex.decode(vector.seed)))
      let message = try Hex.decode(vector.message)
      let signature = key.sign(message)
      #expect(Hex.encode(key.publicKey) == vector.publicKey)
      #expect(Hex.encode(signature) == vector.signature)
      #expect(Ed25519.verify(signature, message, publicKey: key.publicKey))
      let seed = key.seed.array
      #expect(Hex.encode(seed) == vector.seed)
    }
  }

  @Test func `made at random signs, and no other key's signature passes for its own`() {
    let key = SigningKey.generate()
    let other = SigningKey.generate()
    let message = Array("head".utf8)
    let signature = key.sign(message)
    #expect(Ed25519.verify(signature, message, publicKey: key.publicKey))
    #expect(!Ed25519.verify(signature, message, publicKey: other.publicKey))
    #expect(!Ed25519.verify(signature, Array("heed".utf8), publicKey: key.publicKey))
    #expect(key.publicKey != other.publicKey)
  }

  @Test func `verifies nothing of a wrong length`() {
    let key = SigningKey.generate()
    let signature = key.sign([1])
    let publicKey = key.publicKey
    #expect(!Ed25519.verify([], [1], publicKey: publicKey))
    #expect(!Ed25519.verify(Array(signature.dropLast()), [1], publicKey: publicKey))
    #expect(!Ed25519.verify(signature + [0], [1], publicKey: publicKey))
    #expect(!Ed25519.verify(signature, [1], publicKey: []))
    #expect(!Ed25519.verify(signature, [1], publicKey: Array(publicKey.dropLast())))
    #expect(!Ed25519.verify(signature, [1], publicKey: publicKey + [0]))
  }
}
