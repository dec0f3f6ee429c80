import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct `The upkeep of a database` {
  let directory: TemporaryDirectory
  let connection: Connection

  init() throws {
    directory = try TemporaryDirectory()
    connection = try Connection.open(directory.newFile("vault"), .createdByUs)
    try connection.execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
  }

  func rows(_ connection: Connection) throws -> Int64 {
    let select = try connection.prepare("SELECT count(*) FROM t")
    let found = try select.step()
    #expect(found)
    return select.int(0)
  }

  @Test func `cuts the WAL to nothing, and says when a reader is in the way`() throws {
    #expect(try directory.size("vault-wal") > 0)
    let reader = try Connection.open(directory.path + "/vault", .readOnly)
    try reader.execute("BEGIN; SELECT * FROM t")
    let writer = try Connection.open(directory.path + "/vault", .readWrite, busyMilliseconds: 50)
    try writer.execute("INSERT INTO t VALUES (4)")
    #expect(try !writer.checkpointTruncate())
    #expect(try directory.size("vault-wal") > 0)
    try reader.execute("COMMIT")
    #expect(try writer.checkpointTruncate())
    #expect(try directory.size("vault-wal") == 0)
  }

  @Test func `keeps the WAL at the last close when told so`() throws {
    let path = directory.path + "/vault"
    try connection.setDoNotCheckpointOnClose(true)
    try connection.close()
    #expect(try directory.size("vault-wal") > 0)
    let again = try Connection.open(path, .readWrite)
    #expect(try rows(again) == 3)
    try again.close()
    #expect(try directory.names() == ["vault"])
  }

  @Test func `backs up one state with what is only in the WAL`() throws {
    let copy = directory.newFile("copy")
    try connection.backup(to: copy)
    try connection.execute("DELETE FROM t")
    // Read with nothing beside it.
    let backup = try Connection.open(copy, .immutable)
    #expect(try rows(backup) == 3)
    #expect(try backup.integrityCheck() == [])
    #expect(
      try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
  }

  @Test func `backs up into an empty file only, and nothing uncommitted`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try connection.backup(to: directory.path + "/absent")
    }
    #expect(error?.kind == .cantOpen)
    try connection.backup(to: directory.newFile("copy"))
    #expect(throws: SQLiteError.self) { try connection.backup(to: directory.path + "/copy") }
    try connection.execute("BEGIN IMMEDIATE; DELETE FROM t")
    let inside = #expect(throws: SQLiteError.self) {
      try connection.backup(to: directory.newFile("other"))
    }
    #expect(inside?.kind == .busy)
    try connection.execute("ROLLBACK; BEGIN; SELECT * FROM t")
    try connection.backup(to: directory.path + "/other")
    try connection.execute("COMMIT")
  }

  @Test func `finds a damaged page`() throws {
    try connection.execute("CREATE INDEX i ON t (a)")
    for value in 4..<500 { try connection.execute("INSERT INTO t VALUES (\(value))") }
    #expect(try connection.integrityCheck() == [])
    try connection.close()
    let path = directory.path + "/vault"
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    let size = try file.seekToEnd()
    try file.seek(toOffset: size - 4096)
    try file.write(contentsOf: Data(repeating: 0xff, count: 64))
    try file.close()
    let damaged = try Connection.open(path, .readWrite)
    try damaged.harden()
    var findings: [String] = []
    do {
      findings = try damaged.integrityCheck()
    } catch {
      findings = [error.text]
    }
    #expect(!findings.isEmpty)
  }
}
