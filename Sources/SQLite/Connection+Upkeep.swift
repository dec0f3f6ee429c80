import CSQLite

extension Connection {
  /// Copies the whole WAL into the database and cuts the WAL to nothing.
  ///
  /// - Returns: False when a reader or a writer held it for longer than the busy time: older versions
  ///   of pages are still on the disk. True also where there is no WAL.
  package func checkpointTruncate() throws(SQLiteError) -> Bool {
    let code = unsafe sqlite3_wal_checkpoint_v2(
      database, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if code & 0xff == SQLITE_BUSY { return false }
    try check(code, "checkpoint")
    return true
  }

  /// What `PRAGMA integrity_check` finds wrong, at most a hundred findings; none in a sound file.
  package func integrityCheck() throws(SQLiteError) -> [String] {
    let statement = try prepare("PRAGMA integrity_check", persistent: false)
    var findings: [String] = []
    while try statement.step() {
      let finding = statement.text(0) ?? "a finding that is not UTF-8"
      if finding != "ok" { findings.append(finding) }
    }
    return findings
  }

  /// Copies the database, WAL included, as one consistent state into the empty file at `path`.
  ///
  /// The caller made the file with the mode it shall have, and syncs its directory afterwards. After
  /// an error the file holds a part of the copy and is the caller's to remove.
  ///
  /// - Throws: ``SQLiteError/Kind/busy`` also inside a write transaction, whose changes nobody has
  ///   committed yet.
  package func backup(to path: String) throws(SQLiteError) {
    if unsafe sqlite3_txn_state(database, "main") == SQLITE_TXN_WRITE {
      throw SQLiteError(extended: SQLITE_LOCKED, operation: "back up inside a write transaction")
    }
    let copy = try Connection.open(path, .createdByUs)
    guard let backup = unsafe sqlite3_backup_init(copy.database, "main", database, "main") else {
      throw copy.failure(unsafe sqlite3_extended_errcode(copy.database), "back up")
    }
    let code = unsafe sqlite3_backup_step(backup, -1)
    let end = unsafe sqlite3_backup_finish(backup)
    if code != SQLITE_DONE { throw copy.failure(code == SQLITE_OK ? end : code, "back up") }
    try copy.check(end, "back up")
    try copy.close()
  }
}
