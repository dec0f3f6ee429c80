package import Encoding

/// A proof that a tree begins with every leaf of an older tree, in the same order (RFC 6962,
/// section 2.1.2; RFC 9162, section 2.1.4).
///
/// It stops a log from rewriting, dropping or reordering what it has shown once: whoever kept an
/// older head sees that the newer one is no continuation of it.
package struct ConsistencyProof: Equatable, Sendable {
  package var from: UInt64
  package var to: UInt64
  /// In the order of RFC 9162, section 2.1.4.1: the deepest node first.
  package var hashes: [Digest32]

  package init(from: UInt64, to: UInt64, hashes: [Digest32]) {
    self.from = from
    self.to = to
    self.hashes = hashes
  }

  /// Makes the proof from the tree of the first `from` leaves to that of the first `to`.
  ///
  /// Between equal sizes the proof has no hashes.
  ///
  /// - Parameter hash: the hash of the complete subtree of a level and index.
  /// - Precondition: `0 < from <= to`.
  package static func make<E>(
    from: UInt64, to: UInt64,
    hash: (_ level: Int, _ index: UInt64) throws(E) -> Digest32
  ) throws(E) -> ConsistencyProof {
    precondition(0 < from && from <= to, "a proof leads from a smaller tree to a larger one")
    var hashes: [Digest32] = []
    var begin: UInt64 = 0
    var end = to
    while end > from {
      let middle = begin + MerkleTree.split(end - begin)
      if from <= middle {
        hashes.append(try MerkleTree.hash(middle, end, hash))
        end = middle
      } else {
        hashes.append(try MerkleTree.hash(begin, middle, hash))
        begin = middle
      }
    }
    // The old tree's own root is known to the verifier; a subtree of it is not.
    if begin > 0 { hashes.append(try MerkleTree.hash(begin, end, hash)) }
    return ConsistencyProof(from: from, to: to, hashes: hashes.reversed())
  }

  /// Checks that the tree of `oldRoot` is the beginning of the tree of `newRoot` (RFC 9162,
  /// section 2.1.4.2).
  ///
  /// Every tree begins with the empty one, so a proof from it would prove nothing and is refused
  /// (RFC 9162 asks for 0 < m).
  ///
  /// - Throws: ``ProofError/outOfRange(_:)``, ``ProofError/wrongLength``, or
  ///   ``ProofError/rootMismatch(_:)`` with the root, old or new, that the hashes do not lead to.
  package func verify(oldRoot: Digest32, newRoot: Digest32) throws(ProofError) {
    guard from <= to else { throw .outOfRange("from \(from) to \(to)") }
    guard from > 0 || to == 0 else { throw .outOfRange("from the empty tree") }
    if from == to {
      guard hashes.isEmpty else { throw .wrongLength }
      try ConsistencyProof.match(size: to, computed: newRoot, expected: oldRoot)
      if to == 0 {
        try ConsistencyProof.match(size: 0, computed: MerkleTree.emptyRoot, expected: oldRoot)
      }
      return
    }
    guard let first = hashes.first else { throw .wrongLength }
    var index = from - 1
    var last = to - 1
    while index & 1 == 1 {
      index >>= 1
      last >>= 1
    }
    // A complete old tree is a node of the new one, so its root is not among the hashes.
    let complete = from & (from - 1) == 0
    var old = complete ? oldRoot : first
    var new = old
    for hash in complete ? hashes[...] : hashes.dropFirst() {
      guard last != 0 else { throw .wrongLength }
      if index & 1 == 1 || index == last {
        old = MerkleTree.nodeHash(hash, old)
        new = MerkleTree.nodeHash(hash, new)
        while index & 1 == 0 && index != 0 {
          index >>= 1
          last >>= 1
        }
      } else {
        new = MerkleTree.nodeHash(new, hash)
      }
      index >>= 1
      last >>= 1
    }
    guard last == 0 else { throw .wrongLength }
    try ConsistencyProof.match(size: from, computed: old, expected: oldRoot)
    try ConsistencyProof.match(size: to, computed: new, expected: newRoot)
  }

  private static func match(
    size: UInt64, computed: Digest32, expected: Digest32
  ) throws(ProofError) {
    guard computed == expected else {
      throw .rootMismatch(RootMismatch(size: size, computed: computed, expected: expected))
    }
  }
}
