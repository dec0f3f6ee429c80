import CSQLite

/// One compiled statement. It keeps its connection open for as long as it lives.
///
/// Parameters are numbered from 1, columns from 0. A bind that fails (no such parameter, too long, no
/// memory, rows still being read) is thrown by the next ``step()``, so that binding reads as a list.
@safe package final class Statement {
  /// Owned here and finalized at deinit.
  private let handle: OpaquePointer

  private let connection: Connection

  /// The first failure among the binds since the last reset.
  private var bindCode: Int32 = SQLITE_OK

  /// Takes over `handle`.
  init(handle: OpaquePointer, connection: Connection) {
    unsafe self.handle = handle
    self.connection = connection
  }

  deinit { unsafe sqlite3_finalize(handle) }

  // MARK: Binding

  package func bind(_ index: Int32, _ value: Int64) {
    note(unsafe sqlite3_bind_int64(handle, index, value))
  }

  package func bind(_ index: Int32, text: String) {
    var copy = text
    note(
      copy.withUTF8 { bytes in
        unsafe vault_sqlite_bind_text(handle, index, bytes.baseAddress, bytes.count)
      })
  }

  /// Binds a copy of `text`, which is taken to be UTF-8.
  package func bind(_ index: Int32, utf8 text: RawSpan) {
    note(
      unsafe text.withUnsafeBytes { bytes in
        unsafe vault_sqlite_bind_text(handle, index, bytes.baseAddress, bytes.count)
      })
  }

  /// Binds a copy of `blob`; an empty one is an empty blob, not NULL.
  package func bind(_ index: Int32, blob: RawSpan) {
    note(
      unsafe blob.withUnsafeBytes { bytes in
        unsafe vault_sqlite_bind_blob(handle, index, bytes.baseAddress, bytes.count)
      })
  }

  package func bind(_ index: Int32, bytes: [UInt8]) {
    // The array is alive, and lends its own storage, for the length of this call.
    bind(index, blob: unsafe bytes.span.bytes)
  }

  package func bindNull(_ index: Int32) {
    note(unsafe sqlite3_bind_null(handle, index))
  }

  /// Binds NULL to every parameter, and so lets go of the copies that were bound.
  package func clearBindings() {
    note(unsafe sqlite3_clear_bindings(handle))
  }

  private func note(_ code: Int32) {
    if code != SQLITE_OK && bindCode == SQLITE_OK { bindCode = code }
  }

  // MARK: Running

  /// Runs to the next row.
  ///
  /// - Returns: True with a row to read; false at the end. At the end and after an error the
  ///   statement is reset, holds no lock, and can be bound and run again.
  package func step() throws(SQLiteError) -> Bool {
    if bindCode != SQLITE_OK {
      let error = failure(bindCode, "bind")
      reset()
      throw error
    }
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      unsafe sqlite3_reset(handle)
      return false
    }
    let error = failure(code, "step")
    reset()
    throw error
  }

  /// Runs to the end, drops rows if there are any, and resets.
  package func run() throws(SQLiteError) {
    while try step() {}
  }

  /// Ends the run and the read lock with it. What was bound stays bound.
  package func reset() {
    // The code repeats what step() has already thrown.
    _ = unsafe sqlite3_reset(handle)
    bindCode = SQLITE_OK
  }

  private func failure(_ code: Int32, _ verb: String) -> SQLiteError {
    let sql = unsafe sqlite3_sql(handle).map { unsafe String(cString: $0) } ?? ""
    return connection.failure(code, "\(verb) \(sql)")
  }

  // MARK: The row

  package enum ColumnType: Sendable {
    case integer, real, text, blob, null
  }

  package var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

  package func type(_ column: Int32) -> ColumnType {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  package func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// 0 for NULL and for what is no number.
  package func int(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(handle, column)
  }

  /// Empty for NULL.
  package func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Nil for NULL and for text that is not UTF-8, which SQLite stores unchecked.
  package func text(_ column: Int32) -> String? {
    guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe String(
      validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Lends the column's bytes as they lie in SQLite's own memory, with no copy; empty for NULL.
  ///
  /// The statement must not be stepped, reset or read by type inside `body`.
  package func withBlob<R: ~Copyable, E: Error>(
    _ column: Int32, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    guard let start = unsafe sqlite3_column_blob(handle, column) else {
      return try body(RawSpan())
    }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    // SQLite owns the memory; it stands until the statement moves, and the span cannot leave `body`.
    return try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
  }
}
