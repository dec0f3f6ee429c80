import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct `A connection` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A new database with a table `t`, in WAL mode.
  func database(_ name: String = "vault") throws -> Connection {
    let connection = try Connection.open(directory.newFile(name), .createdByUs)
    try connection.execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, value ANY) STRICT;")
    return connection
  }

  func count(_ connection: Connection) throws -> Int64 {
    let select = try connection.prepare("SELECT count(*) FROM t")
    let found = try select.step()
    #expect(found)
    return select.int(0)
  }

  @Test func `never makes a file`() throws {
    for mode in [Connection.Mode.readWrite, .readOnly, .createdByUs, .immutable] {
      let error = #expect(throws: SQLiteError.self) {
        try Connection.open(directory.path + "/absent", mode)
      }
      #expect(error?.kind == .cantOpen)
      #expect(error?.systemErrno == ENOENT)
    }
    #expect(try directory.names().isEmpty)
  }

  @Test func `takes an empty file only as a new one, and a new one only empty`() throws {
    let path = directory.newFile("empty")
    for mode in [Connection.Mode.readWrite, .readOnly, .immutable] {
      let error = #expect(throws: SQLiteError.self) { try Connection.open(path, mode) }
      #expect(error?.kind == .notADatabase)
    }
    try database("used").close()
    let error = #expect(throws: SQLiteError.self) {
      try Connection.open(directory.path + "/used", .createdByUs)
    }
    #expect(error?.kind == .cantOpen)
  }

  @Test func `to a file that is no database says so and leaves it alone`() throws {
    let path = directory.newFile("picture.png")
    let content = Data([0x89, 0x50, 0x4e, 0x47] + [UInt8](repeating: 7, count: 5000))
    try content.write(to: URL(fileURLWithPath: path))
    let connection = try Connection.open(path, .readWrite)
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("SELECT * FROM sqlite_schema")
    }
    #expect(error?.kind == .notADatabase)
    try connection.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
    #expect(try directory.names() == ["picture.png"])
  }

  @Test(arguments: [
    "file::memory:", "file:x?mode=memory", ":memory:", "file:plain", "file:x?vfs=unix-none", "-x",
  ])
  func `opens the file of that very name on the disk, never a URI`(_ name: String) async throws {
    let path = directory.newFile(name)
    // A relative name, and so a directory of its own for the process.
    await #expect(processExitsWith: .success) { [name, directory = directory.path as String] in
      guard FileManager.default.changeCurrentDirectoryPath(directory) else { exit(2) }
      let connection = try Connection.open(name, .createdByUs)
      try connection.execute("CREATE TABLE proof (a)")
      try connection.close()
      try Connection.open(name, .readWrite).execute("INSERT INTO proof VALUES (1)")
      try Connection.open(name, .immutable).execute("SELECT * FROM proof")
      exit(0)
    }
    #expect(try directory.names() == [name])
    #expect(try directory.size(name) == 8192)
    try Connection.open(path, .readOnly).execute("SELECT * FROM proof")
  }

  @Test(arguments: ["", "with\u{0}nul"])
  func `refuses a path that names no file`(_ path: String) {
    let error = #expect(throws: SQLiteError.self) { try Connection.open(path, .readWrite) }
    #expect(error?.kind == .cantOpen)
  }

  @Test(arguments: ["file", "directory", "dangling"])
  func `refuses a link in any part of its path`(_ place: String) throws {
    try database("vault").close()
    symlink(directory.path + "/vault", directory.path + "/file")
    symlink(directory.path, directory.path + "/directory")
    symlink(directory.path + "/nowhere", directory.path + "/dangling")
    let path = directory.path + "/" + place + (place == "directory" ? "/vault" : "")
    for mode in [Connection.Mode.readWrite, .readOnly, .immutable] {
      let error = #expect(throws: SQLiteError.self) { try Connection.open(path, mode) }
      #expect(error?.extended == 1550)
    }
  }

  @Test(arguments: ["-wal", "-shm"])
  func `refuses a link in the place of a companion`(_ suffix: String) throws {
    try database("vault").close()
    let target = directory.newFile("target")
    symlink(target, directory.path + "/vault" + suffix)
    let connection = try Connection.open(directory.path + "/vault", .readWrite)
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t (value) VALUES (1)")
    }
    #expect(error?.kind == .cantOpen)
    #expect(try directory.size("target") == 0)
  }

  @Test func `gives its companions the mode of the file, whatever the umask`() async throws {
    await #expect(processExitsWith: .success) { [directory = directory.path as String] in
      umask(0)
      let path = directory + "/vault"
      guard
        FileManager.default.createFile(
          atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
      else { exit(2) }
      let connection = try Connection.open(path, .createdByUs)
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
      for suffix in ["", "-wal", "-shm"] {
        let facts = try FileManager.default.attributesOfItem(atPath: path + suffix)
        guard facts[.posixPermissions] as? Int == 0o600 else { exit(3) }
      }
      exit(0)
    }
  }

  @Test func `that is immutable leaves nothing behind, whatever its name`() throws {
    for name in ["plain", "a?b=c&d", "x#y", "100%41", "ü ;:@"] {
      let writer = try database(name)
      try writer.execute("INSERT INTO t (value) VALUES (1)")
      try writer.close()
      let before = try directory.names()
      let reader = try Connection.open(directory.path + "/" + name, .immutable)
      #expect(try count(reader) == 1)
      #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
      try reader.close()
      #expect(try directory.names() == before)
    }
  }

  @Test func `that is read-only does not write`() throws {
    let writer = try database()
    let reader = try Connection.open(directory.path + "/vault", .readOnly)
    #expect(try count(reader) == 0)
    let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
    #expect(error?.kind == .readOnly)
    try writer.close()
  }

  @Test func `waits for a lock as long as it was told, then says busy`() throws {
    let writer = try database()
    try writer.execute("BEGIN IMMEDIATE; INSERT INTO t (value) VALUES (1)")
    let path = directory.path + "/vault"
    let other = try Connection.open(path, .readWrite, busyMilliseconds: 150)
    let clock = ContinuousClock()
    let start = clock.now
    let error = #expect(throws: SQLiteError.self) { try other.execute("BEGIN IMMEDIATE") }
    #expect(error?.kind == .busy)
    let waited = clock.now - start
    #expect(waited >= .milliseconds(100) && waited < .seconds(5))
    try writer.execute("COMMIT")
    try other.execute("BEGIN IMMEDIATE; COMMIT")
  }

  @Test func `stays open while a statement lives, and closes after it`() throws {
    let connection = try database()
    do {
      let select = try connection.prepare("SELECT 1")
      let error = #expect(throws: SQLiteError.self) { try connection.close() }
      #expect(error?.kind == .busy)
      let found = try select.step()
      #expect(found)
    }
    _ = try connection.dataVersion
    try connection.close()
    try connection.close()
    #expect(try directory.names() == ["vault"])
  }

  @Test func `closes its file when it is dropped`() throws {
    do { _ = try database() }
    #expect(try directory.names() == ["vault"])
  }

  @Test func `sees that another connection, or any, has committed`() throws {
    let one = try database()
    let two = try Connection.open(directory.path + "/vault", .readWrite)
    #expect(try count(one) == 0)
    let version = try one.dataVersion
    let fileVersion = one.fileDataVersion
    try one.execute("INSERT INTO t (value) VALUES (1)")
    #expect(try one.dataVersion == version)
    #expect(one.fileDataVersion != fileVersion)
    try two.execute("INSERT INTO t (value) VALUES (2)")
    #expect(try one.dataVersion != version)
    #expect(try count(one) == 2)
  }

  @Test func `knows what it changed and whether it is in a transaction`() throws {
    let connection = try database()
    #expect(!connection.inTransaction)
    try connection.execute("BEGIN IMMEDIATE; INSERT INTO t (value) VALUES (1), (2), (3)")
    #expect(connection.inTransaction)
    #expect(connection.changes == 3)
    try connection.execute("ROLLBACK")
    #expect(!connection.inTransaction)
    #expect(try count(connection) == 0)
  }

  @Test func `runs a script to its end or to its first error`() throws {
    let connection = try database()
    let script = "-- ü\nINSERT INTO t (value) VALUES ('a;b');; SELECT * FROM t;\n-- end"
    try connection.execute(Array(script.utf8))
    try connection.execute("")
    try connection.execute([])
    try connection.execute("  \n")
    #expect(try count(connection) == 1)
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t (value) VALUES (1); INSERT INTO absent VALUES (1); x")
    }
    #expect(error?.operation == "execute: no such table: absent")
    #expect(try count(connection) == 2)
  }

  @Test(.enabled(if: geteuid() == 0, "mounting a file system needs root"))
  func `on a full disk says full`() throws {
    let mount = directory.path + "/full"
    mkdir(mount, 0o700)
    try run("/bin/mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", mount)
    defer { try? run("/bin/umount", mount) }
    let path = directory.newFile("full/vault")
    let connection = try Connection.open(path, .createdByUs)
    try connection.execute("CREATE TABLE t (a)")
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t VALUES (zeroblob(400000))")
    }
    #expect(error?.kind == .full)
    #expect(try connection.integrityCheck() == [])
    try connection.close()
  }

  @Test func `over the file-size limit says I/O error with the number of the system`() async throws
  {
    await #expect(processExitsWith: .success) { [path = directory.newFile("vault") as String] in
      signal(SIGXFSZ, SIG_IGN)
      let connection = try Connection.open(path, .createdByUs)
      try connection.execute("CREATE TABLE t (a)")
      var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      do {
        try connection.execute("INSERT INTO t VALUES (zeroblob(400000))")
      } catch let error as SQLiteError {
        exit(error.kind == .io && error.systemErrno == EFBIG ? 0 : 3)
      }
      exit(4)
    }
  }
}
