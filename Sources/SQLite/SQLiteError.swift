import CSQLite

/// What SQLite refused, as numbers and the statement's text; never a bound value.
package struct SQLiteError: Error, Equatable {
  /// The primary result code, for example 5 for `SQLITE_BUSY`.
  package let code: Int32

  /// The extended result code, for example 1550 for `SQLITE_CANTOPEN_SYMLINK`.
  package let extended: Int32

  /// For ``Kind/io`` and ``Kind/cantOpen``: `errno` of the system call that failed, 0 where SQLite
  /// kept none.
  ///
  /// A file-size limit shows as ``Kind/io`` with `EFBIG` here, a full disk as ``Kind/full`` or as
  /// ``Kind/io`` with `ENOSPC`.
  package let systemErrno: Int32

  /// What was being done, and the SQL of a prepared statement.
  package let operation: String

  package enum Kind: Sendable {
    case busy, full, io, readOnly, corrupt, notADatabase, cantOpen, constraint, schema, tooBig
    case interrupted, other
    /// `SQLITE_ERROR`: the statement does not fit the tables that are there.
    case statement
  }

  package init(extended: Int32, systemErrno: Int32 = 0, operation: String) {
    self.code = extended & 0xff
    self.extended = extended
    self.systemErrno = systemErrno
    self.operation = operation
  }

  package var kind: Kind {
    switch code {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_FULL: .full
    case SQLITE_IOERR: .io
    case SQLITE_READONLY: .readOnly
    case SQLITE_CORRUPT: .corrupt
    case SQLITE_NOTADB: .notADatabase
    case SQLITE_CANTOPEN: .cantOpen
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_SCHEMA: .schema
    case SQLITE_TOOBIG: .tooBig
    case SQLITE_INTERRUPT: .interrupted
    case SQLITE_ERROR: .statement
    default: .other
    }
  }

  /// SQLite's English for the code, for example "database is locked".
  package var text: String { unsafe String(cString: sqlite3_errstr(extended)) }
}
