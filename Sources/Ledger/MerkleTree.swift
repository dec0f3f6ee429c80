package import Encoding
import Sodium

/// The hashes of an RFC 6962 Merkle tree (section 2.1; the same in RFC 9162, section 2.1.1).
///
/// SHA-256, with 0x00 before a leaf and 0x01 before a pair of nodes. Without the prefixes a node's
/// 64 bytes could be shown as a leaf of another, shorter tree with the same root (a second
/// preimage).
package enum MerkleTree {
  /// The hash of the tree without leaves: SHA-256 of nothing.
  package static let emptyRoot = SHA256.digest([])

  /// No proof of a tree of up to 2^63 leaves is longer than this times two.
  static let maximumLevels = 63

  /// The hash of a leaf.
  package static func leafHash(_ leaf: RawSpan) -> Digest32 {
    SHA256.digest(0x00, leaf)
  }

  /// The hash of a node over the hashes of its children.
  package static func nodeHash(_ left: Digest32, _ right: Digest32) -> Digest32 {
    SHA256.digest(0x01, left, right)
  }

  /// How many hashes stand in the row of an entry: the leaf's, and one for each complete subtree
  /// that the entry completes.
  package static func hashCount(of number: UInt64) -> Int {
    (number &+ 1).trailingZeroBitCount + 1
  }

  /// The entry in whose row the hash of a complete subtree stands; it stands there at offset
  /// 32 · level.
  ///
  /// - Parameters:
  ///   - level: 0 for leaves; a subtree of level l has 2^l leaves.
  ///   - index: counts the subtrees of that level from the left, from 0.
  package static func row(level: Int, index: UInt64) -> UInt64 {
    (index + 1) << UInt64(level) - 1
  }

  /// The largest power of two smaller than `count`, which is 2 or more: where RFC 6962 splits a
  /// tree of `count` leaves.
  static func split(_ count: UInt64) -> UInt64 {
    1 << UInt64(63 - (count - 1).leadingZeroBitCount)
  }

  /// The hash of the leaves from `begin` up to, not including, `end`, made of the hashes of
  /// complete subtrees.
  ///
  /// - Precondition: `begin` is where RFC 6962 splits a tree, so every split lies on a complete
  ///   subtree.
  static func hash<E>(
    _ begin: UInt64, _ end: UInt64,
    _ stored: (_ level: Int, _ index: UInt64) throws(E) -> Digest32
  ) throws(E) -> Digest32 {
    let count = end - begin
    if count & (count - 1) == 0 {
      let level = count.trailingZeroBitCount
      return try stored(level, begin >> UInt64(level))
    }
    let middle = begin + split(count)
    let left = try hash(begin, middle, stored)
    return nodeHash(left, try hash(middle, end, stored))
  }

  /// The root of the tree of the first `size` leaves.
  ///
  /// - Parameter stored: the hash of the complete subtree of a level and index.
  package static func root<E>(
    size: UInt64, hash stored: (_ level: Int, _ index: UInt64) throws(E) -> Digest32
  ) throws(E) -> Digest32 {
    size == 0 ? emptyRoot : try hash(0, size, stored)
  }
}
