import Encoding
package import Faults
import SQLite
import Sodium

extension Store {
  /// Checks every row of every table, the tree, the slots, the schema and SQLite's own structure.
  ///
  /// The ledger is the business of whoever knows its entries.
  ///
  /// - Parameter progress: Told now and then how many rows are done.
  /// - Returns: The names of what was checked.
  /// - Throws: ``VaultError`` for the first thing that is wrong, with its place.
  @discardableResult
  package func verifyRows(progress: (UInt64) -> Void) throws(VaultError) -> [String] {
    precondition(isReading || isWriting, "a check is made on one snapshot")
    try reauthenticate()
    // What was checked before and is remembered says nothing of the file as it is now.
    tree.forgetChecked()
    try verifyStructure()
    var done: UInt64 = 0
    for table in TableID.allCases {
      var rows: UInt64 = 0
      try forEachRow(table) { (row) throws(VaultError) in
        if !row.sealedSecret.isEmpty { _ = try secret(of: row, in: table) }
        rows += 1
        done += 1
        if done % 4096 == 0 { progress(done) }
        return true
      }
      guard rows == state[table].rows else {
        throw .damagedTree(table, "it has \(rows) rows, \(state[table].rows) were written")
      }
    }
    try verifyNodes()
    _ = try slots()
    return ["file", "schema", "key slots", "rows", "state tree"]
  }

  /// SQLite's own check, and that no table has grown beside those that the vault made. An index entry
  /// that is missing while its row is there is found by nothing else.
  private func verifyStructure() throws(VaultError) {
    let findings = try sql("checking the file") { () throws(SQLiteError) in
      try connection.integrityCheck()
    }
    if let first = findings.first {
      throw VaultError(
        .damaged, "vault file is damaged: \(first)", hint: VaultError.restoreHint,
        reason: .damagedFile)
    }
    let schema = try sql("checking the file") { () throws(SQLiteError) in
      try Schema.digest(of: connection)
    }
    guard schema == state.schema else {
      throw .damagedState("its tables are not the ones that the vault made")
    }
    let states = try sql("checking the file") { () throws(SQLiteError) in
      try connection.integer("SELECT count(*) FROM state")
    }
    guard states == 1 else { throw .damagedState("there are \(states) state rows") }
  }

  /// Every stored node must be one that the tree reaches, and hold something: an empty one is as good
  /// as none to every look, and the vault never wrote it.
  private func verifyNodes() throws(VaultError) {
    let scan = try sql("checking the state tree") { () throws(SQLiteError) in
      try connection.prepare(
        "SELECT place, length(content) FROM node ORDER BY place", persistent: false)
    }
    while try sql("checking the state tree", { () throws(SQLiteError) in try scan.step() }) {
      let place = scan.int(0)
      guard let table = TableID(rawValue: UInt8(truncatingIfNeeded: place >> 48)), place >> 56 == 0
      else { throw .damagedState("the state tree has a node of no table") }
      let level = UInt8(truncatingIfNeeded: place >> 40)
      let index = UInt64(place) & (1 << 40 - 1)
      let depth = state[table].depth
      guard level <= depth, index < 1 << (6 * UInt64(depth - level)), scan.int(1) > 0 else {
        throw .damagedTree(table, "node \(level)/\(index) belongs nowhere")
      }
    }
  }
}
