package import Encoding
package import Faults
import FileSystem
import SQLite
import Sodium

/// The vault's file, open and still locked.
///
/// Opening needs no secret. It shows that the file is a vault, its id, how much is in it and which
/// ways of unlocking there are; none of it is believed before the vault is unlocked.
package final class VaultFile {
  /// "AVLT": SQLite's application id of a vault.
  package static let applicationID: Int64 = 0x4156_4C54
  /// How long a writer waits for another, in milliseconds.
  package static let busyMilliseconds: Int32 = 5000

  package let path: String
  let connection: Connection
  /// As it stands in the file; unauthenticated.
  package private(set) var state: StateRecord
  /// As they stand in the file; unauthenticated but for their digest.
  package private(set) var slots: [KeySlot]
  /// What was found amiss and mended, or can be lived with: wide modes, for instance.
  package private(set) var warnings: [String]
  /// The format of the file; less than this release's where it was made by an older one.
  let format: Int
  /// Known to be open here, so that nobody in this process opens and closes the file by hand.
  private let presence: OpenFiles.Presence

  /// Opens an existing vault.
  ///
  /// The first look at the file is taken before SQLite sees it, so a foreign, newer or empty file is
  /// refused with not a byte changed. A file of an older format is taken to this one when it is unlocked.
  ///
  /// - Throws: ``VaultError``: `notFound`; `damaged` for foreign or damaged files; `newerFormat`;
  ///   `io` where the place is unsafe, read-only or on a network; `tryAgain` where it is busy.
  package init(opening path: String, allowNetworkFileSystem: Bool = false) throws(VaultError) {
    let place = try VaultPlace(existing: path, allowNetworkFileSystem: allowNetworkFileSystem)
    self.path = place.path
    warnings = place.warnings
    presence = try OpenFiles.look(at: place.path)
    connection = try sql("opening \(place.path)") { () throws(SQLiteError) in
      let connection = try Connection.open(
        place.path, .readWrite, busyMilliseconds: Self.busyMilliseconds)
      try connection.harden()
      try Self.prepare(connection, onNetwork: place.isOnNetwork)
      return connection
    }
    format = try Schema.format(of: connection, path: place.path)
    (state, slots) = try Self.readClear(connection)
    guard KeySlot.digest(of: slots, vault: state.vault) == state.slots else {
      throw .damagedSlots("they are not the ones that the vault was closed with")
    }
  }

  /// Settings of each connection; the journal mode stays with the file.
  ///
  /// `synchronous = FULL` syncs the WAL at each commit: with NORMAL a power loss takes back commits
  /// that were answered for, here a rotated refresh token.
  static func prepare(_ connection: Connection, onNetwork: Bool) throws(SQLiteError) {
    if onNetwork {
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE")
    } else {
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.setDoNotCheckpointOnClose(true)
    }
    try connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
  }

  /// Keeps the log short: for a process that ends soon.
  ///
  /// Whoever opens a vault that nobody else has open reads the whole log first. A long-lived process
  /// does so once and gains by a long log; a command would do so every time.
  package func keepLogShort() throws(VaultError) {
    try sql("opening \(path)") { () throws(SQLiteError) in
      try connection.execute("PRAGMA wal_autocheckpoint = 64")
    }
  }

  /// The state and the slots as they stand, in one snapshot.
  static func readClear(_ connection: Connection) throws(VaultError) -> (StateRecord, [KeySlot]) {
    try sql("reading the vault") { () throws(SQLiteError) in try connection.execute("BEGIN") }
    defer { try? connection.execute("ROLLBACK") }
    let body = try sql("reading the vault") { () throws(SQLiteError) -> [UInt8]? in
      let select = try connection.prepare("SELECT body FROM state WHERE id = 1", persistent: false)
      return try select.step() ? select.bytes(0) : nil
    }
    guard let body else { throw .damagedState("the state row is missing") }
    return (try StateRecord(decoding: body), try readSlots(connection))
  }

  static func readSlots(_ connection: Connection) throws(VaultError) -> [KeySlot] {
    let rows = try sql("reading the key slots") {
      () throws(SQLiteError) -> [(id: [UInt8], body: [UInt8], box: [UInt8])] in
      let select = try connection.prepare("SELECT id, body, box FROM slot", persistent: false)
      var rows: [(id: [UInt8], body: [UInt8], box: [UInt8])] = []
      while try select.step() { rows.append((select.bytes(0), select.bytes(1), select.bytes(2))) }
      return rows
    }
    var slots: [KeySlot] = []
    for row in rows {
      guard row.id.count == 16 else { throw .damagedSlots("an id has a wrong size") }
      slots.append(try KeySlot(id: Key16(row.id), body: row.body, box: row.box))
    }
    return slots.sorted { $0.number < $1.number }
  }

  /// Opens the vault with a passphrase, a recovery code or a key file.
  ///
  /// Each wrong try costs one Argon2id; nothing is written, right or wrong. Wrong secret and altered
  /// slot answer the same, since nothing tells them apart; plain damage was found before.
  ///
  /// - Throws: ``VaultError``: `wrongKey`; `damaged` where the state is not the one that the key
  ///   wrote, or its settings are above the bound; `io` where the machine lacks the memory.
  package func unlock(
    with secret: consuming UnlockSecret, allowExpensive: Bool = false
  ) throws(VaultError) -> Store {
    guard let vaultKey = try vaultKey(for: secret, allowExpensive: allowExpensive) else {
      throw wrongKey
    }
    let keys = Keys(vaultKey: vaultKey, epoch: state.keyEpoch)
    return try Store(file: self, keys: keys)
  }

  /// The slot that opened.
  package internal(set) var openedSlot: Key16?

  private func vaultKey(
    for secret: consuming UnlockSecret, allowExpensive: Bool
  ) throws(VaultError) -> SecretBytes? {
    switch consume secret {
    case .keyFile(let bytes):
      for slot in slots where slot.kind == .keyFile {
        if let key = try slot.unwrap(with: bytes, vault: state.vault, allowExpensive: false) {
          openedSlot = slot.id
          return key
        }
      }
    case .passphrase(let bytes):
      if let code = RecoveryCode.parse(bytes) {
        for slot in slots where slot.kind == .recovery {
          if let key = try slot.unwrap(with: code, vault: state.vault, allowExpensive: false) {
            openedSlot = slot.id
            return key
          }
        }
      }
      for slot in slots where slot.kind == .passphrase {
        let key = try slot.unwrap(
          with: bytes, vault: state.vault, allowExpensive: allowExpensive)
        if let key {
          openedSlot = slot.id
          return key
        }
      }
    }
    return nil
  }

  private var wrongKey: VaultError {
    let kinds = Set(slots.map(\.kind))
    var text = "that passphrase or key does not open this vault"
    if !kinds.contains(.passphrase) { text += ", which has no passphrase" }
    return VaultError(
      .wrongKey, text,
      hint: kinds.contains(.keyFile)
        ? "export VAULT_KEY_FILE=FILE" : "export VAULT_PASSPHRASE_FILE=FILE")
  }
}
