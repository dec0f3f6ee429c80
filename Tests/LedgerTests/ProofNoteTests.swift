import Encoding
import Sodium
import Testing

@testable import Ledger

@Suite struct `An inclusion proof on paper` {
  static let tree = StoredTree(count: 70)
  static let head = Checkpoint(origin: Signer.origin, size: 70, root: tree.frontier.root)

  static func note(_ number: UInt64) throws -> InclusionProofNote {
    let proof = try InclusionProof.make(number: number, size: 70, hash: tree.hash)
    return InclusionProofNote(proof, checkpoint: head.signed(by: Signer.key()))
  }

  @Test func `has the lines of the specification`() throws {
    let text = try `An inclusion proof on paper`.note(69).text
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0] == "c2sp.org/tlog-proof@v1")
    #expect(lines[1] == "index 69")
    let tree = `An inclusion proof on paper`.tree
    #expect(
      lines[2].utf8.elementsEqual(
        Base64.encode(ReferenceTree.leafHash(tree.leaves[68]).bytes).utf8))
    let end = try #require(lines.firstIndex(of: ""))
    #expect(lines[end + 1] == "\(Signer.origin)")
  }

  @Test(arguments: [UInt64(0), 1, 63, 64, 69])
  func `is read and verified against its leaf`(_ number: UInt64) throws {
    let note = try `An inclusion proof on paper`.note(number)
    let read = try InclusionProofNote(parsing: note.text)
    #expect(read == note)
    let leaves = `An inclusion proof on paper`.tree.leaves
    let head = try read.verify(leaf: leaves[Int(number)], with: Signer.verifier())
    #expect(head == `An inclusion proof on paper`.head)
    #expect(throws: ProofError.self) {
      try read.verify(leaf: leaves[Int(number ^ 1)], with: Signer.verifier())
    }
    #expect(throws: ProofError.note(.notSigned(name: Signer.origin))) {
      try read.verify(leaf: leaves[Int(number)], with: Signer.verifier(8))
    }
  }

  @Test func `altered in any byte is refused`() throws {
    let bytes = Array(try `An inclusion proof on paper`.note(5).text.utf8)
    let leaf = `An inclusion proof on paper`.tree.leaves[5]
    let verifier = Signer.verifier()
    for place in bytes.indices {
      var altered = bytes
      altered[place] ^= 1
      guard let text = String(validating: altered, as: UTF8.self) else { continue }
      #expect(throws: ProofError.self, "byte \(place)") {
        try InclusionProofNote(parsing: text).verify(leaf: leaf, with: verifier)
      }
    }
  }

  @Test func `may carry extra data, which is kept`() throws {
    let note = try `An inclusion proof on paper`.note(5)
    let text = note.text.replacing("\nindex", with: "\nextra AQID\nindex", maxReplacements: 1)
    let read = try InclusionProofNote(parsing: text)
    #expect(read.extra == [1, 2, 3])
    #expect(read.text == text)
  }

  @Test(
    arguments: [
      ("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2"), ("index 5", "index 05"),
      ("index 5", "index -5"), ("index 5", "index"), ("index 5", "Index 5"),
      ("index 5\n", "index 5\n\n"), ("index 5\n", "index 5\nAAAA\n"), ("index 5\n", ""),
      ("index 5\n", "index 5\nextra AQID\n"), ("index 5\n", "extra A\nindex 5\n"),
    ])
  func `of another form is refused`(_ from: String, _ to: String) throws {
    let text = try `An inclusion proof on paper`.note(5).text.replacing(from, with: to)
    #expect(throws: ProofError.self) { try InclusionProofNote(parsing: text) }
  }
}

@Suite struct `A consistency proof on paper` {
  static let tree = StoredTree(count: 70)
  static let old = Checkpoint(origin: Signer.origin, size: 41, root: tree.roots[41])
  static let head = Checkpoint(origin: Signer.origin, size: 70, root: tree.roots[70])

  static func note() throws -> ConsistencyProofNote {
    let proof = try ConsistencyProof.make(from: 41, to: 70, hash: tree.hash)
    return ConsistencyProofNote(proof, checkpoint: head.signed(by: Signer.key()))
  }

  @Test func `is read and verified against the older checkpoint`() throws {
    let note = try `A consistency proof on paper`.note()
    #expect(note.text.hasPrefix("vault-consistency@v1\nold 41\nnew 70\n"))
    let read = try ConsistencyProofNote(parsing: note.text)
    #expect(read == note)
    let head = try read.verify(
      from: `A consistency proof on paper`.old, with: Signer.verifier())
    #expect(head == `A consistency proof on paper`.head)
  }

  @Test func `names the root that was rewritten`() throws {
    let tree = `A consistency proof on paper`.tree
    let kept = Checkpoint(origin: Signer.origin, size: 41, root: tree.roots[40])
    let mismatch = RootMismatch(size: 41, computed: tree.roots[41], expected: tree.roots[40])
    let note = try `A consistency proof on paper`.note()
    #expect(throws: ProofError.rootMismatch(mismatch)) {
      try note.verify(from: kept, with: Signer.verifier())
    }
  }

  @Test func `for another checkpoint or another log is refused`() throws {
    let note = try `A consistency proof on paper`.note()
    let tree = `A consistency proof on paper`.tree
    let other = Checkpoint(origin: Signer.origin, size: 40, root: tree.roots[40])
    #expect(throws: ProofError.self) { try note.verify(from: other, with: Signer.verifier()) }
    let branch = Checkpoint(origin: "vault/a/b", size: 41, root: tree.roots[41])
    #expect(throws: ProofError.note(.wrongOrigin(expected: "vault/a/b", found: Signer.origin))) {
      try note.verify(from: branch, with: Signer.verifier())
    }
  }

  @Test func `altered in any byte is refused`() throws {
    let bytes = Array(try `A consistency proof on paper`.note().text.utf8)
    let verifier = Signer.verifier()
    for place in bytes.indices {
      var altered = bytes
      altered[place] ^= 1
      guard let text = String(validating: altered, as: UTF8.self) else { continue }
      #expect(throws: ProofError.self, "byte \(place)") {
        try ConsistencyProofNote(parsing: text).verify(
          from: `A consistency proof on paper`.old, with: verifier)
      }
    }
  }
}
