import CSQLite

/// One open database, for one thread at a time.
///
/// A connection is never carried across `fork` and its file is never opened by other means while it
/// lives: closing any other descriptor of it drops this process's locks (`howtocorrupt.html` 2.2).
@safe package final class Connection {
  package enum Mode: Sendable {
    /// An existing database, for reading and writing. An empty file is refused.
    case readWrite

    /// An existing database, for reading. In WAL mode it still needs, or makes, `-wal` and `-shm`.
    case readOnly

    /// A file that the caller has just made, still empty, with the mode that it and its companions
    /// shall have. A file with content is refused.
    case createdByUs

    /// An existing database that nobody writes: no lock is taken, a `-wal` is ignored and no file is
    /// left behind. What it shows while somebody does write is undefined.
    case immutable
  }

  /// Null after ``close()``. Owned here; every statement holds this object, so that none outlives it.
  private var handle: OpaquePointer?

  /// `PRAGMA data_version`, prepared at its first use and finalized before the handle is closed.
  private var dataVersionStatement: OpaquePointer?

  private init(handle: OpaquePointer) { unsafe self.handle = handle }

  deinit {
    unsafe sqlite3_finalize(dataVersionStatement)
    unsafe sqlite3_close_v2(handle)
  }

  /// The open handle. Using a connection after it was closed is a mistake of the program.
  var database: OpaquePointer {
    guard let handle = unsafe handle else { preconditionFailure("the connection is closed") }
    return unsafe handle
  }

  /// Opens the database file at `path`, which must exist.
  ///
  /// The path is a file name and nothing else: `file:x?mode=memory` and `:memory:` are the files of
  /// those names. A symbolic link in any component is refused with the extended code 1550. Nothing is
  /// read yet beyond the file's size, so a file that is no database shows at the first statement.
  ///
  /// - Parameter busyMilliseconds: How long a statement waits for another connection's lock.
  package static func open(
    _ path: String, _ mode: Mode, busyMilliseconds: Int32 = 5000
  ) throws(SQLiteError) -> Connection {
    guard let name = DatabaseName(path) else {
      throw SQLiteError(extended: SQLITE_CANTOPEN, operation: "open")
    }
    let connection =
      switch mode {
      case .readWrite, .createdByUs:
        try open(name: name.plain, SQLITE_OPEN_READWRITE)
      case .readOnly:
        try open(name: name.plain, SQLITE_OPEN_READONLY)
      case .immutable:
        try open(name: name.immutableURI, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
      }
    try unsafe connection.check(
      sqlite3_busy_timeout(connection.database, busyMilliseconds), "open")
    var size: Int64 = 0
    try unsafe connection.check(vault_sqlite_file_size(connection.database, &size), "open")
    if size == 0 && mode != .createdByUs {
      throw SQLiteError(extended: SQLITE_NOTADB, operation: "open an empty file")
    }
    if size > 0 && mode == .createdByUs {
      throw SQLiteError(extended: SQLITE_CANTOPEN, operation: "open a new file that has content")
    }
    return connection
  }

  /// A database of its own in memory, whose every freed byte is wiped.
  ///
  /// It does without SQLite's lookaside slots, which are reused unwiped.
  package static func inMemory() throws(SQLiteError) -> Connection {
    let connection = try open(
      name: ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY)
    try unsafe connection.check(vault_sqlite_no_lookaside(connection.database), "open")
    return connection
  }

  private static func open(name: String, _ access: Int32) throws(SQLiteError) -> Connection {
    SQLiteAllocator.install()
    let flags =
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE
      | SQLITE_OPEN_EXRESCODE
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &handle, flags, nil)
    guard let opened = unsafe handle else {
      throw SQLiteError(extended: code, operation: "open")
    }
    // Owned from here on: SQLite hands out a handle on most failures, and it must be closed too.
    let connection = unsafe Connection(handle: opened)
    try connection.check(code, "open")
    return connection
  }

  /// Closes the database and lets go of its locks.
  ///
  /// - Throws: ``SQLiteError/Kind/busy`` while a statement of it is alive; it stays open then.
  package func close() throws(SQLiteError) {
    guard unsafe handle != nil else { return }
    unsafe sqlite3_finalize(dataVersionStatement)
    unsafe dataVersionStatement = nil
    try unsafe check(sqlite3_close(handle), "close")
    unsafe handle = nil
  }

  /// Throws what `code` says unless it is `SQLITE_OK`.
  func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(SQLiteError) {
    if code != SQLITE_OK { throw failure(code, operation()) }
  }

  func failure(_ code: Int32, _ operation: String) -> SQLiteError {
    // Only these two come from a system call; asking for the others would show an older failure.
    let isSystem = code & 0xff == SQLITE_IOERR || code & 0xff == SQLITE_CANTOPEN
    return SQLiteError(
      extended: code, systemErrno: isSystem ? unsafe vault_sqlite_errno(database) : 0,
      operation: operation)
  }

  // MARK: Statements

  /// Compiles the one statement in `sql`.
  ///
  /// - Parameter persistent: It will be kept and run many times.
  package func prepare(
    _ sql: String, persistent: Bool = true
  ) throws(SQLiteError) -> Statement {
    var text = sql
    let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    var statement: OpaquePointer?
    var rest = 0
    let code = text.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        var tail: UnsafePointer<CChar>?
        let code = unsafe sqlite3_prepare_v3(
          database, characters.baseAddress, Int32(characters.count), flags, &statement, &tail)
        if let start = characters.baseAddress, let tail = unsafe tail {
          rest = unsafe characters[(tail - start)...].count { UInt8(truncatingIfNeeded: $0) > 0x20 }
        }
        return code
      }
    }
    if code != SQLITE_OK {
      // The message is about the text alone: nothing is bound yet.
      let message = unsafe String(cString: sqlite3_errmsg(database))
      throw failure(code, "prepare \(sql): \(message)")
    }
    guard let statement = unsafe statement, rest == 0 else {
      unsafe sqlite3_finalize(statement)
      throw SQLiteError(extended: SQLITE_MISUSE, operation: "prepare other than one statement")
    }
    return unsafe Statement(handle: statement, connection: self)
  }

  /// Runs every statement of a script in turn and drops the rows they give.
  ///
  /// What ran before a failing statement stays done, unless the script is inside a transaction.
  package func execute(_ sql: String) throws(SQLiteError) {
    var text = sql
    let outcome = text.withUTF8 { bytes in unsafe run(script: bytes) }
    if let error = outcome { throw error }
  }

  /// ``execute(_:)-(String)`` for a script that is embedded as bytes.
  package func execute(_ sql: [UInt8]) throws(SQLiteError) {
    let outcome = unsafe sql.withUnsafeBufferPointer { bytes in unsafe run(script: bytes) }
    if let error = outcome { throw error }
  }

  private func run(script: UnsafeBufferPointer<UInt8>) -> SQLiteError? {
    guard Int32(exactly: script.count) != nil else {
      return SQLiteError(extended: SQLITE_TOOBIG, operation: "execute")
    }
    return unsafe script.withMemoryRebound(to: CChar.self) { characters in
      guard var next = characters.baseAddress else { return nil }
      let end = unsafe next + characters.count
      while unsafe next < end {
        var statement: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let code = unsafe sqlite3_prepare_v3(
          database, next, Int32(end - next), 0, &statement, &tail)
        if code != SQLITE_OK {
          let message = unsafe String(cString: sqlite3_errmsg(database))
          return failure(code, "execute: \(message)")
        }
        if let statement = unsafe statement {
          var code = unsafe sqlite3_step(statement)
          while code == SQLITE_ROW { code = unsafe sqlite3_step(statement) }
          let error = code == SQLITE_DONE ? nil : failure(code, "execute")
          unsafe sqlite3_finalize(statement)
          if let error { return error }
        }
        guard let tail = unsafe tail, unsafe tail > next else { return nil }
        unsafe next = tail
      }
      return nil
    }
  }

  // MARK: State

  /// Rows changed by the last finished INSERT, UPDATE or DELETE.
  package var changes: Int64 { unsafe sqlite3_changes64(database) }

  /// True between BEGIN and the COMMIT or ROLLBACK that ends it.
  package var inTransaction: Bool { unsafe sqlite3_get_autocommit(database) == 0 }

  /// A number that differs from its last value once *another* connection has committed.
  ///
  /// It looks at the file, under a read lock of its own (`PRAGMA data_version`).
  package var dataVersion: Int64 {
    get throws(SQLiteError) {
      if unsafe dataVersionStatement == nil {
        try unsafe check(
          sqlite3_prepare_v3(
            database, "PRAGMA data_version", -1, UInt32(SQLITE_PREPARE_PERSISTENT),
            &dataVersionStatement, nil), "data version")
      }
      let code = unsafe sqlite3_step(dataVersionStatement)
      let version = unsafe sqlite3_column_int64(dataVersionStatement, 0)
      let error = code == SQLITE_ROW ? nil : failure(code, "data version")
      unsafe sqlite3_reset(dataVersionStatement)
      if let error { throw error }
      return version
    }
  }

  /// A number that differs once *any* connection, this one included, has committed, as of the last
  /// time this connection looked at the file; it takes no lock (`SQLITE_FCNTL_DATA_VERSION`).
  package var fileDataVersion: UInt32 {
    var version: UInt32 = 0
    _ = unsafe sqlite3_file_control(database, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }
}
