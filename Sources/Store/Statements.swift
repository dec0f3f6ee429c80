import SQLite

/// The statements that every transaction runs, compiled once.
final class Statements {
  let begin: Statement
  let beginImmediate: Statement
  let commit: Statement
  let rollback: Statement
  let selectState: Statement
  let updateState: Statement
  let selectEntry: Statement
  let insertEntry: Statement

  init(_ connection: Connection) throws(SQLiteError) {
    begin = try connection.prepare("BEGIN")
    // Immediate: a deferred transaction that turns into a writer fails at once, without waiting.
    beginImmediate = try connection.prepare("BEGIN IMMEDIATE")
    commit = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")
    selectState = try connection.prepare("SELECT code, body, keyring FROM state WHERE id = 1")
    updateState = try connection.prepare(
      "UPDATE state SET body = ?1, keyring = ?2, code = ?3 WHERE id = 1")
    selectEntry = try connection.prepare(
      "SELECT leaf, hashes, body FROM entry WHERE number = ?1")
    insertEntry = try connection.prepare(
      "INSERT INTO entry (number, leaf, hashes, body) VALUES (?1, ?2, ?3, ?4)")
  }
}

/// The statements of one table of rows, each compiled when it is first run.
final class RowStatements {
  let table: TableID
  private let connection: Connection
  private var selectStatement: Statement?
  private var upsertStatement: Statement?
  private var deleteStatement: Statement?
  private var dueStatement: Statement?
  /// Scans that nobody uses at the moment: from the first row, and from a key on.
  private var idleScan: Statement?
  private var idleScanFrom: Statement?

  init(_ table: TableID, _ connection: Connection) {
    self.table = table
    self.connection = connection
  }

  private static let columns = "version, generation, day, due, overview, secret"

  var select: Statement {
    get throws(SQLiteError) {
      if let selectStatement { return selectStatement }
      let made = try connection.prepare(
        "SELECT \(Self.columns) FROM \(table.name) WHERE key = ?1")
      selectStatement = made
      return made
    }
  }

  var upsert: Statement {
    get throws(SQLiteError) {
      if let upsertStatement { return upsertStatement }
      let made = try connection.prepare(
        "INSERT INTO \(table.name) (key, \(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
          + " ON CONFLICT (key) DO UPDATE SET version = ?2, generation = ?3, day = ?4, due = ?5,"
          + " overview = ?6, secret = ?7")
      upsertStatement = made
      return made
    }
  }

  var delete: Statement {
    get throws(SQLiteError) {
      if let deleteStatement { return deleteStatement }
      let made = try connection.prepare("DELETE FROM \(table.name) WHERE key = ?1")
      deleteStatement = made
      return made
    }
  }

  /// The keys of the rows whose hour has come, the earliest first, a page at a time. By the index.
  var due: Statement {
    get throws(SQLiteError) {
      if let dueStatement { return dueStatement }
      let made = try connection.prepare(
        "SELECT due, key FROM \(table.name)"
          + " WHERE due > 0 AND due <= ?1 AND (due, key) > (?2, ?3) ORDER BY due, key LIMIT ?4")
      dueStatement = made
      return made
    }
  }

  /// A scan for the caller alone until it is given back, so that scans can stand inside each other.
  func scan(from lower: Bool) throws(SQLiteError) -> Statement {
    let idle = lower ? idleScanFrom : idleScan
    if let idle {
      if lower { idleScanFrom = nil } else { idleScan = nil }
      return idle
    }
    return try connection.prepare(
      "SELECT key, \(Self.columns) FROM \(table.name)\(lower ? " WHERE key >= ?1" : "")"
        + " ORDER BY key")
  }

  /// Ends a scan and keeps it for the next.
  func giveBack(_ scan: Statement, from lower: Bool) {
    scan.reset()
    if lower { idleScanFrom = scan } else { idleScan = scan }
  }
}
