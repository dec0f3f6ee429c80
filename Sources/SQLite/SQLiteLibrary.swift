import CSQLite

/// The SQLite that this program runs with.
package enum SQLiteLibrary {
  /// For example "3.40.1"; of the library loaded now, not of the header it was built against.
  package static var version: String { unsafe String(cString: sqlite3_libversion()) }
}
