import Accounts
import Encoding
import FileSystem
import Ledger
import Sodium
import Store

extension Session {
  /// Copies the vault as one consistent state into a new file, checks the copy and its ledger.
  ///
  /// The copy is sealed as the vault is and opens with the same keys.
  ///
  /// - Throws: ``VaultError``: `exists`, `io`; nothing is left behind then.
  @discardableResult
  public func backUp(to path: String) throws(VaultError) -> Backup {
    var entries: UInt64 = 0
    var root = ""
    var looking = options
    looking.isLooking = true
    try store.backUp(to: path) { (copy) throws(VaultError) in
      let session = try Session(copy, options: looking)
      try session.verifyLedger(progress: { _ in })
      entries = copy.state.ledgerSize
      root = Base64.encode(copy.state.ledgerRoot.bytes)
    }
    let facts = try? Files.inspect(path)
    return Backup(bytes: facts?.size ?? 0, entries: entries, root: root)
  }

  /// What a backup holds.
  public struct Backup: Sendable {
    /// The size of the file.
    public let bytes: Int64
    /// How many entries the ledger in the copy has.
    public let entries: UInt64
    /// The ledger's root in the copy, in base64.
    public let root: String
  }

  /// How many credentials came from a backup and may have been renewed since.
  public func staleCredentialCount() throws(VaultError) -> Int {
    var count = 0
    try forEachAccount { (account) throws(VaultError) in
      let standing = try standing(of: account)
      count += standing.credentials.count { $0.state == .stale }
      return true
    }
    return count
  }

  /// Accepts the file as it is, after its head was lost or a copy was put back on purpose.
  ///
  /// Everything is verified first. A new branch of the ledger begins, whose first entry names the old
  /// size and root: a log must never sign two heads of one size. The head of the old branch is
  /// closed for good, and what may have been used since is stale.
  public func resetAnchor(reason: String? = nil) throws(VaultError) {
    _ = try store.read { () throws(VaultError) in try store.verifyRows(progress: { _ in }) }
    try store.read { () throws(VaultError) in try verifyLedger(progress: { _ in }) }
    let old = store.watch
    try beginBranch(.anchorReset, reason: reason ?? "the file was accepted as it is")
    if let old { try store.retire(old.anchor) }
    if let anchor = HeadDirectory.anchor(for: store, in: options.headDirectory) {
      store.watch = AnchorWatch(anchor)
      try store.publishHead(replacing: true)
    }
  }

  /// Begins a new branch of the ledger and marks what may have been used elsewhere.
  func beginBranch(_ event: Event, reason: String) throws(VaultError) {
    try store.write { () throws(VaultError) in
      let root = Base64.encode(store.state.ledgerRoot.bytes)
      let details = [
        Entry.Detail("old_branch", store.state.branch.base32),
        Entry.Detail("old_size", String(store.state.ledgerSize)),
        Entry.Detail("old_root", root),
      ]
      store.beginBranch(
        Random.key16(),
        machine: Machine.id.map { KeyedHash.digest16($0, key: store.keyring.blind) } ?? .zero)
      try record(event, reason: reason, details: details)
      try markStale()
    }
  }

  /// A refresh token from a copy may have been spent since: spending it again can end the whole
  /// family of tokens at the provider, also for the machine that still works.
  private func markStale() throws(VaultError) {
    let records = Records(store)
    var stale: [(AccountID, String)] = []
    try records.forEachAccount { (account) throws(VaultError) in
      for client in account.clients {
        if let (credential, _) = try records.credential(account.id, client: client),
          credential.hasRefreshToken, credential.mark == .none
        {
          stale.append((account.id, client))
        }
      }
      return true
    }
    for (account, client) in stale {
      guard let (found, row) = try records.credential(account, client: client) else { continue }
      var credential = found
      credential.mark = .stale(since: now)
      try records.put(credential, of: account, secret: .keep, due: row.due, day: today)
    }
  }
}

extension Vault {
  /// Makes a vault of a backup, at a path where nothing is, and unlocks it.
  ///
  /// The backup is verified first and not touched. The ledger goes on in a new branch, which says so;
  /// credentials that can be renewed are `stale`, since the backup may be older than their last
  /// renewal.
  ///
  /// - Parameter replacesVault: The vault that the backup was made of is gone for good: its head is
  ///   closed, so that none of its files, found again, is taken for a vault. Without it the vault and
  ///   the restored one can stand beside each other.
  /// - Throws: ``VaultError``: `notFound`, `exists`, `damaged`, `newerFormat`, `wrongKey`, `io`.
  public static func restore(
    _ backup: String, to path: String, with key: consuming Key,
    options: UnlockOptions = UnlockOptions(), allowNetworkFileSystem: Bool = false,
    replacesVault: Bool = false
  ) throws(VaultError) -> Session {
    let secret: UnlockSecret
    switch consume key {
    case .passphrase(let value): secret = .passphrase(value.bytes)
    case .keyFile(let value): secret = .keyFile(value.bytes)
    case .lent: throw .secretNeeded
    }
    var old: Anchor?
    let store = try Restoration.restore(
      backup, to: path, secret: secret, allowExpensive: options.allowsExpensiveKeySettings,
      allowNetworkFileSystem: allowNetworkFileSystem
    ) { (copy) throws(VaultError) in
      var quiet = options
      quiet.isLooking = true
      let session = try Session(copy, options: quiet)
      try copy.read { () throws(VaultError) in try session.verifyLedger(progress: { _ in }) }
      if replacesVault { old = HeadDirectory.anchor(for: copy, in: options.headDirectory) }
      try session.beginBranch(.restored, reason: "restored from a backup")
      // The head of the new branch comes before the file gets its name: either both or neither.
      _ = try Session(copy, options: options, isNew: true)
    }
    if let old { try store.retire(old) }
    return try Session(store, options: options, isNew: true)
  }
}
