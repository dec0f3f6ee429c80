public import Faults
public import Accounts
import Encoding
public import Ledger
import Providers
import Store

/// Which entries of the ledger are wanted.
public struct HistoryQuery: Sendable {
  /// An app's id.
  public var app: String?
  /// The id of an account; it may be one that is gone.
  public var account: AccountID?
  /// One kind of event alone.
  public var event: Event?
  /// Nothing from before this time.
  public var since: Timestamp?
  /// Begin at this number; for following the ledger.
  public var from: UInt64 = 0
  /// End before this number; nil for the ledger's end.
  public var to: UInt64?
  /// The newest so many of those that fit.
  public var limit: Int?

  /// Everything, from the first entry on.
  public init() {}

  func fits(_ entry: Entry) -> Bool {
    if let app, entry.app != app { return false }
    if let account, entry.accountID != account.text { return false }
    if let event, entry.event != event { return false }
    if let since, entry.time < since { return false }
    return true
  }
}

extension Session {
  /// Hands the entries that fit to `body`, the oldest first, each held against the tree.
  ///
  /// - Throws: ``VaultError`` with reason `damagedLedger` and the number of the first entry that is
  ///   missing or is not the one that was written.
  public func history(_ query: HistoryQuery, _ body: (Entry) throws(VaultError) -> Void)
    throws(VaultError)
  {
    try store.read { () throws(VaultError) in
      let rows = LedgerRows(store)
      let size = min(query.to ?? .max, store.state.ledgerSize)
      guard query.from < size else { return }
      guard let limit = query.limit else {
        return try store.forEachEntry(query.from..<size) { (row) throws(VaultError) in
          let entry = try rows.open(row)
          if query.fits(entry) {
            try rows.prove(row)
            try body(entry)
          }
          return true
        }
      }
      // From the end, so that a short look at a long ledger is short.
      var found: [Entry] = []
      try store.forEachEntry(query.from..<size, backwards: true) { (row) throws(VaultError) in
        if found.count >= limit { return false }
        let entry = try rows.open(row)
        if query.fits(entry) {
          try rows.prove(row)
          found.append(entry)
        }
        return true
      }
      for entry in found.reversed() { try body(entry) }
    }
  }

  /// The account that `history --account` names, which may have been removed: then the ledger says
  /// which it was, by the same forms as for one that is there.
  ///
  /// - Throws: ``VaultError``: `notFound`; `ambiguous`, with what fits.
  public func historyAccount(_ text: String) throws(VaultError) -> AccountID {
    do throws(VaultError) {
      return try account(text).id
    } catch {
      guard error.code == .notFound else { throw error }
      let gone = try removedAccounts(text)
      if gone.count > 1 {
        throw VaultError(
          .ambiguous, "\(Session.shown(text)) fits \(gone.count) accounts that were removed",
          candidates: gone.map { "\($0.id.text)  \(ProviderText.name($0.label))" })
      }
      guard let one = gone.first else { throw error }
      return one.id
    }
  }

  private func removedAccounts(_ text: String) throws(VaultError) -> [(
    id: AccountID, label: String
  )] {
    var query = HistoryQuery()
    query.event = .accountRemoved
    var found: [(id: AccountID, label: String)] = []
    try history(query) { (entry) throws(VaultError) in
      guard let id = entry.accountID.flatMap(AccountID.init) else { return }
      let label = entry.accountLabel ?? ""
      let name = label.drop { $0 != ":" }.dropFirst()
      if text == label || text == name || text.utf8.count >= 6 && id.text.hasPrefix(text) {
        found.append((id, label))
      }
    }
    return found
  }

  /// Holds `history --app` against what the vault and its ledger know; the app may have been removed.
  ///
  /// - Throws: ``VaultError`` with code `notFound` where no entry is of it.
  public func checkHistoryApp(_ id: String) throws(VaultError) {
    do throws(VaultError) {
      _ = try app(id)
    } catch {
      guard error.code == .notFound else { throw error }
      var query = HistoryQuery()
      query.app = id
      query.limit = 1
      var isKnown = false
      try history(query) { (_) throws(VaultError) in isKnown = true }
      if !isKnown {
        throw VaultError(.notFound, "no entry is of app \(id)", hint: "vault apps")
      }
    }
  }

  /// How many entries the ledger has.
  public func entryCount() throws(VaultError) -> UInt64 {
    try store.read { () throws(VaultError) in store.state.ledgerSize }
  }

  // MARK: Checkpoints and proofs

  /// The signed note of the ledger's head, in the C2SP checkpoint format.
  ///
  /// Made from a committed head only, after the head was written outside the file.
  public func checkpoint() throws(VaultError) -> SignedCheckpoint {
    if !options.isLooking { try store.publishHead() }
    return try store.read { () throws(VaultError) in
      Checkpoint(
        origin: origin, size: store.state.ledgerSize, root: store.state.ledgerRoot
      ).signed(by: store.keyring.signing)
    }
  }

  /// The name under which this branch of the ledger signs.
  var origin: String { Checkpoint.origin(vault: store.vault, branch: store.state.branch) }

  /// The public key to check checkpoints with; keep it apart from the vault.
  public var verifierKey: VerifierKey {
    VerifierKey(name: origin, publicKey: store.keyring.publicKey)
  }

  /// The inclusion proof of an entry, with the checkpoint that it leads to.
  ///
  /// - Throws: ``VaultError`` with code `notFound` for a number that the ledger has not reached.
  public func prove(_ number: UInt64) throws(VaultError) -> InclusionProofNote {
    try store.read { () throws(VaultError) in
      let size = store.state.ledgerSize
      guard number < size else {
        throw VaultError(
          .notFound, "the ledger has no entry \(number): it has \(size)", hint: "vault history")
      }
      try LedgerRows(store).prove(try store.entry(number))
      return InclusionProofNote(
        try LedgerRows(store).inclusion(of: number, size: size), checkpoint: try checkpoint())
    }
  }

  /// The proof that the ledger of a checkpoint is the beginning of this one.
  ///
  /// - Throws: ``VaultError``: `usage` for a text that is no checkpoint; `damaged` with reason
  ///   `rolledBack` or `forked` where the two do not fit.
  public func proveConsistency(with text: String) throws(VaultError) -> ConsistencyProofNote {
    try store.read { () throws(VaultError) in
      let old = try held(text)
      guard old.size > 0 else {
        throw VaultError(.usage, "every ledger begins with the empty one: nothing to prove")
      }
      return ConsistencyProofNote(
        try LedgerRows(store).consistency(from: old.size, to: store.state.ledgerSize),
        checkpoint: try checkpoint())
    }
  }

  /// A checkpoint that the user kept, its signature checked and held against this ledger.
  func held(_ text: String) throws(VaultError) -> Checkpoint {
    let signed: SignedCheckpoint
    do throws(NoteError) {
      signed = try SignedCheckpoint(parsing: text)
    } catch {
      throw VaultError(
        .usage, "that is no checkpoint: \(error)", hint: "vault checkpoint")
    }
    let mine = "vault/\(store.vault.base32)/"
    guard signed.unverified.origin.hasPrefix(mine) else {
      throw VaultError(
        .damaged, "the checkpoint is of another vault (\(signed.unverified.origin))",
        hint: "vault checkpoint", reason: .forked)
    }
    let checkpoint: Checkpoint
    do throws(NoteError) {
      checkpoint = try signed.verified(
        with: VerifierKey(name: signed.unverified.origin, publicKey: store.keyring.publicKey))
    } catch {
      throw VaultError(
        .damaged, "the checkpoint's signature is not this vault's (\(error))", reason: .forked)
    }
    guard checkpoint.size <= store.state.ledgerSize else {
      throw VaultError(
        .damaged,
        "the ledger is shorter than the checkpoint: \(store.state.ledgerSize) entries,"
          + " \(checkpoint.size) were signed: an older copy was put back, or its end was cut off",
        hint: "vault verify",
        reason: .rolledBack)
    }
    guard try LedgerRows(store).continues(checkpoint.root, at: checkpoint.size) else {
      throw VaultError(
        .damaged, "the ledger is not the one that the checkpoint signed", reason: .forked)
    }
    return checkpoint
  }
}
