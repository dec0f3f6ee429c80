import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct `A hardened connection` {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    let path = directory.newFile("vault")
    do {
      // What somebody else could have put into the file.
      let writer = try Connection.open(path, .createdByUs)
      try writer.execute(
        """
        CREATE TABLE t (a);
        CREATE TABLE witness (a);
        CREATE VIEW v AS SELECT a FROM t;
        CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO witness VALUES (new.a); END;
        INSERT INTO t VALUES (1);
        """)
    }
    connection = try Connection.open(path, .readWrite)
    try connection.harden()
  }

  func refuses(_ sql: String) -> SQLiteError? {
    #expect(throws: SQLiteError.self) { try connection.execute(sql) }
  }

  func value(_ sql: String) throws -> Int64 {
    let select = try connection.prepare(sql)
    let found = try select.step()
    #expect(found)
    return select.int(0)
  }

  @Test func `runs no trigger and reads no view`() throws {
    #expect(try value("SELECT count(*) FROM witness") == 1)
    try connection.execute("INSERT INTO t VALUES (2)")
    #expect(try value("SELECT count(*) FROM witness") == 1)
    _ = refuses("SELECT * FROM v")
  }

  @Test func `writes no schema, loads nothing and takes no quotes for text`() throws {
    _ = refuses("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '' WHERE name = 't'")
    _ = refuses("SELECT load_extension('/nowhere')")
    _ = refuses("SELECT \"text\" FROM t WHERE 0")
    #expect(try value("PRAGMA trusted_schema") == 0)
    #expect(try value("PRAGMA cell_size_check") == 1)
    #expect(try value("PRAGMA mmap_size") == 0)
  }

  @Test func `bounds what one value, statement and row may hold`() throws {
    let insert = try connection.prepare("INSERT INTO t VALUES (?1)")
    let longest = Int(Connection.maximumLength)
    insert.bind(1, bytes: [UInt8](repeating: 1, count: longest + 1))
    let error = #expect(throws: SQLiteError.self) { try insert.run() }
    #expect(error?.kind == .tooBig)
    #expect(refuses("INSERT INTO t VALUES (zeroblob(\(longest + 1)))")?.kind == .tooBig)
    insert.bind(1, bytes: [UInt8](repeating: 1, count: longest - 100))
    try insert.run()
    _ = refuses(
      "SELECT " + String(repeating: "(", count: 200) + "1" + String(repeating: ")", count: 200))
    _ = refuses("CREATE TABLE wide (" + (0..<101).map { "c\($0)" }.joined(separator: ",") + ")")
    let attached = directory.newFile("other")
    try connection.execute("ATTACH '\(attached)' AS one")
    _ = refuses("ATTACH '\(attached)' AS two")
  }

  @Test func `can still be vacuumed and found sound`() throws {
    try connection.execute("VACUUM")
    #expect(try connection.integrityCheck() == [])
  }
}
