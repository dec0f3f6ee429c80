import SQLite
import Testing

@Suite struct `A statement` {
  let connection: Connection

  init() throws {
    connection = try Connection.inMemory()
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value ANY) STRICT")
  }

  func roundTrip(_ bind: (Statement) -> Void, _ read: (Statement) throws -> Void) throws {
    let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
    bind(insert)
    try insert.run()
    let select = try connection.prepare("SELECT value FROM t")
    let found = try select.step()
    #expect(found)
    try read(select)
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max])
  func `keeps every 64-bit integer`(_ value: Int64) throws {
    try roundTrip({ $0.bind(1, value) }) { row in
      #expect(row.type(0) == .integer)
      #expect(row.int(0) == value)
    }
  }

  @Test(arguments: ["", "a", "grüße", "nul\u{0}inside", "\u{10FFFF}"])
  func `keeps text byte for byte`(_ value: String) throws {
    try roundTrip({ $0.bind(1, text: value) }) { row in
      #expect(row.type(0) == .text)
      #expect(row.text(0) == value)
      #expect(row.bytes(0) == Array(value.utf8))
    }
  }

  @Test func `keeps blobs and tells an empty one from NULL`() throws {
    let blob: [UInt8] = [0, 1, 0, 255]
    try roundTrip({ $0.bind(1, bytes: blob) }) { row in
      #expect(row.type(0) == .blob)
      let lent = row.withBlob(0) { span in
        (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      }
      #expect(lent == blob)
    }
    try connection.execute("DELETE FROM t")
    try roundTrip({ $0.bind(1, bytes: []) }) { row in
      #expect(row.type(0) == .blob)
      #expect(!row.isNull(0))
      #expect(row.withBlob(0) { $0.byteCount } == 0)
    }
    try connection.execute("DELETE FROM t")
    try roundTrip({ $0.bindNull(1) }) { row in
      #expect(row.isNull(0))
      #expect(row.text(0) == nil)
      #expect(row.bytes(0).isEmpty)
    }
  }

  @Test func `gives no text for bytes that are not UTF-8`() throws {
    try connection.execute("INSERT INTO t (value) VALUES (CAST(x'61ff62' AS TEXT))")
    let select = try connection.prepare("SELECT value FROM t")
    let found = try select.step()
    #expect(found)
    #expect(select.text(0) == nil)
    #expect(select.bytes(0) == [0x61, 0xff, 0x62])
  }

  @Test func `throws at step what a bind refused, and can be used afterwards`() throws {
    let select = try connection.prepare("SELECT ?1")
    select.bind(2, 5)
    let error = #expect(throws: SQLiteError.self) { try select.step() }
    #expect(error?.code == 25)
    select.bind(1, 7)
    let found = try select.step()
    #expect(found)
    #expect(select.int(0) == 7)
    select.bind(1, 8)
    #expect(throws: SQLiteError.self) { try select.run() }
  }

  @Test func `is reset at its end, so that it holds no lock and runs again`() throws {
    let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
    for value in Int64(0)..<10 {
      insert.bind(1, value)
      let row = try insert.step()
      #expect(!row)
      #expect(connection.changes == 1)
    }
    let count = try connection.prepare("SELECT count(*) FROM t")
    let found = try count.step()
    #expect(found)
    #expect(count.int(0) == 10)
  }

  @Test func `keeps its connection open`() throws {
    var select: Statement?
    do {
      let other = try Connection.inMemory()
      select = try other.prepare("SELECT 42")
    }
    let found = try select?.step()
    #expect(found == true)
    #expect(select?.int(0) == 42)
  }

  @Test func `never shows a bound value in its error`() throws {
    try connection.execute("CREATE UNIQUE INDEX u ON t (value)")
    let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
    insert.bind(1, text: "canary-4711")
    try insert.run()
    let error = #expect(throws: SQLiteError.self) { try insert.run() }
    #expect(error?.kind == .constraint)
    #expect(error?.extended == 2067)
    #expect(error.map { "\($0)" }?.contains("canary") == false)
  }

  @Test func `is one statement`() {
    #expect(throws: SQLiteError.self) { try connection.prepare("") }
    #expect(throws: SQLiteError.self) { try connection.prepare("SELECT 1; SELECT 2") }
    #expect(throws: Never.self) { try connection.prepare("SELECT 1;\n ") }
    let error = #expect(throws: SQLiteError.self) { try connection.prepare("SELECT absent") }
    #expect(error?.operation.contains("no such column: absent") == true)
  }
}
