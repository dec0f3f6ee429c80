import Encoding
import Testing

@testable import Ledger

@Suite struct `An inclusion proof` {
  static let tree = StoredTree(count: 70)

  @Test(arguments: 1...70) func `is that of RFC 6962 for every leaf of a tree`(_ size: Int) throws {
    let tree = `An inclusion proof`.tree
    let leaves = tree.leaves[..<size]
    for number in 0..<size {
      let proof = try InclusionProof.make(
        number: UInt64(number), size: UInt64(size), hash: tree.hash)
      #expect(proof.hashes == ReferenceTree.path(number, leaves))
      let leafHash = ReferenceTree.leafHash(leaves[number])
      try proof.verify(leafHash: leafHash, root: tree.roots[size])
    }
  }

  @Test(arguments: 1...20) func `holds for no other leaf, place or root`(_ size: Int) throws {
    let tree = `An inclusion proof`.tree
    for number in 0..<size {
      let proof = try InclusionProof.make(
        number: UInt64(number), size: UInt64(size), hash: tree.hash)
      let own = ReferenceTree.leafHash(tree.leaves[number])
      for other in 0..<size where other != number {
        let hash = ReferenceTree.leafHash(tree.leaves[other])
        #expect(throws: ProofError.self) {
          try proof.verify(leafHash: hash, root: tree.roots[size])
        }
        var moved = proof
        moved.number = UInt64(other)
        #expect(throws: ProofError.self) {
          try moved.verify(leafHash: own, root: tree.roots[size])
        }
      }
      #expect(throws: ProofError.self) {
        try proof.verify(leafHash: own, root: tree.roots[size - 1])
      }
    }
  }

  @Test func `keeps both roots when they differ`() throws {
    let tree = `An inclusion proof`.tree
    let proof = try InclusionProof.make(number: 3, size: 9, hash: tree.hash)
    let hash = ReferenceTree.leafHash(tree.leaves[3])
    let mismatch = RootMismatch(size: 9, computed: tree.roots[9], expected: tree.roots[8])
    #expect(throws: ProofError.rootMismatch(mismatch)) {
      try proof.verify(leafHash: hash, root: tree.roots[8])
    }
    #expect(mismatch.description.contains(mismatch.computedText))
    #expect(mismatch.description.contains(mismatch.expectedText))
  }

  @Test func `of a tree of 2^63 leaves asks for 63 hashes`() throws {
    // Every subtree of one level is the same: a tree of equal leaves.
    var level = [ReferenceTree.leafHash([])]
    for _ in 0..<63 { level.append(MerkleTree.nodeHash(level.last!, level.last!)) }
    let size: UInt64 = 1 << 63
    let proof = InclusionProof.make(number: size - 1, size: size) { l, _ in level[l] }
    #expect(proof.hashes == Array(level[..<63]))
    try proof.verify(leafHash: level[0], root: level[63])
  }
}

@Suite struct `A consistency proof` {
  static let tree = StoredTree(count: 70)

  @Test(arguments: 1...70) func `is that of RFC 6962 for every older tree`(_ size: Int) throws {
    let tree = `A consistency proof`.tree
    let leaves = tree.leaves[..<size]
    for from in 1...size {
      let proof = try ConsistencyProof.make(
        from: UInt64(from), to: UInt64(size), hash: tree.hash)
      #expect(proof.hashes == ReferenceTree.subproof(from, leaves, true))
      try proof.verify(oldRoot: tree.roots[from], newRoot: tree.roots[size])
    }
  }

  @Test(arguments: 1...40) func `holds for no tree that was rewritten`(_ size: Int) throws {
    let tree = `A consistency proof`.tree
    for from in 1...size {
      // The first leaf is another one in the new tree, everything else is the same.
      var forged = StoredTree(count: 0)
      forged.append([255])
      for leaf in tree.leaves[1..<size] { forged.append(leaf) }
      let proof = try ConsistencyProof.make(
        from: UInt64(from), to: UInt64(size), hash: forged.hash)
      #expect(throws: ProofError.self) {
        try proof.verify(oldRoot: tree.roots[from], newRoot: forged.roots[size])
      }
    }
  }

  @Test func `from the empty tree or backwards is refused`() {
    let roots = `A consistency proof`.tree.roots
    #expect(throws: ProofError.self) {
      try ConsistencyProof(from: 0, to: 3, hashes: []).verify(
        oldRoot: roots[0], newRoot: roots[3])
    }
    #expect(throws: ProofError.self) {
      try ConsistencyProof(from: 3, to: 2, hashes: []).verify(
        oldRoot: roots[3], newRoot: roots[2])
    }
    #expect(throws: Never.self) {
      try ConsistencyProof(from: 0, to: 0, hashes: []).verify(
        oldRoot: roots[0], newRoot: roots[0])
    }
  }
}
