import Encoding
import Testing

@testable import Ledger

/// A tree as the store keeps it: the hashes in the row of each entry, and nothing else.
struct StoredTree {
  struct Missing: Error {}

  var leaves: [[UInt8]] = []
  var rows: [[UInt8]] = []
  var frontier = Frontier()
  /// The root at every size, from the empty tree on.
  var roots: [Digest32] = [MerkleTree.emptyRoot]

  init(count: Int) {
    for number in 0..<count { append(ReferenceTree.leaf(number)) }
  }

  mutating func append(_ leaf: [UInt8]) {
    leaves.append(leaf)
    let hashes = frontier.append(MerkleTree.leafHash(leaf.span.bytes))
    rows.append(hashes.flatMap(\.bytes))
    roots.append(frontier.root)
  }

  /// The hash of a complete subtree, found where the rows keep it.
  func hash(_ level: Int, _ index: UInt64) throws(Missing) -> Digest32 {
    let row = MerkleTree.row(level: level, index: index)
    guard row < rows.count, rows[Int(row)].count >= 32 * (level + 1) else { throw Missing() }
    return Digest32(Array(rows[Int(row)][(32 * level)..<(32 * level + 32)]))
  }
}
