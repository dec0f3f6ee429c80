package import Encoding
package import Faults
import SQLite
package import Sodium

extension Store {
  // MARK: Look-ups

  /// The key of a look-up: a keyed hash of what is looked for, byte for byte.
  ///
  /// Stops whoever reads the file from seeing names, or which rows belong together.
  package func blindKey(_ purpose: StaticString, _ parts: BlindPart...) -> Key16 {
    var input = Writer(capacity: 192)
    input.field(purpose.description)
    for part in parts {
      switch part {
      case .text(let text): input.field(text)
      case .key(let key):
        input.u32(16)
        input.key(key)
      }
    }
    return KeyedHash.digest16(input.bytes, key: keyring.blind)
  }

  /// What goes into the key of a look-up.
  package enum BlindPart {
    case text(String)
    case key(Key16)
  }

  /// The keyed hash under which an app's key is stored; it survives a new vault key.
  package func appKeyHash(_ key: borrowing SecretBytes) -> Digest32 {
    key.withBytes { KeyedHash.digest32($0, key: keyring.appKeys) }
  }

  // MARK: Reading

  /// A row with its overview opened, or nil where there is none.
  ///
  /// Both answers are held against the state tree.
  ///
  /// - Throws: ``VaultError`` with reason `damagedRow` where the row was altered, removed, added, or
  ///   is an older version of itself.
  package func row(_ table: TableID, _ key: Key16) throws(VaultError) -> Row? {
    precondition(isReading || isWriting, "rows are read inside a transaction")
    if let last = lastRow, last.table == table, last.key == key,
      last.revision == revision(of: table)
    {
      return last.row
    }
    let row = try checkedRow(table, key)
    lastRow = ReadRow(table: table, key: key, revision: revision(of: table), row: row)
    return row
  }

  /// The row that was read last: a change of one begins with reading it.
  struct ReadRow {
    var table: TableID
    var key: Key16
    var revision: UInt64
    var row: Row?
  }

  private func checkedRow(_ table: TableID, _ key: Key16) throws(VaultError) -> Row? {
    let select = try statement(table) { (rows) throws(SQLiteError) in try rows.select }
    key.withBytes { select.bind(1, blob: $0) }
    defer { select.reset() }
    let found = try sql("reading \(table.name)") { () throws(SQLiteError) in try select.step() }
    guard found else {
      try tree.check(table, key, tag: nil, in: state, keys: keys)
      return nil
    }
    let tag = rowTag(table, key, select, from: 0)
    try tree.check(table, key, tag: tag, in: state, keys: keys)
    return try opened(table, key, select, from: 0)
  }

  /// Opens the secret of a row that was read before.
  ///
  /// - Throws: ``VaultError`` with reason `damagedRow`; also where the row has none.
  package func secret(of row: Row, in table: TableID) throws(VaultError) -> SecretBytes {
    let associated = Associated.row(
      vault: vault, epoch: state.keyEpoch, table: table, key: row.key, column: .secret,
      version: row.generation)
    do throws(SodiumError) {
      return try associated.withBytes { (associated: RawSpan) throws(SodiumError) in
        // The array lives through the call.
        try unsafe AEAD.open(row.sealedSecret.span.bytes, associated: associated, key: keys.rows)
      }
    } catch {
      throw .damagedRow(table, row.key.base32, "its secret cannot be opened")
    }
  }

  /// Hands every row of a table to `body` in key order, one at a time.
  ///
  /// Rows and tree are walked side by side, so that a row that is gone is met where it should be,
  /// also by a scan that ends early or begins in the middle.
  ///
  /// - Parameter from: Begins at the first key that is not smaller.
  /// - Parameter body: Answers whether to go on; it does not write to the table.
  package func forEachRow(
    _ table: TableID, from first: Key16? = nil,
    _ body: (Row) throws(VaultError) -> Bool
  ) throws(VaultError) {
    let scan = try statement(table) { (rows) throws(SQLiteError) in
      try rows.scan(from: first != nil)
    }
    defer { rows[table.position].giveBack(scan, from: first != nil) }
    first?.withBytes { scan.bind(1, blob: $0) }
    var walk = try tree.walk(table, from: first, in: state, keys: keys)
    while try sql("reading \(table.name)", { () throws(SQLiteError) in try scan.step() }) {
      guard
        let key = scan.withBlob(0, { (span: RawSpan) in span.byteCount == 16 ? Key16(span) : nil })
      else { throw .damagedTree(table, "a key has a wrong size") }
      let record = try tree.next(&walk, in: state, keys: keys)
      if let record, record.key < key { throw .removedRow(table, record.key) }
      guard let record, record.key == key else { throw .addedRow(table, key) }
      guard rowTag(table, key, scan, from: 1) == record.tag else { throw .alteredRow(table, key) }
      if try !body(try opened(table, key, scan, from: 1)) { return }
    }
    if let record = try tree.next(&walk, in: state, keys: keys) {
      throw .removedRow(table, record.key)
    }
  }

  /// The keys of a table's rows whose hour is not after `hour`, the earliest first.
  ///
  /// Found by an index, which is a hint: whoever uses a key reads its row, and now and then all rows
  /// are walked.
  ///
  /// - Parameters:
  ///   - after: Where an earlier page ended.
  ///   - limit: How many at most.
  package func dueRows(
    _ table: TableID, until hour: Int64, after: DueRow? = nil, limit: Int
  ) throws(VaultError) -> [DueRow] {
    precondition(isReading || isWriting, "rows are read inside a transaction")
    let select = try statement(table) { (rows) throws(SQLiteError) in try rows.due }
    defer { select.reset() }
    select.bind(1, hour)
    select.bind(2, after?.hour ?? 0)
    if let key = after?.key {
      key.withBytes { select.bind(3, blob: $0) }
    } else {
      select.bind(3, bytes: [])
    }
    select.bind(4, Int64(limit))
    var found: [DueRow] = []
    while try sql("reading \(table.name)", { () throws(SQLiteError) in try select.step() }) {
      let key = select.withBlob(1) { (span: RawSpan) in span.byteCount == 16 ? Key16(span) : nil }
      guard let key else { throw .damagedTree(table, "a key has a wrong size") }
      found.append(DueRow(hour: select.int(0), key: key))
    }
    return found
  }

  /// A row that an index named.
  package struct DueRow: Sendable {
    package let hour: Int64
    package let key: Key16
  }

  // MARK: Writing

  /// Writes a row whole, with the next version of what changes.
  ///
  /// - Parameter day: Today, in days since 1970.
  package func put(
    _ table: TableID, _ key: Key16, overview: [UInt8], secret: consuming SecretChange = .keep,
    due: Int64 = 0, day: Int64
  ) throws(VaultError) {
    precondition(isWriting, "rows are written inside a write")
    let old = try row(table, key)
    let version = (old?.version ?? 0) + 1
    var generation = old?.generation ?? 0
    var box = old?.sealedSecret ?? []
    switch consume secret {
    case .keep: break
    case .remove: box = []
    case .replace(let value):
      generation += 1
      box = seal(value, table, key, generation: generation)
    }
    let row = Row(
      key: key, version: version, generation: generation, day: day, due: due, overview: overview,
      sealedSecret: box)
    try write(row, in: table)
  }

  /// Takes a row out. Nothing happens where there is none.
  package func remove(_ table: TableID, _ key: Key16) throws(VaultError) {
    precondition(isWriting, "rows are removed inside a write")
    guard try row(table, key) != nil else { return }
    let delete = try statement(table) { (rows) throws(SQLiteError) in try rows.delete }
    key.withBytes { delete.bind(1, blob: $0) }
    try sql("removing a row of \(table.name)") { () throws(SQLiteError) in try delete.run() }
    noteChange(of: table)
    try tree.change(table, key, to: nil, in: &state, keys: keys)
  }

  func seal(
    _ secret: borrowing SecretBytes, _ table: TableID, _ key: Key16, generation: Int64
  ) -> [UInt8] {
    let associated = Associated.row(
      vault: vault, epoch: keys.epoch, table: table, key: key, column: .secret,
      version: generation)
    return secret.withBytes { secret in
      associated.withBytes { AEAD.seal(secret, associated: $0, key: keys.rows) }
    }
  }

  /// Seals a row's overview, stores the row and puts its tag into the tree.
  func write(_ row: Row, in table: TableID) throws(VaultError) {
    let associated = Associated.row(
      vault: vault, epoch: keys.epoch, table: table, key: row.key, column: .overview,
      version: row.version)
    let padded = Padding.padded(row.overview, block: table.overviewBlock)
    // The array lives through the call.
    let overview = associated.withBytes {
      unsafe AEAD.seal(padded.span.bytes, associated: $0, key: keys.rows)
    }
    let upsert = try statement(table) { (rows) throws(SQLiteError) in try rows.upsert }
    row.key.withBytes { upsert.bind(1, blob: $0) }
    upsert.bind(2, row.version)
    upsert.bind(3, row.generation)
    upsert.bind(4, row.day)
    upsert.bind(5, row.due)
    upsert.bind(6, bytes: overview)
    upsert.bind(7, bytes: row.sealedSecret)
    try sql("writing \(table.name)") { () throws(SQLiteError) in try upsert.run() }
    // The two arrays live through the call.
    let tag = unsafe rowTag(
      table, row.key, (row.version, row.generation, row.day, row.due),
      overview.span.bytes, row.sealedSecret.span.bytes)
    noteChange(of: table)
    try tree.change(table, row.key, to: tag, in: &state, keys: keys)
  }

  // MARK: Tags

  func statement<R>(_ table: TableID, _ body: (RowStatements) throws(SQLiteError) -> R)
    throws(VaultError) -> R
  {
    try sql("reading \(table.name)") { () throws(SQLiteError) in
      try body(rows[table.position])
    }
  }

  /// The tag of a row as a statement shows it.
  func rowTag(_ table: TableID, _ key: Key16, _ row: Statement, from first: Int32) -> Key16 {
    let numbers = (
      row.int(first), row.int(first + 1), row.int(first + 2), row.int(first + 3)
    )
    return row.withBlob(first + 4) { (overview: RawSpan) in
      row.withBlob(first + 5) { (secret: RawSpan) in
        rowTag(table, key, numbers, overview, secret)
      }
    }
  }

  /// A keyed hash of everything in a row, clear and sealed; each part has a fixed size or carries it.
  private func rowTag(
    _ table: TableID, _ key: Key16, _ numbers: (Int64, Int64, Int64, Int64), _ overview: RawSpan,
    _ secret: RawSpan
  ) -> Key16 {
    let head = RowHead(
      table: UInt64(table.rawValue).bigEndian, keyHigh: key.high.bigEndian,
      keyLow: key.low.bigEndian,
      version: numbers.0.bigEndian, generation: numbers.1.bigEndian, day: numbers.2.bigEndian,
      due: numbers.3.bigEndian, overview: UInt64(overview.byteCount).bigEndian,
      secret: UInt64(secret.byteCount).bigEndian)
    // Nine integers without padding; borrowed for the call only.
    return unsafe withUnsafeBytes(of: head) { head in
      unsafe KeyedHash.digest16(
        RawSpan(_unsafeBytes: head), overview, secret, key: keys.tree)
    }
  }

  private struct RowHead {
    var table, keyHigh, keyLow: UInt64
    var version, generation, day, due: Int64
    var overview, secret: UInt64
  }

  private func opened(_ table: TableID, _ key: Key16, _ row: Statement, from first: Int32)
    throws(VaultError) -> Row
  {
    let version = row.int(first)
    let associated = Associated.row(
      vault: vault, epoch: state.keyEpoch, table: table, key: key, column: .overview,
      version: version)
    var overview: [UInt8] = []
    do throws(SodiumError) {
      let count = try row.withBlob(first + 4) { (box: RawSpan) throws(SodiumError) -> Int in
        try associated.withBytes { (associated: RawSpan) throws(SodiumError) -> Int in
          try AEAD.open(box, associated: associated, key: keys.rows, into: &overview)
        }
      }
      overview.removeLast(overview.count - count)
      try Padding.unpad(&overview, block: table.overviewBlock)
    } catch {
      throw .damagedRow(table, key.base32, "cannot be opened")
    }
    return Row(
      key: key, version: version, generation: row.int(first + 1), day: row.int(first + 2),
      due: row.int(first + 3), overview: overview, sealedSecret: row.bytes(first + 5))
  }
}
