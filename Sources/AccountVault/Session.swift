import Accounts
import Time
public import Faults
import Encoding
import FileSystem
package import Ledger
import Sodium
import Store

/// The unlocked vault. Dropping it wipes its keys.
///
/// What needs a key is a method of Session, so there is no "locked" error. It is used by one thread
/// at a time; several sessions, of one process or many, may use one file.
public struct Session: ~Copyable {
  let store: Store
  let options: Vault.UnlockOptions
  let uses: UseWindows
  let providers = ProviderCache()
  let decided = DecidedUses()
  let lookups = KnownRecords()
  let pauses: RequestPauses
  let caller = Caller()
  /// What was found at unlocking that the owner should know.
  public private(set) var warnings: [String] = []

  /// - Parameter isNew: The vault was made or restored just now: its head is written, not missed.
  init(
    _ store: Store, options: Vault.UnlockOptions, isNew: Bool = false,
    pauses: RequestPauses = RequestPauses()
  ) throws(VaultError) {
    self.store = store
    self.pauses = pauses
    self.options = options
    uses = UseWindows()
    store.ledgerContinues = { [unowned store] (size, root) throws(VaultError) in
      try LedgerRows(store).continues(root, at: size)
    }
    if let copy = store.migrationBackup {
      warnings.append("the vault was taken to this version's format; the old file is \(copy)")
    }
    if store.state.isBackup {
      guard options.isLooking else { throw .isBackup(store.path) }
    } else if let anchor = HeadDirectory.anchor(for: store, in: options.headDirectory) {
      var watch = AnchorWatch(anchor)
      watch.isEnforced = !options.isLooking && !isNew
      store.watch = watch
    } else if store.keyring.anchor.kind == .required {
      throw VaultError(
        .damaged, "this vault requires its head, and there is no place for it",
        hint: "export XDG_STATE_HOME=PATH", reason: .anchorMissing)
    }
    try store.read {}
    if options.isLooking, let head = store.watch?.known {
      do throws(VaultError) {
        try store.read { () throws(VaultError) in try store.hold(head) }
      } catch {
        warnings.append(error.message)
      }
    }
    if isMoved {
      warnings.append("the vault was made on another machine; if it moved here: vault reset-anchor")
    }
    if isNew {
      try store.publishHead()
      store.watch?.isEnforced = !options.isLooking
      return
    }
    guard !options.isLooking, store.watch?.isMissing == true else { return }
    warnings.append("the head outside the vault file was missing and was taken anew")
    try store.write { () throws(VaultError) in
      _ = try record(.anchorReset, reason: "the head was missing and was taken anew")
    }
    try store.publishHead()
  }

  deinit {
    // Nothing can be thrown from here; whoever must know calls `flush()` first.
    try? flush()
  }

  /// Writes the counts of uses that are still open, and the head outside the file.
  ///
  /// The command calls it at its end; a long-lived program now and then. Dropping the session does it
  /// too, but cannot say what went wrong.
  public func flush() throws(VaultError) {
    try closeUseWindows(all: true)
    if !options.isLooking { try store.publishHead() }
  }

  // MARK: What it is

  /// The vault's id.
  public var vaultID: String { store.vault.base32 }

  /// The id of the ledger's branch: a new one begins with a restore or an acceptance.
  public var branchID: String { store.state.branch.base32 }

  /// The path of the file.
  public var path: String { store.path }

  /// Whether the file was made on another machine, as far as the machines can be told apart.
  public var isMoved: Bool {
    guard store.state.machine != .zero, let id = Machine.id else { return false }
    return KeyedHash.digest16(id, key: store.keyring.blind) != store.state.machine
  }

  var now: Timestamp { options.clock.now() }

  var today: Int64 { now.seconds / 86_400 }

  /// Runs `body` as one transaction: all that it does is committed, or nothing.
  package func inOneTransaction<R: ~Copyable>(_ body: () throws(VaultError) -> R)
    throws(VaultError) -> R
  {
    try store.write(body)
  }

  // MARK: The ledger

  /// Writes an entry in the open transaction.
  @discardableResult
  package func record(
    _ event: Event, actor: String? = nil, app: String? = nil, account: Account? = nil,
    permissions: [String] = [], audience: Audience? = nil, until: Timestamp? = nil,
    reason: String? = nil, evidence: Evidence? = nil, details: [Entry.Detail] = []
  ) throws(VaultError) -> UInt64 {
    let entry = Entry(
      number: store.state.ledgerSize, time: now, event: event, actor: actor ?? options.actor,
      app: app, account: account?.id.key, accountLabel: account?.label, permissions: permissions,
      audience: audience?.rawValue, until: until, reason: reason, evidence: evidence,
      details: details)
    try LedgerRows(store).append(entry)
    return entry.number
  }
}

/// The machine that this runs on.
enum Machine {
  /// Its id (`machine-id(5)`), or nil where it has none, as in most containers.
  static var id: [UInt8]? {
    guard let file = try? Files.openExisting("/etc/machine-id", write: false),
      let text = try? file.readAll(maximum: 64)
    else { return nil }
    let id = text.filter { $0 > 0x20 }
    return id.count == 32 ? id : nil
  }
}

extension VaultError {
  static func isBackup(_ path: String) -> VaultError {
    VaultError(
      .usage, "\(path) is a backup: it can be verified and restored, and is not used as it is",
      hint: "vault restore \(ShellText.quoted(path)) --to PATH")
  }
}
