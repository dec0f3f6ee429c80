import Encoding
import Ledger
import Store

/// The ledger as it lies in the store: entries by number, hashes beside them.
struct LedgerRows {
  let store: Store

  init(_ store: Store) { self.store = store }

  /// Seals an entry and makes it the ledger's newest, in the open transaction.
  func append(_ entry: Entry) throws(VaultError) {
    precondition(entry.number == store.state.ledgerSize, "entries are appended in order")
    var frontier = try frontier()
    try checkTail(frontier)
    let (leaf, plaintext) = SealedBody.make(entry)
    let leafBytes = leaf.bytes
    // The array lives through the call.
    let hashes = frontier.append(unsafe MerkleTree.leafHash(leafBytes.span.bytes))
    let row = EntryRow(
      number: entry.number, leaf: leafBytes, hashes: hashes.flatMap(\.bytes), body: plaintext)
    try store.append(row, size: frontier.size, root: frontier.root, frontier: frontier.bytes)
  }

  /// Looks whether the newest entry is there and is the one that the tree ends with.
  ///
  /// Stops new entries from being chained on a ledger whose end was cut off: that would hide the cut
  /// from every look but a whole verification.
  private func checkTail(_ frontier: Frontier) throws(VaultError) {
    guard frontier.size > 0, let peak = frontier.peaks.last else { return }
    let hashes = try store.entryHashes(frontier.size - 1)
    guard hashes.count >= 32, Digest32(Array(hashes.suffix(32))) == peak else {
      throw .damagedEntry(frontier.size - 1, "it is not the one that the ledger ends with")
    }
  }

  private func frontier() throws(VaultError) -> Frontier {
    if store.state.frontier.isEmpty { return Frontier() }
    do throws(LedgerError) {
      let frontier = try Frontier(store.state.frontier)
      guard frontier.size == store.state.ledgerSize else { throw .malformed("frontier") }
      return frontier
    } catch {
      throw .damagedEntry(store.state.ledgerSize, "the tree's frontier cannot be read")
    }
  }

  /// An entry, opened and held against its leaf; its place in the tree is the caller's to check.
  func open(_ row: EntryRow) throws(VaultError) -> Entry {
    do throws(LedgerError) {
      let leaf = try Leaf(row.leaf)
      guard leaf.number == row.number else { throw .malformed("number") }
      return try SealedBody.open(row.body, leaf: leaf)
    } catch {
      throw .damagedEntry(row.number, "it is not the one that was written (\(error))")
    }
  }

  /// An entry, opened and proved to stand in the tree of the state row.
  func entry(_ number: UInt64) throws(VaultError) -> Entry {
    let row = try store.entry(number)
    try prove(row)
    return try open(row)
  }

  /// Holds an entry against the tree's root.
  ///
  /// Stops an entry of the same number from a branch that was left behind: it opens, but is not in
  /// this tree.
  func prove(_ row: EntryRow) throws(VaultError) {
    let proof = try inclusion(of: row.number, size: store.state.ledgerSize)
    do throws(ProofError) {
      // The array lives through the call.
      try proof.verify(
        leafHash: unsafe MerkleTree.leafHash(row.leaf.span.bytes), root: store.state.ledgerRoot)
    } catch {
      throw .damagedEntry(row.number, "it does not stand in the ledger's tree")
    }
  }

  /// The hash of a complete subtree, from the row of the entry that completed it.
  func hash(level: Int, index: UInt64) throws(VaultError) -> Digest32 {
    let number = MerkleTree.row(level: level, index: index)
    let hashes = try store.entryHashes(number)
    let offset = 32 * level
    guard hashes.count >= offset + 32 else {
      throw .damagedEntry(number, "its hashes have a wrong size")
    }
    return Digest32(Array(hashes[offset..<offset + 32]))
  }

  /// Whether the ledger begins with the tree of `root` and `size`, proved up to its own root.
  ///
  /// The stored hashes are in the clear and nobody's word: a root made of them alone is what whoever
  /// edits the file wants it to be.
  func continues(_ root: Digest32, at size: UInt64) throws(VaultError) -> Bool {
    let now = store.state.ledgerSize
    guard size <= now else { return false }
    if size == now { return root == store.state.ledgerRoot }
    if size == 0 { return root == MerkleTree.emptyRoot }
    let proof = try consistency(from: size, to: now)
    do throws(ProofError) {
      try proof.verify(oldRoot: root, newRoot: store.state.ledgerRoot)
      return true
    } catch {
      return false
    }
  }

  func inclusion(of number: UInt64, size: UInt64) throws(VaultError) -> InclusionProof {
    try InclusionProof.make(number: number, size: size) { (level, index) throws(VaultError) in
      try hash(level: level, index: index)
    }
  }

  func consistency(from old: UInt64, to new: UInt64) throws(VaultError) -> ConsistencyProof {
    try ConsistencyProof.make(from: old, to: new) { (level, index) throws(VaultError) in
      try hash(level: level, index: index)
    }
  }
}
