import Encoding
package import Faults
import SQLite
package import Sodium

extension Store {
  /// Gives the vault a new key and seals everything anew under it, in one transaction.
  ///
  /// A kill at any point leaves the old key with all rows as they were, or the new one. Everything is
  /// checked first, in the same transaction: made anew from what is merely found, the tree would
  /// whitewash damage. The new key is wrapped for the slot in use and never under the old key; the
  /// other slots cannot be wrapped without their secrets and are removed.
  ///
  /// - Parameter kind: The kind of the slot that stays.
  /// - Parameter secret: What opens it.
  /// - Parameter progress: Told now and then how many rows and entries are done.
  /// - Parameter finish: Runs last in the transaction with the slots that were removed; it may add
  ///   a slot and writes the ledger's entry.
  package func rotate(
    kind: KeySlot.Kind, secret: borrowing SecretBytes, cost: KeyCost, day: Int64,
    progress: (UInt64) -> Void,
    finish: (_ removed: [KeySlot]) throws(VaultError) -> Void
  ) throws(VaultError) {
    precondition(!isWriting, "a rotation is a transaction of its own")
    var old = Keys?.none
    var staying: Key16?
    do throws(VaultError) {
      try write { () throws(VaultError) in
        try verifyRows(progress: { _ in })
        let slots = try slots()
        // A secret that opens nothing yet would be the only one that opens the new vault: a slip of
        // the finger would lock its owner out for good.
        var kept: KeySlot?
        for slot in slots where slot.kind == kind {
          let key = try slot.unwrap(
            with: secret, vault: vault, allowExpensive: cost.allowExpensive)
          if key != nil { kept = slot }
        }
        guard let kept else {
          throw VaultError(
            .wrongKey, "that passphrase or key does not open this vault: nothing was changed",
            hint: "vault rotate-key")
        }
        let new = Keys(vaultKey: .random(count: 32), epoch: keys.epoch + 1)
        let slot = try KeySlot.wrap(
          new.vaultKey, vault: vault, epoch: new.epoch, kind: kind,
          number: kept.number, secret: secret, cost: cost, day: day)
        for slot in slots { try delete(slot) }
        try insert(slot)
        state.slots = KeySlot.digest(of: [slot], vault: vault)
        old = use(new)
        try reseal(progress: progress, old: &old)
        sealedKeyring = keyring.sealed(vault: vault, keys: keys)
        try finish(slots.filter { $0.id != kept.id })
        staying = slot.id
      }
      file.openedSlot = staying
    } catch {
      // The transaction is gone, and with it everything that the new key had sealed.
      if let old = old.take() { _ = use(old) }
      state.keyEpoch = keys.epoch
      throw error
    }
  }

  private func use(_ new: consuming Keys) -> Keys {
    var other = new
    swap(&keys, &other)
    state.keyEpoch = keys.epoch
    return other
  }

  private func reseal(progress: (UInt64) -> Void, old: inout Keys?) throws(VaultError) {
    guard let previous = old.take() else { return }
    do throws(VaultError) {
      var done: UInt64 = 0
      for table in TableID.allCases {
        try reseal(table, previous: previous, done: &done, progress: progress)
      }
      try resealEntries(previous: previous, done: &done, progress: progress)
    } catch {
      old = consume previous
      throw error
    }
    old = consume previous
  }

  private static let page: Int64 = 256

  private func reseal(
    _ table: TableID, previous: borrowing Keys, done: inout UInt64, progress: (UInt64) -> Void
  ) throws(VaultError) {
    let count = state[table].rows
    try clearTree(table)
    var last: [UInt8] = []
    while true {
      let rows = try sealedPage(table, after: last)
      for found in rows {
        try write(reopened(found, table, previous: previous), in: table)
        done += 1
      }
      // The tree's changes go to the file page by page, so that memory stays flat.
      try tree.write(into: &state, keys: keys)
      progress(done)
      guard rows.count == Self.page, let next = rows.last else { break }
      last = next.key.bytes
    }
    guard state[table].rows == count else {
      throw .damagedTree(table, "rows changed while they were sealed anew")
    }
  }

  private struct SealedRow {
    var key: Key16
    var numbers: (version: Int64, generation: Int64, day: Int64, due: Int64)
    var overview: [UInt8]
    var secret: [UInt8]
  }

  private func sealedPage(_ table: TableID, after key: [UInt8]) throws(VaultError) -> [SealedRow] {
    try sql("sealing \(table.name) anew") { () throws(SQLiteError) in
      let select = try connection.prepare(
        "SELECT key, version, generation, day, due, overview, secret FROM \(table.name)"
          + " WHERE key > ?1 ORDER BY key LIMIT ?2", persistent: false)
      select.bind(1, bytes: key)
      select.bind(2, Self.page)
      var rows: [SealedRow] = []
      while try select.step() {
        rows.append(
          SealedRow(
            key: Key16(select.bytes(0)),
            numbers: (select.int(1), select.int(2), select.int(3), select.int(4)),
            overview: select.bytes(5), secret: select.bytes(6)))
      }
      return rows
    }
  }

  /// A row sealed under the previous key, its secret sealed under the present one.
  private func reopened(_ found: SealedRow, _ table: TableID, previous: borrowing Keys)
    throws(VaultError) -> Row
  {
    func associated(_ column: Associated.Column, _ version: Int64) -> [UInt8] {
      Associated.row(
        vault: vault, epoch: previous.epoch, table: table, key: found.key, column: column,
        version: version
      ).array
    }
    do throws(SodiumError) {
      var overview: [UInt8] = []
      let overviewPlace = associated(.overview, found.numbers.version)
      let count = try AEAD.open(
        found.overview, associated: overviewPlace, key: previous.rows,
        into: &overview)
      overview.removeLast(overview.count - count)
      var box: [UInt8] = []
      if !found.secret.isEmpty {
        let secretPlace = associated(.secret, found.numbers.generation)
        let secret = try AEAD.open(
          found.secret, associated: secretPlace, key: previous.rows)
        box = seal(secret, table, found.key, generation: found.numbers.generation)
      }
      return Row(
        key: found.key, version: found.numbers.version, generation: found.numbers.generation,
        day: found.numbers.day, due: found.numbers.due,
        overview: try Padding.unpadded(overview, block: table.overviewBlock), sealedSecret: box)
    } catch {
      throw .damagedRow(table, found.key.base32, "cannot be opened")
    }
  }

  private func clearTree(_ table: TableID) throws(VaultError) {
    try sql("sealing \(table.name) anew") { () throws(SQLiteError) in
      let first = StateTree.place(table, level: 0, index: 0)
      try connection.execute(
        "DELETE FROM node WHERE place >= \(first) AND place < \(first + 1 << 48)")
    }
    tree.forget()
    state[table] = StateRecord.Table()
  }

  private func resealEntries(
    previous: borrowing Keys, done: inout UInt64, progress: (UInt64) -> Void
  ) throws(VaultError) {
    let select = try sql("sealing the ledger anew") { () throws(SQLiteError) in
      try connection.prepare("SELECT body FROM entry WHERE number = ?1", persistent: false)
    }
    let update = try sql("sealing the ledger anew") { () throws(SQLiteError) in
      try connection.prepare("UPDATE entry SET body = ?2 WHERE number = ?1", persistent: false)
    }
    var body: [UInt8] = []
    for number in 0..<state.ledgerSize {
      let place = Associated.entry(vault: vault, epoch: previous.epoch, number: number)
      select.bind(1, Int64(number))
      let found = try sql("reading the ledger") { () throws(SQLiteError) in try select.step() }
      guard found else { throw .damagedEntry(number, "it is missing") }
      do throws(SodiumError) {
        let count = try select.withBlob(0) { (box: RawSpan) throws(SodiumError) -> Int in
          try place.withBytes { (place: RawSpan) throws(SodiumError) -> Int in
            try AEAD.open(box, associated: place, key: previous.ledger, into: &body)
          }
        }
        body.removeLast(body.count - count)
      } catch {
        throw .damagedEntry(number, "its body cannot be opened")
      }
      select.reset()
      update.bind(1, Int64(number))
      update.bind(2, bytes: sealed(body, number: number))
      try sql("sealing the ledger anew") { () throws(SQLiteError) in try update.run() }
      done += 1
      if done % 4096 == 0 { progress(done) }
    }
  }
}
