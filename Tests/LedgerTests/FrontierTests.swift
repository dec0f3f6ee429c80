import Encoding
import Testing

@testable import Ledger

@Suite struct `A frontier` {
  static let tree = StoredTree(count: 70)

  @Test func `of nothing has the hash of nothing as root`() {
    #expect(
      Hex.encode(Frontier().root.bytes)
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test(arguments: 0...70) func `has the root of RFC 6962 at every size`(_ size: Int) {
    let tree = `A frontier`.tree
    #expect(tree.roots[size] == ReferenceTree.root(tree.leaves[..<size]))
  }

  @Test func `gives each row as many hashes as subtrees end there`() {
    for (number, row) in `A frontier`.tree.rows.enumerated() {
      var count = 1
      var size = number + 1
      while size % 2 == 0 {
        count += 1
        size /= 2
      }
      #expect(row.count == 32 * count)
      #expect(MerkleTree.hashCount(of: UInt64(number)) == count)
    }
  }

  @Test(arguments: 0...70) func `is built again from the rows`(_ size: Int) throws {
    let tree = `A frontier`.tree
    let frontier = try Frontier(size: UInt64(size), hash: tree.hash)
    #expect(frontier.root == tree.roots[size])
    #expect(frontier.size == size)
    let decoded = try Frontier(frontier.bytes)
    #expect(decoded == frontier)
    #expect(frontier.bytes.count == 8 + 32 * size.nonzeroBitCount)
    let root = try MerkleTree.root(size: UInt64(size), hash: tree.hash)
    #expect(root == tree.roots[size])
  }

  @Test func `with a peak too few or too many is refused`() {
    let bytes = `A frontier`.tree.frontier.bytes
    #expect(throws: LedgerError.self) { try Frontier(Array(bytes.dropLast())) }
    #expect(throws: LedgerError.self) { try Frontier(Array(bytes.dropLast(32))) }
    #expect(throws: LedgerError.self) {
      try Frontier(bytes + [UInt8](repeating: 0, count: 32))
    }
    #expect(throws: LedgerError.self) { try Frontier([]) }
  }

  @Test func `accepts the rows that it made`() {
    let tree = `A frontier`.tree
    var frontier = Frontier()
    for (leaf, row) in zip(tree.leaves, tree.rows) {
      let equal = frontier.append(leaf.span.bytes, checking: row.span.bytes)
      #expect(equal)
    }
    #expect(frontier == tree.frontier)
  }

  @Test func `finds every altered hash and every altered leaf`() {
    let tree = `A frontier`.tree
    var frontier = Frontier()
    for (leaf, row) in zip(tree.leaves, tree.rows) {
      for place in row.indices {
        var altered = row
        altered[place] ^= 1
        var copy = frontier
        let equal = copy.append(leaf.span.bytes, checking: altered.span.bytes)
        #expect(!equal)
      }
      for other in [Array(row.dropLast()), Array(row.dropLast(32)), row + row, []] {
        var copy = frontier
        let equal = copy.append(leaf.span.bytes, checking: other.span.bytes)
        #expect(!equal)
      }
      let other = leaf + [0]
      var copy = frontier
      let equal = copy.append(other.span.bytes, checking: row.span.bytes)
      #expect(!equal)
      _ = frontier.append(leaf.span.bytes, checking: row.span.bytes)
    }
  }
}
