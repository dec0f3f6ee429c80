import Encoding
import Foundation
import Sodium
import TestSupport
import Testing

@testable import Crypto

/// Keys that the `openssl` of this machine makes, so that another reads and writes their files.
@Suite struct `A key of libcrypto` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func openssl(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: text, as: UTF8.self)
  }

  @Test func `P-256 signs with leading zeros kept, and openssl's DER is read back`() throws {
    let key = try P256.SigningKey.generate()
    let publicKey = key.publicKey
    var zeros = 0
    // One in 128 has a number that begins with a zero byte.
    for count in 0..<1500 {
      let message = Array("\(count)".utf8)
      let signature = try key.sign(message)
      #expect(signature.count == 64)
      if signature[0] == 0 || signature[32] == 0 { zeros += 1 }
      #expect(publicKey.verify(signature, message))
    }
    #expect(zeros > 0)
  }

  @Test(arguments: [
    // 1 and 2 with all their zeros; the highest bit set, at which DER puts a zero in front.
    [UInt8](repeating: 0, count: 31) + [1] + [UInt8](repeating: 0, count: 31) + [2],
    [UInt8](repeating: 0xff, count: 64),
    [0] + [UInt8](repeating: 0x80, count: 31) + [0, 0] + [UInt8](repeating: 0x7f, count: 30),
  ])
  func `P-256 keeps every number through DER`(_ raw: [UInt8]) throws {
    #expect(P256.raw(P256.der(raw) ?? []) == raw)
  }

  @Test func `P-256 takes no signature of another length`() throws {
    let key = try P256.SigningKey.generate()
    let publicKey = key.publicKey
    let signature = try key.sign([1])
    #expect(publicKey.verify(signature, [1]))
    #expect(!publicKey.verify(signature + [0], [1]))
    #expect(!publicKey.verify([0] + signature, [1]))
    #expect(!publicKey.verify(Array(signature.dropLast()), [1]))
    #expect(!publicKey.verify([], [1]))
    #expect(P256.der([]) == nil)
    #expect(P256.raw([0x30, 0x01]) == nil)
  }

  @Test func `P-256 takes no scalar of nought, none of the order, none of another length`() throws {
    let order = try Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    var largest = order
    largest[31] -= 1
    let one = [UInt8](repeating: 0, count: 31) + [1]
    for scalar in [[UInt8](repeating: 0, count: 32), order, [1], one + [0], []] {
      #expect(throws: CryptoError.unreadableKey) {
        _ = try P256.SigningKey(scalar: SecretBytes(scalar))
      }
    }
    for scalar in [one, largest] {
      let key = try P256.SigningKey(scalar: SecretBytes(scalar))
      let kept = try key.scalar().array
      #expect(kept == scalar)
    }
    // The point of 1 is the curve's generator (FIPS 186-4, D.1.2.3).
    let generator = try P256.SigningKey(scalar: SecretBytes(one)).publicKey
    #expect(
      Hex.encode(generator.x) == "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    #expect(
      Hex.encode(generator.y) == "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
  }

  @Test func `P-256 takes no point beside the curve`() throws {
    let key = try P256.SigningKey.generate().publicKey
    var y = key.y
    y[31] ^= 1
    #expect(throws: CryptoError.wrongKey(expected: "P-256")) {
      try P256.VerifyingKey(x: key.x, y: y)
    }
    #expect(throws: CryptoError.wrongKey(expected: "P-256")) {
      try P256.VerifyingKey(x: key.x, y: [])
    }
  }

  @Test func `is generated anew each time`() throws {
    let first = try P256.SigningKey.generate().publicKey
    let second = try P256.SigningKey.generate().publicKey
    #expect(first != second)
  }

  @Test func `of another kind or curve is named as wrong`() throws {
    let rsa = try openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024")
    let p256 = try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    let p384 = try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
    let short = try openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:768")
    _ = try RSA.SigningKey(pem: SecretBytes(rsa))
    _ = try P256.SigningKey(pem: SecretBytes(p256))
    #expect(throws: CryptoError.wrongKey(expected: "RSA")) {
      _ = try RSA.SigningKey(pem: SecretBytes(p256))
    }
    for pem in [rsa, p384] {
      #expect(throws: CryptoError.wrongKey(expected: "P-256")) {
        _ = try P256.SigningKey(pem: SecretBytes(pem))
      }
    }
    #expect(throws: CryptoError.weakKey(bits: 768)) {
      _ = try RSA.SigningKey(pem: SecretBytes(short))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `under a passphrase is unreadable, and nobody is asked`() throws {
    let pem = try openssl(
      "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-aes128", "-pass",
      "pass:letmein")
    #expect(pem.contains("ENCRYPTED"))
    for pem in [pem, "", "no PEM", String(pem.prefix(200))] {
      #expect(throws: CryptoError.unreadableKey) {
        _ = try RSA.SigningKey(pem: SecretBytes(pem))
      }
    }
  }

  @Test func `of RSA signs what openssl verifies`() throws {
    let pem = try openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    let key = try RSA.SigningKey(pem: SecretBytes(pem))
    try pem.write(toFile: directory("key.pem"), atomically: false, encoding: .utf8)
    let publicPEM = try openssl("pkey", "-in", directory("key.pem"), "-pubout")
    try publicPEM.write(toFile: directory("public.pem"), atomically: false, encoding: .utf8)
    try "message".write(toFile: directory("message"), atomically: false, encoding: .utf8)
    let verifier = try Array(publicPEM.utf8).withBytes { pem throws(CryptoError) in
      try RSA.VerifyingKey(pem: pem)
    }
    for hash in RSA.Hash.allCases {
      let signature = try key.sign("message", hash)
      let isVerified = verifier.verify(signature, "message", hash)
      #expect(isVerified)
      try Data(signature).write(to: URL(fileURLWithPath: directory("signature")))
      let told = try openssl(
        "dgst", "-" + hash.rawValue.lowercased(), "-verify", directory("public.pem"),
        "-signature", directory("signature"), directory("message"))
      #expect(told == "Verified OK\n")
    }
  }

  @Test func `of HMAC is nowhere in memory once the tag is there`() throws {
    let canary = Canary()
    for round in 0..<2 {
      var bytes = [UInt8](repeating: 0, count: Canary.count)
      canary.fill(&bytes, 0..<bytes.count)
      let key = SecretBytes(wiping: &bytes)
      _ = try key.withBytes { key throws(CryptoError) in try SHA1.digest(key) }
      let message: [UInt8] = [1, 2, 3]
      _ = try message.withBytes { message throws(CryptoError) in
        try HMACSHA1.authenticate(message, key: key)
      }
      _ = try message.withBytes { message throws(CryptoError) in
        try FastHMACSHA256.authenticate(message, key: key)
      }
      // It is found while it is kept, so the search can find it.
      #expect(try canary.occurrences() == 1, "round \(round)")
    }
    #expect(try canary.occurrences() == 0)
  }

  @Test func `of HMAC answers many threads at once`() async throws {
    let expected = try (0..<64).map { try HMACSHA1.authenticate([UInt8($0)], [UInt8($0), 7]) }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<64 {
        group.addTask {
          for _ in 0..<200 {
            let tag = try HMACSHA1.authenticate([UInt8(index)], [UInt8(index), 7])
            guard tag == expected[index] else { return false }
          }
          return true
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }
}
