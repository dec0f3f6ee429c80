import Sodium
public import Faults
import Accounts
import Encoding
import Ledger
import Store

/// What a check of the whole vault found to be right.
public struct Verification: Sendable {
  /// How many entries the ledger has.
  public let entries: UInt64
  /// The ledger's root, in base64.
  public let root: String
  /// Whether the grants are what the ledger says; nil without a key.
  public let stateMatches: Bool?
  /// Whether the file was held against a head outside it, or a kept checkpoint.
  public let anchored: Bool
  /// What was checked, in words.
  public let checked: [String]
}

extension Session {
  /// Checks everything: SQLite's structure, every row of every table, the state tree, every entry and
  /// link of the ledger, that the grants are what the ledger says, and the head outside the file.
  ///
  /// - Parameter checkpoint: A signed note that the user kept.
  /// - Parameter progress: Told now and then how much is done.
  /// - Throws: ``VaultError`` for the first thing that is wrong, naming the entry or the row.
  public func verify(
    against checkpoint: String? = nil, progress: (UInt64) -> Void = { _ in }
  ) throws(VaultError) -> Verification {
    // Before the snapshot: another process may commit and publish while this one checks, and that is
    // no file put back.
    let head = Result { () throws(VaultError) in
      try store.watch?.anchor.read(publicKey: store.keyring.publicKey)
    }
    return try store.read { () throws(VaultError) in
      var checked = try store.verifyRows(progress: progress)
      let projection = GrantProjection(store)
      try verifyLedger(progress: progress, projection)
      checked += ["ledger"]
      try projection.finish()
      checked += ["grants"]
      var anchored = false
      if let head = try head.get() {
        try store.hold(head)
        anchored = true
        checked.append("head outside the file")
      } else if store.keyring.anchor.kind == .required, !store.state.isBackup {
        throw VaultError(
          .damaged, "the vault's head is missing, and this vault requires it: put it back",
          hint: "vault help reset-anchor", reason: .anchorMissing)
      }
      if let checkpoint {
        _ = try held(checkpoint)
        anchored = true
        checked.append("checkpoint")
      }
      return Verification(
        entries: store.state.ledgerSize,
        root: Base64.encode(store.state.ledgerRoot.bytes),
        stateMatches: true, anchored: anchored, checked: checked)
    }
  }

  /// Opens and hashes every entry: checking the first and the last link only would let the middle be
  /// forged.
  ///
  /// An entry that decides nothing is held against its leaf byte for byte and not taken apart.
  ///
  /// - Parameter projection: Shown each entry that decides something.
  func verifyLedger(
    progress: (UInt64) -> Void, _ projection: GrantProjection? = nil
  ) throws(VaultError) {
    let size = store.state.ledgerSize
    guard try store.countEntries() == size else {
      throw .damagedEntry(size, "the ledger's table does not have \(size) entries")
    }
    var frontier = Frontier()
    try store.lendEntries(0..<size) { (number, leaf, hashes, body) throws(VaultError) in
      guard frontier.append(leaf, checking: hashes) else {
        throw .damagedEntry(number, "its hashes are not those of the tree")
      }
      var decision: Entry?
      do throws(LedgerError) {
        let leaf = try Leaf(leaf)
        guard leaf.number == number else { throw .malformed("number") }
        // The buffer lives through the call.
        let event = try unsafe SealedBody.event(of: body.span.bytes, leaf: leaf)
        if projection != nil, GrantProjection.follows(event) {
          decision = try SealedBody.open(body, leaf: leaf)
        }
      } catch {
        throw .damagedEntry(number, "it is not the one that was written (\(error))")
      }
      if let decision { try projection?.follow(decision) }
      if number % 4096 == 0 { progress(number) }
    }
    guard frontier.root == store.state.ledgerRoot,
      frontier.size == 0 ? store.state.frontier.isEmpty : frontier.bytes == store.state.frontier
    else {
      throw .damagedEntry(size == 0 ? 0 : size - 1, "the tree's root is not the ledger's head")
    }
  }
}
