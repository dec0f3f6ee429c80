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
      try verifyLedger(progress: progress)
      checked += ["ledger"]
      try verifyGrants()
      checked += ["grants"]
      var anchored = false
      if let head = try head.get() {
        try store.hold(head)
        anchored = true
        checked.append("head outside the file")
      } else if store.keyring.anchor.kind == .required {
        throw VaultError(
          .damaged, "the vault's head is missing, and this vault requires it",
          hint: "put it back; if it was lost: vault reset-anchor", reason: .anchorMissing)
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

  /// Hashes every entry: checking the first and the last link only would let the middle be forged.
  func verifyLedger(progress: (UInt64) -> Void) throws(VaultError) {
    let size = store.state.ledgerSize
    guard try store.countEntries() == size else {
      throw .damagedEntry(size, "the ledger's table does not have \(size) entries")
    }
    var frontier = Frontier()
    try store.lendEntries(0..<size) { (number, leaf, hashes, body) throws(VaultError) in
      guard frontier.append(leaf, checking: hashes) else {
        throw .damagedEntry(number, "its hashes are not those of the tree")
      }
      do throws(LedgerError) {
        let leaf = try Leaf(bytes(of: leaf))
        guard leaf.number == number else { throw .malformed("number") }
        _ = try SealedBody.open(body, leaf: leaf)
      } catch {
        throw .damagedEntry(number, "it is not the one that was written (\(error))")
      }
      if number % 4096 == 0 { progress(number) }
    }
    guard frontier.root == store.state.ledgerRoot,
      frontier.size == 0 ? store.state.frontier.isEmpty : frontier.bytes == store.state.frontier
    else {
      throw .damagedEntry(size == 0 ? 0 : size - 1, "the tree's root is not the ledger's head")
    }
  }

  /// Holds the grants against the ledger, both ways, with memory that does not grow with either.
  ///
  /// Every standing must be what the entry that it names decided; and every decision must stand, or
  /// be older than the one that stands, or be ended by a removal. Together: the standings are exactly
  /// the last decisions.
  private func verifyGrants() throws(VaultError) {
    let records = Records(store)
    let rows = LedgerRows(store)
    try records.forEachGrantSet { (set) throws(VaultError) in
      for standing in set.standings {
        guard standing.entry < store.state.ledgerSize else {
          throw .unexplained(
            set, standing.name, "names entry \(standing.entry), which is not there")
        }
        let entry = try rows.open(try store.entry(standing.entry))
        guard entry.decides(standing, of: set) else {
          throw .unexplained(set, standing.name, "is not what entry \(standing.entry) decided")
        }
      }
      return true
    }
    var removals = Removals()
    try store.forEachEntry(0..<store.state.ledgerSize, backwards: true) {
      (row) throws(VaultError) in
      let entry = try rows.open(row)
      switch entry.event {
      case .accountRemoved: removals.accounts.insert(entry.account ?? .zero)
      case .appRemoved: removals.apps.insert(entry.app ?? "")
      case .granted, .denied, .revoked, .lostOnSite, .narrowed:
        try verify(decision: entry, removals: removals)
      default: break
      }
      return true
    }
  }

  private struct Removals {
    var accounts: Set<Key16> = []
    var apps: Set<String> = []
  }

  private func verify(decision entry: Entry, removals: Removals) throws(VaultError) {
    guard let app = entry.app, let account = entry.account else { return }
    if removals.apps.contains(app) || removals.accounts.contains(account) { return }
    let set = try Records(store).grants(app: app, account: AccountID(account))
    for name in entry.permissions {
      guard let standing = set?.standing(of: name), standing.entry >= entry.number else {
        throw VaultError(
          .damaged,
          "entry \(entry.number) of the ledger: its decision on \(name) for app \(app) does not stand",
          hint: "vault restore BACKUP --to PATH", reason: .unexplainedGrant)
      }
    }
  }
}

extension Entry {
  /// Whether this entry made a standing what it is.
  fileprivate func decides(_ standing: PermissionStanding, of set: GrantSet) -> Bool {
    guard app == set.app, account == set.account.key, permissions.contains(standing.name) else {
      return false
    }
    switch (event, standing.decision) {
    case (.granted, .granted):
      return standing.until == until
        && (standing.group != .write || standing.audience?.rawValue == audience)
    case (.denied, .denied): return true
    case (.revoked, .revoked), (.lostOnSite, .revoked), (.narrowed, .revoked): return true
    default: return false
    }
  }
}

extension VaultError {
  fileprivate static func unexplained(_ set: GrantSet, _ name: String, _ what: String)
    -> VaultError
  {
    VaultError(
      .damaged, "grant of \(name) to app \(set.app): it \(what)",
      hint: "vault restore BACKUP --to PATH", reason: .unexplainedGrant)
  }
}
