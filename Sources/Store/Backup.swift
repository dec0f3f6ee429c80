import Encoding
package import Faults
import FileSystem
import SQLite
import Sodium

extension Store {
  /// Copies the vault as one consistent state into a new file, and checks the copy.
  ///
  /// The copy is sealed as the vault is and opens with the same keys. A copy made by `cp` of the main
  /// file alone lacks what still stands in the log.
  ///
  /// - Parameter check: Runs on the opened copy, for the ledger.
  /// - Throws: ``VaultError``: `exists`, `io`; nothing is left behind then.
  package func backUp(
    to path: String, check: (Store) throws(VaultError) -> Void
  ) throws(VaultError) {
    precondition(!isWriting && !isReading, "a backup is made outside of transactions")
    let draft = "\(path).new-\(Hex.encode(Random.bytes(6)))"
    let found = try files("making \(path)") { () throws(FileError) in try Files.inspect(path) }
    if found != nil {
      throw VaultError(.exists, "\(path) exists already", hint: "vault backup FILE")
    }
    do throws(VaultError) {
      try files("making \(path)") { () throws(FileError) in
        _ = try Files.createNew(draft, mode: 0o600)
      }
      try sql("copying the vault") { () throws(SQLiteError) in try connection.backup(to: draft) }
      try Draft.use(draft) { (file) throws(VaultError) in
        let copy = try Store(
          file: file, keys: Keys(vaultKey: keys.vaultKey.copy(), epoch: keys.epoch))
        try copy.read { () throws(VaultError) in
          try copy.verifyRows(progress: { _ in })
          try check(copy)
        }
        try copy.write { () throws(VaultError) in copy.state.isBackup = true }
      }
      try files("making \(path)") { () throws(FileError) in try Files.publish(draft, as: path) }
    } catch {
      Draft.discard(draft)
      throw error
    }
  }
}

/// A vault file that does not have its name yet.
enum Draft {
  /// Opens it, runs `body`, and closes it with everything in the one file, synced.
  static func use(_ draft: String, _ body: (VaultFile) throws(VaultError) -> Void)
    throws(VaultError)
  {
    let file = try VaultFile(opening: draft, allowNetworkFileSystem: true)
    try body(file)
    try sql("closing \(draft)") { () throws(SQLiteError) in
      _ = try file.connection.checkpointTruncate()
      try file.connection.setDoNotCheckpointOnClose(false)
      try file.connection.close()
    }
    try files("closing \(draft)") { () throws(FileError) in
      try Files.openExisting(draft, write: true).synchronizeFully()
    }
  }

  static func discard(_ draft: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? Files.remove(draft + suffix) }
  }
}

/// A backup on its way to being a vault again.
package enum Restoration {
  /// Makes the vault of `backup` at `path` and opens it.
  ///
  /// The backup is read as it is and not touched. The copy is checked and changed under another name
  /// and gets its own only when all is well.
  ///
  /// - Parameter prepare: Runs on the unlocked copy: checks the ledger, begins the new branch.
  /// - Throws: ``VaultError``: `exists`, `notFound`, `damaged`, `newerFormat`, `wrongKey`, `io`.
  package static func restore(
    _ backup: String, to path: String, secret: consuming UnlockSecret, allowExpensive: Bool,
    allowNetworkFileSystem: Bool, prepare: (Store) throws(VaultError) -> Void
  ) throws(VaultError) -> Store {
    try check(backup)
    let place = try VaultPlace(new: path, allowNetworkFileSystem: allowNetworkFileSystem)
    let draft = "\(place.path).new-\(Hex.encode(Random.bytes(6)))"
    do throws(VaultError) {
      try files("making \(place.path)") { () throws(FileError) in
        _ = try Files.createNew(draft, mode: 0o600)
      }
      try sql("reading \(backup)") { () throws(SQLiteError) in
        try Connection.open(backup, .immutable).backup(to: draft)
      }
      var vaultKey = SecretBytes?.none
      var epoch: UInt64 = 0
      var opened: Key16?
      var secret = Optional(secret)
      try Draft.use(draft) { (file) throws(VaultError) in
        let copy = try file.unlock(with: secret.take()!, allowExpensive: allowExpensive)
        try copy.read { () throws(VaultError) in
          _ = try copy.verifyRows(progress: { _ in })
        }
        try prepare(copy)
        vaultKey = copy.keys.vaultKey.copy()
        epoch = copy.keys.epoch
        opened = file.openedSlot
      }
      try files("making \(place.path)") { () throws(FileError) in
        try Files.publish(draft, as: place.path)
      }
      let file = try VaultFile(
        opening: place.path, allowNetworkFileSystem: allowNetworkFileSystem)
      file.openedSlot = opened
      return try Store(file: file, keys: Keys(vaultKey: vaultKey.take()!, epoch: epoch))
    } catch {
      Draft.discard(draft)
      throw error
    }
  }

  private static func check(_ backup: String) throws(VaultError) {
    let facts = try files("opening \(backup)") { () throws(FileError) in try Files.inspect(backup) }
    guard facts != nil else {
      throw VaultError(.notFound, "no backup at \(backup)", hint: "vault restore FILE --to PATH")
    }
    // By way of the list of open files: the backup may be a vault that this process has open.
    _ = try OpenFiles.look(at: backup)
    // What stands in a log beside the file would be left out without a word.
    let log = try files("opening \(backup)") { () throws(FileError) in
      try Files.inspect(backup + "-wal")
    }
    if let log, log.size > 0 {
      throw VaultError(
        .damaged, "\(backup) is a vault in use, not a backup: part of it is in \(backup)-wal",
        hint: "vault backup FILE --vault \(ShellText.quoted(backup))", reason: .foreignFile)
    }
  }
}
