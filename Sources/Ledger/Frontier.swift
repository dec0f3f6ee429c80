package import Encoding
import Sodium

/// The right edge of the tree: what is needed to append a leaf and to know the root.
///
/// `peaks` are the roots of the complete subtrees that the leaves fall into, the largest (leftmost)
/// first, one for each bit set in `size`. An append costs as many hashes as subtrees it completes,
/// about two on average.
///
/// What the store keeps: the row of an entry holds the hashes that ``append(_:)-(Digest32)``
/// returned for it, 32 bytes each. So the complete subtree of (level, index) stands in the row of
/// entry (index + 1) · 2^level − 1 at offset 32 · level (`MerkleTree.row`), and every proof is read
/// with at most one row for each level.
package struct Frontier: Equatable, Sendable {
  /// How many leaves the tree has.
  package private(set) var size: UInt64
  package private(set) var peaks: [Digest32]

  /// The frontier of the empty tree.
  package init() {
    size = 0
    peaks = []
    peaks.reserveCapacity(MerkleTree.maximumLevels + 1)
  }

  /// Builds the frontier of a tree of `size` leaves again from stored hashes.
  package init<E>(
    size: UInt64, hash: (_ level: Int, _ index: UInt64) throws(E) -> Digest32
  ) throws(E) {
    self.init()
    self.size = size
    for level in stride(from: 63, through: 0, by: -1) where size >> UInt64(level) & 1 == 1 {
      peaks.append(try hash(level, size >> UInt64(level) - 1))
    }
  }

  /// The root of the tree at this size (RFC 6962, section 2.1).
  package var root: Digest32 {
    guard var root = peaks.last else { return MerkleTree.emptyRoot }
    for peak in peaks.dropLast().reversed() {
      root = MerkleTree.nodeHash(peak, root)
    }
    return root
  }

  /// Appends a leaf by its hash.
  ///
  /// - Returns: What the leaf's row keeps: its hash, then the hash of each complete subtree that it
  ///   completes, from level 1 upwards.
  package mutating func append(_ leafHash: Digest32) -> [Digest32] {
    var hashes = [leafHash]
    advance(leafHash) { hashes.append($0) }
    return hashes
  }

  /// Appends a leaf and compares the hashes that its row keeps with those computed here.
  ///
  /// The way of `verify`: every leaf is hashed, so that an altered leaf, or a stored hash that no
  /// leaf explains, is found wherever it is. Nothing is allocated.
  ///
  /// - Parameters:
  ///   - leaf: the canonical bytes of the leaf.
  ///   - stored: the hashes of its row, 32 bytes each.
  /// - Returns: Whether the row keeps these hashes and no others. The frontier has moved on by the
  ///   computed hashes in either case.
  package mutating func append(_ leaf: RawSpan, checking stored: RawSpan) -> Bool {
    let leafHash = MerkleTree.leafHash(leaf)
    var equal =
      stored.byteCount == 32 * MerkleTree.hashCount(of: size)
      && leafHash.stands(in: stored, at: 0)
    var offset = 32
    advance(leafHash) { hash in
      equal = equal && hash.stands(in: stored, at: offset)
      offset += 32
    }
    return equal
  }

  private mutating func advance(_ leafHash: Digest32, _ completed: (Digest32) -> Void) {
    var hash = leafHash
    var rest = size
    while rest & 1 == 1 {
      hash = MerkleTree.nodeHash(peaks.removeLast(), hash)
      completed(hash)
      rest >>= 1
    }
    peaks.append(hash)
    size += 1
  }

  /// The canonical bytes for storing: size (u64), then the peaks.
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u64(size)
    for peak in peaks { writer.raw(peak.bytes) }
    return writer.bytes
  }

  /// Decodes canonical bytes.
  ///
  /// - Throws: ``LedgerError/malformed(_:)`` where there is not one peak for each bit of the size.
  package init(_ bytes: [UInt8]) throws(LedgerError) {
    self.init()
    var reader = Reader(bytes)
    do {
      size = try reader.u64()
      for _ in 0..<size.nonzeroBitCount {
        peaks.append(Digest32(try reader.raw(32)))
      }
      try reader.end()
    } catch {
      throw .malformed("frontier: \(error)")
    }
  }
}

extension Digest32 {
  /// Whether these 32 bytes stand in `bytes` at `offset`; false where `bytes` ends before.
  fileprivate func stands(in bytes: RawSpan, at offset: Int) -> Bool {
    offset + 32 <= bytes.byteCount
      && self == Digest32(bytes.extracting(offset..<(offset + 32)))
  }
}
