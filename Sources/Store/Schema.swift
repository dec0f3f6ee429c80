import Encoding
import Faults
import FileSystem
import Migrations
import SQLite
import Sodium

/// The tables of the file and the way from an older format to this one.
enum Schema {
  /// Makes the tables in a new file, inside the caller's transaction.
  static func create(in connection: Connection) throws(SQLiteError) {
    for step in Migrations.steps { try connection.execute(step) }
    try connection.execute("PRAGMA user_version = \(Migrations.currentFormat)")
  }

  /// The file's format as SQLite sees it: the number in the WAL may be newer than the first page's.
  static func format(of connection: Connection, path: String) throws(VaultError) -> Int {
    let format = try sql("opening \(path)") { () throws(SQLiteError) in
      guard try connection.integer("PRAGMA application_id") == VaultFile.applicationID else {
        return Int64(0)
      }
      return try connection.integer("PRAGMA user_version")
    }
    if format > Int64(Migrations.currentFormat) { throw .newer(path, format) }
    guard format > 0 else { throw .foreign(path, isEmpty: false) }
    return Int(format)
  }

  /// Copies a file of an older format to a name of its own, before anything in it changes.
  ///
  /// - Returns: The path of the copy, mode 0600; a copy of an earlier try is written anew.
  static func copyBeforeChange(_ connection: Connection, path: String, format: Int)
    throws(VaultError) -> String
  {
    let copy = "\(path).format\(format).backup"
    try files("making \(copy)") { () throws(FileError) in
      if try Files.inspect(copy) != nil { try Files.remove(copy) }
      _ = try Files.createNew(copy, mode: 0o600)
    }
    try sql("copying the vault before its format changes") { () throws(SQLiteError) in
      try connection.backup(to: copy)
    }
    return copy
  }

  /// A digest of the SQL of every table and index. A trigger, a view or a changed table that somebody
  /// put into the file changes it.
  static func digest(of connection: Connection) throws(SQLiteError) -> Key16 {
    let select = try connection.prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name", persistent: false)
    var out = Writer(capacity: 4096)
    while try select.step() {
      for column in Int32(0)..<4 { out.field(select.bytes(column)) }
    }
    return Key16(Array(BLAKE2b.digest32(out.bytes).bytes.prefix(16)))
  }
}
