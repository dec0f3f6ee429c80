package import Encoding

/// A proof that a leaf stands at an index of a tree (RFC 6962, section 2.1.1; RFC 9162, section
/// 2.1.3).
///
/// It stops a log from showing an entry to one reader that is not in the tree it shows to others.
package struct InclusionProof: Equatable, Sendable {
  package var number: UInt64
  package var size: UInt64
  /// From the leaf's sibling up to the child of the root.
  package var hashes: [Digest32]

  package init(number: UInt64, size: UInt64, hashes: [Digest32]) {
    self.number = number
    self.size = size
    self.hashes = hashes
  }

  /// Makes the proof for leaf `number` in the tree of the first `size` leaves.
  ///
  /// - Parameter hash: the hash of the complete subtree of a level and index.
  /// - Precondition: `number < size`.
  package static func make<E>(
    number: UInt64, size: UInt64,
    hash: (_ level: Int, _ index: UInt64) throws(E) -> Digest32
  ) throws(E) -> InclusionProof {
    precondition(number < size, "an inclusion proof is for a leaf of the tree")
    var hashes: [Digest32] = []
    var begin: UInt64 = 0
    var end = size
    // From the root down to the leaf; each step leaves the half that the leaf is not in.
    while end - begin > 1 {
      let middle = begin + MerkleTree.split(end - begin)
      if number < middle {
        hashes.append(try MerkleTree.hash(middle, end, hash))
        end = middle
      } else {
        hashes.append(try MerkleTree.hash(begin, middle, hash))
        begin = middle
      }
    }
    return InclusionProof(number: number, size: size, hashes: hashes.reversed())
  }

  /// Checks that the leaf of this hash leads to `root` (RFC 9162, section 2.1.3.2).
  ///
  /// - Throws: ``ProofError/outOfRange(_:)``, ``ProofError/wrongLength`` or
  ///   ``ProofError/rootMismatch(_:)``.
  package func verify(leafHash: Digest32, root: Digest32) throws(ProofError) {
    guard number < size else { throw .outOfRange("index \(number) in a tree of \(size)") }
    var index = number
    var last = size - 1
    var computed = leafHash
    for hash in hashes {
      guard last != 0 else { throw .wrongLength }
      if index & 1 == 1 || index == last {
        computed = MerkleTree.nodeHash(hash, computed)
        while index & 1 == 0 && index != 0 {
          index >>= 1
          last >>= 1
        }
      } else {
        computed = MerkleTree.nodeHash(computed, hash)
      }
      index >>= 1
      last >>= 1
    }
    guard last == 0 else { throw .wrongLength }
    guard computed == root else {
      throw .rootMismatch(RootMismatch(size: size, computed: computed, expected: root))
    }
  }
}
