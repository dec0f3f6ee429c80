import CSQLite

extension Connection {
  /// The longest string, blob or row that a hardened connection reads or writes, in bytes.
  package static var maximumLength: Int32 { 4 * 1024 * 1024 }

  /// Treats the file as one that somebody else may have written (`security.html`).
  ///
  /// What the schema could run is off: triggers, views, extensions, functions that are not innocuous,
  /// and writes to the schema itself. What a damaged page could do is checked, and sizes are bounded.
  /// It comes right after opening, before the first statement. VACUUM still works.
  package func harden() throws(SQLiteError) {
    let settings: [(option: Int32, value: Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
      (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0),
      (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0),
      (SQLITE_DBCONFIG_DQS_DDL, 0),
    ]
    for (option, value) in settings { try set(option, value, "harden") }
    let limits: [(limit: Int32, value: Int32)] = [
      (SQLITE_LIMIT_LENGTH, Self.maximumLength),
      (SQLITE_LIMIT_SQL_LENGTH, 1024 * 1024),
      (SQLITE_LIMIT_COLUMN, 100),
      (SQLITE_LIMIT_EXPR_DEPTH, 100),
      (SQLITE_LIMIT_COMPOUND_SELECT, 10),
      (SQLITE_LIMIT_VDBE_OP, 100_000),
      (SQLITE_LIMIT_FUNCTION_ARG, 16),
      // VACUUM attaches a database of its own.
      (SQLITE_LIMIT_ATTACHED, 1),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
      (SQLITE_LIMIT_VARIABLE_NUMBER, 128),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
      (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (limit, value) in limits { _ = unsafe sqlite3_limit(database, limit, value) }
    try execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
  }

  /// Whether the last connection to close leaves the WAL as it is instead of copying it into the
  /// database and deleting it.
  package func setDoNotCheckpointOnClose(_ value: Bool) throws(SQLiteError) {
    try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, value ? 1 : 0, "set checkpoint on close")
  }

  /// A setting that this SQLite does not know, or does not take, is an error and not a weaker lock.
  private func set(_ option: Int32, _ value: Int32, _ operation: String) throws(SQLiteError) {
    var now: Int32 = -1
    try unsafe check(vault_sqlite_db_config(database, option, value, &now), operation)
    if now != value { throw SQLiteError(extended: SQLITE_MISUSE, operation: operation) }
  }
}
