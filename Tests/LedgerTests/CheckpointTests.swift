import Encoding
import Sodium
import Testing

@testable import Ledger

/// One signing key from a fixed seed, so that every run signs the same.
enum Signer {
  static let origin = Checkpoint.origin(
    vault: Key16([UInt8](repeating: 1, count: 16)), branch: Key16([UInt8](repeating: 2, count: 16)))

  static func key(_ byte: UInt8 = 7) -> SigningKey {
    var seed = [UInt8](repeating: byte, count: 32)
    return SigningKey(seed: SecretBytes(wiping: &seed))
  }

  static func verifier(_ byte: UInt8 = 7, name: String = origin) -> VerifierKey {
    VerifierKey(name: name, publicKey: key(byte).publicKey)
  }
}

@Suite struct `A checkpoint` {
  static let checkpoint = Checkpoint(
    origin: Signer.origin, size: 70, root: StoredTree(count: 70).frontier.root)
  static let signed = checkpoint.signed(by: Signer.key())

  @Test func `is three lines, an empty one and a signature`() {
    let lines = `A checkpoint`.signed.text.split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 6)
    #expect(
      lines[0] == "vault/aeaqcaibaeaqcaibaeaqcaibae/aibaeaqcaibaeaqcaibaeaqcai")
    #expect(lines[1] == "70")
    #expect(lines[2].count == 44)
    #expect(lines[3].isEmpty)
    #expect(lines[4].hasPrefix("— \(Signer.origin) "))
    #expect(lines[5].isEmpty)
  }

  @Test func `is read as it was written and verified by its key`() throws {
    let read = try SignedCheckpoint(parsing: `A checkpoint`.signed.text)
    #expect(read == `A checkpoint`.signed)
    let verified = try read.verified(with: Signer.verifier())
    #expect(verified == `A checkpoint`.checkpoint)
  }

  @Test func `altered in any byte is refused`() throws {
    let bytes = Array(`A checkpoint`.signed.text.utf8)
    for place in bytes.indices {
      for bit in [UInt8(1), 0x20, 0x80] {
        var altered = bytes
        altered[place] ^= bit
        guard let text = String(validating: altered, as: UTF8.self) else { continue }
        #expect(throws: NoteError.self, "byte \(place)") {
          _ = try SignedCheckpoint(parsing: text).verified(with: Signer.verifier())
        }
      }
    }
  }

  @Test(arguments: ["", "+1", "-1", "01", "00", " 1", "1 ", "1.0", "9223372036854775808", "0x1"])
  func `whose size is not plain decimal is refused`(_ size: String) {
    let text = "log\n\(size)\n\(`A checkpoint`.checkpoint.rootText)\n"
    #expect(throws: NoteError.self) { try Checkpoint(text: text) }
  }

  @Test(arguments: ["0", "1", "9223372036854775807"])
  func `may have any size up to 2^63 − 1`(_ size: String) throws {
    let text = "log\n\(size)\n\(`A checkpoint`.checkpoint.rootText)\n"
    let read = try Checkpoint(text: text)
    #expect(read.text == text)
  }

  @Test func `with a line too many, too few or of another form is refused`() {
    let root = `A checkpoint`.checkpoint.rootText
    for text in [
      "", "\n", "log\n1\n", "log\n1\n\(root)", "log\n1\n\(root)\nmore\n", "log\n1\n\n",
      "log\n1\n\(root.dropLast())\n", "log\n1\n\(root)=\n", "\n1\n\(root)\n", "l og\n1\n\(root)\n",
      "log\r\n1\r\n\(root)\r\n",
    ] {
      #expect(throws: NoteError.self) { try Checkpoint(text: text) }
    }
  }

  @Test func `keeps the signatures of others and does not judge them`() throws {
    var text = `A checkpoint`.signed.text
    text += "— witness.example/w \(Base64.encode([0, 0, 0, 1, 9, 9, 9]))\n"
    // Our name with the id of another key: a key that is not known.
    text += "— \(Signer.origin) \(Base64.encode([0, 0, 0, 1] + [UInt8](repeating: 9, count: 64)))\n"
    let read = try SignedCheckpoint(parsing: text)
    #expect(read.note.signatures.count == 3)
    #expect(read.text == text)
    let verified = try read.verified(with: Signer.verifier())
    #expect(verified == `A checkpoint`.checkpoint)
  }

  @Test func `with one false signature beside the true one is refused`() throws {
    let own = `A checkpoint`.signed.note.signatures[0]
    var writer = Writer()
    writer.u32(own.keyID)
    writer.raw([UInt8](repeating: 9, count: 64))
    let text =
      `A checkpoint`.signed.text + "— \(Signer.origin) \(Base64.encode(writer.bytes))\n"
    let read = try SignedCheckpoint(parsing: text)
    #expect(throws: NoteError.badSignature(name: Signer.origin)) {
      _ = try read.verified(with: Signer.verifier())
    }
  }

  @Test func `signed by another key is not accepted`() throws {
    #expect(throws: NoteError.notSigned(name: Signer.origin)) {
      _ = try `A checkpoint`.signed.verified(with: Signer.verifier(8))
    }
  }

  @Test func `of another log that its key also signs is refused`() {
    let other = SignedCheckpoint(
      note: SignedNote(
        text: `A checkpoint`.checkpoint.text, signedBy: Signer.key(), name: "vault/other"),
      unverified: `A checkpoint`.checkpoint)
    #expect(
      throws: NoteError.wrongOrigin(expected: "vault/other", found: Signer.origin)
    ) {
      _ = try other.verified(with: Signer.verifier(name: "vault/other"))
    }
  }
}

@Suite struct `A signed note` {
  @Test func `of the specification is read and written`() throws {
    // The example of the C2SP checkpoint page; its key is not published.
    let text = """
      example.com/behind-the-sofa
      20852163
      CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

      — example.com/behind-the-sofa \
      Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=

      """
    let read = try SignedCheckpoint(parsing: text)
    #expect(read.unverified.size == 20_852_163)
    #expect(read.note.signatures[0].keyID == 0x033d_e0ae)
    #expect(read.text == text)
  }

  @Test func `may have empty lines in its text`() throws {
    let note = SignedNote(text: "one\n\ntwo\n", signedBy: Signer.key(), name: "n")
    let read = try SignedNote(parsing: note.formatted)
    #expect(read == note)
    #expect(read.text == "one\n\ntwo\n")
  }

  @Test(
    arguments: [
      "", "\n", "\n\n", "text\n", "text\n\n", "text\n\n— n AAAAAAA=", "text\n\n- n AAAAAAA=\n",
      "text\n\n— n\n", "text\n\n— n AAAAAA==\n", "text\n\n— n AAAAAAA\n", "text\n\n—  AAAAAAA=\n",
      "text\n\n— a+b AAAAAAA=\n", "text\n\n— n AAAAAAA= \n", "te\u{1}xt\n\n— n AAAAAAA=\n",
      "te\rxt\n\n— n AAAAAAA=\n", "text\n\n— n\u{a0}m AAAAAAA=\n",
    ])
  func `of another form is refused`(_ text: String) {
    #expect(throws: NoteError.self) { try SignedNote(parsing: text) }
  }

  @Test func `longer than any real one is refused`() {
    let line = "— n AAAAAAA=\n"
    #expect(throws: Never.self) {
      try SignedNote(parsing: "t\n\n" + String(repeating: line, count: 64))
    }
    #expect(throws: NoteError.tooLarge) {
      try SignedNote(parsing: "t\n\n" + String(repeating: line, count: 65))
    }
    #expect(throws: NoteError.tooLarge) {
      try SignedNote(parsing: String(repeating: "t", count: 262_144) + "\n\n" + line)
    }
  }

  @Test func `takes two spellings of one name for two names`() {
    let composed = "caf\u{e9}"
    let decomposed = "cafe\u{301}"
    let note = SignedNote(text: "t\n", signedBy: Signer.key(), name: composed)
    #expect(throws: NoteError.notSigned(name: decomposed)) {
      try note.verify(with: Signer.verifier(name: decomposed))
    }
  }
}

@Suite struct `A verifier key` {
  @Test func `is read as it was written`() throws {
    let key = Signer.verifier()
    let read = try VerifierKey(parsing: key.text)
    #expect(read == key)
  }

  @Test func `of the Go checksum database has the id that its text gives`() throws {
    let text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
    let key = try VerifierKey(parsing: text)
    #expect(key.keyID == 0x033d_e0ae)
    #expect(key.text == text)
  }

  @Test(
    arguments: [
      "", "sum.golang.org", "sum.golang.org+033de0ae",
      "sum.golang.org+033de0af+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
      "sum.golang.org+033DE0AE+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
      "sum.golang.com+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
      "sum.golang.org+033de0ae+As4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
      "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuA==",
    ])
  func `of another form, or with another id, is refused`(_ text: String) {
    #expect(throws: NoteError.self) { try VerifierKey(parsing: text) }
  }
}
