package import Encoding
package import Faults
import SQLite
import Sodium

/// A row of the ledger as it is stored, its body opened.
package struct EntryRow {
  package var number: UInt64
  /// What the tree commits to, in the clear.
  package var leaf: [UInt8]
  /// The leaf's hash and those of the subtrees that it completes.
  package var hashes: [UInt8]
  /// The opened body.
  package var body: [UInt8]

  package init(number: UInt64, leaf: [UInt8], hashes: [UInt8], body: [UInt8]) {
    self.number = number
    self.leaf = leaf
    self.hashes = hashes
    self.body = body
  }
}

extension Store {
  /// Stores an entry and the ledger's new head; the caller made the hashes.
  package func append(
    _ entry: EntryRow, size: UInt64, root: Digest32, frontier: [UInt8]
  ) throws(VaultError) {
    precondition(isWriting, "entries are written inside a write")
    let insert = statements.insertEntry
    insert.bind(1, Int64(entry.number))
    insert.bind(2, bytes: entry.leaf)
    insert.bind(3, bytes: entry.hashes)
    insert.bind(4, bytes: sealed(entry.body, number: entry.number))
    try sql("writing the ledger") { () throws(SQLiteError) in try insert.run() }
    state.ledgerSize = size
    state.ledgerRoot = root
    state.frontier = frontier
  }

  func sealed(_ body: [UInt8], number: UInt64) -> [UInt8] {
    let associated = Associated.entry(vault: vault, epoch: keys.epoch, number: number)
    return associated.withBytes {
      // The array lives through the call.
      unsafe AEAD.seal(body.span.bytes, associated: $0, key: keys.ledger)
    }
  }

  /// The stored hashes of an entry; they are believed only as far as they lead to the root.
  package func entryHashes(_ number: UInt64) throws(VaultError) -> [UInt8] {
    let select = statements.selectEntry
    defer { select.reset() }
    select.bind(1, Int64(number))
    let found = try sql("reading the ledger") { () throws(SQLiteError) in try select.step() }
    guard found else { throw .damagedEntry(number, "it is missing") }
    return select.bytes(1)
  }

  /// One entry with its body opened.
  package func entry(_ number: UInt64) throws(VaultError) -> EntryRow {
    let select = statements.selectEntry
    defer { select.reset() }
    select.bind(1, Int64(number))
    let found = try sql("reading the ledger") { () throws(SQLiteError) in try select.step() }
    guard found else { throw .damagedEntry(number, "it is missing") }
    return try opened(number, select, from: 0)
  }

  private func opened(_ number: UInt64, _ row: Statement, from first: Int32) throws(VaultError)
    -> EntryRow
  {
    var body: [UInt8] = []
    try open(number, row, column: first + 2, into: &body)
    return EntryRow(
      number: number, leaf: row.bytes(first), hashes: row.bytes(first + 1), body: body)
  }

  private func open(_ number: UInt64, _ row: Statement, column: Int32, into body: inout [UInt8])
    throws(VaultError)
  {
    let associated = Associated.entry(vault: vault, epoch: state.keyEpoch, number: number)
    do throws(SodiumError) {
      let count = try row.withBlob(column) { (box: RawSpan) throws(SodiumError) -> Int in
        try associated.withBytes { (associated: RawSpan) throws(SodiumError) -> Int in
          try AEAD.open(box, associated: associated, key: keys.ledger, into: &body)
        }
      }
      body.removeLast(body.count - count)
    } catch {
      throw .damagedEntry(number, "its body cannot be opened")
    }
  }

  /// Hands a range of entries to `body` in order, or from the last to the first; none may be missing.
  ///
  /// - Parameter body: Answers whether to go on.
  package func forEachEntry(
    _ range: Range<UInt64>, backwards: Bool = false,
    _ body: (EntryRow) throws(VaultError) -> Bool
  ) throws(VaultError) {
    let scan = try sql("reading the ledger") { () throws(SQLiteError) in
      try file.connection.prepare(
        "SELECT number, leaf, hashes, body FROM entry WHERE number >= ?1 AND number < ?2"
          + " ORDER BY number\(backwards ? " DESC" : "")", persistent: false)
    }
    scan.bind(1, Int64(range.lowerBound))
    scan.bind(2, Int64(range.upperBound))
    var expected = backwards ? range.upperBound : range.lowerBound
    while try sql("reading the ledger", { () throws(SQLiteError) in try scan.step() }) {
      if backwards { expected -= 1 }
      let number = UInt64(bitPattern: scan.int(0))
      guard number == expected else { throw .damagedEntry(expected, "it is missing") }
      if try !body(try opened(number, scan, from: 1)) { return }
      if !backwards { expected += 1 }
    }
    guard expected == (backwards ? range.lowerBound : range.upperBound) else {
      throw .damagedEntry(backwards ? expected - 1 : expected, "it is missing")
    }
  }

  /// Lends a range of entries to `body` as they are stored, for a check that must be fast: leaf,
  /// hashes, and the opened body in a buffer that is used again.
  package func lendEntries(
    _ range: Range<UInt64>,
    _ body: (UInt64, _ leaf: RawSpan, _ hashes: RawSpan, inout [UInt8]) throws(VaultError) -> Void
  ) throws(VaultError) {
    let scan = try sql("reading the ledger") { () throws(SQLiteError) in
      try file.connection.prepare(
        "SELECT number, leaf, hashes, body FROM entry WHERE number >= ?1 AND number < ?2"
          + " ORDER BY number", persistent: false)
    }
    scan.bind(1, Int64(range.lowerBound))
    scan.bind(2, Int64(range.upperBound))
    var expected = range.lowerBound
    var plaintext: [UInt8] = []
    while try sql("reading the ledger", { () throws(SQLiteError) in try scan.step() }) {
      let number = UInt64(bitPattern: scan.int(0))
      guard number == expected else { throw .damagedEntry(expected, "it is missing") }
      try open(number, scan, column: 3, into: &plaintext)
      try scan.withBlob(1) { (leaf: RawSpan) throws(VaultError) in
        try scan.withBlob(2) { (hashes: RawSpan) throws(VaultError) in
          try body(number, leaf, hashes, &plaintext)
        }
      }
      expected += 1
    }
    guard expected == range.upperBound else { throw .damagedEntry(expected, "it is missing") }
  }

  /// How many rows the ledger's table has, whatever the state says: more than it says is damage too.
  package func countEntries() throws(VaultError) -> UInt64 {
    try sql("reading the ledger") { () throws(SQLiteError) in
      UInt64(try file.connection.integer("SELECT count(*) FROM entry"))
    }
  }
}
