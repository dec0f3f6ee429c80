import Encoding
package import Faults
import SQLite

/// What can be seen, and checked, without a key.
extension VaultFile {
  /// Runs `body` on one snapshot with the state as it stands there.
  package func read<R>(_ body: (StateRecord) throws(VaultError) -> R) throws(VaultError) -> R {
    let (state, slots) = try Self.readClear(connection)
    guard KeySlot.digest(of: slots, vault: state.vault) == state.slots else {
      throw .damagedSlots("they are not the ones that the vault was closed with")
    }
    return try body(state)
  }

  /// SQLite's own check of the file.
  package func verifyStructure() throws(VaultError) {
    let findings = try sql("checking the file") { () throws(SQLiteError) in
      try connection.integrityCheck()
    }
    if let first = findings.first {
      throw VaultError(
        .damaged, "vault file is damaged: \(first)", hint: VaultError.restoreHint,
        reason: .damagedFile)
    }
  }

  /// Lends the leaf and the hashes of every entry, in order; none may be missing or too many.
  package func lendEntries(
    _ size: UInt64, _ body: (UInt64, RawSpan, RawSpan) throws(VaultError) -> Void
  ) throws(VaultError) {
    let scan = try sql("reading the ledger") { () throws(SQLiteError) in
      try connection.prepare(
        "SELECT number, leaf, hashes FROM entry ORDER BY number", persistent: false)
    }
    var expected: UInt64 = 0
    while try sql("reading the ledger", { () throws(SQLiteError) in try scan.step() }) {
      guard UInt64(bitPattern: scan.int(0)) == expected, expected < size else {
        throw .damagedEntry(expected, "it is missing, or the ledger's end was cut off or grown")
      }
      try scan.withBlob(1) { (leaf: RawSpan) throws(VaultError) in
        try scan.withBlob(2) { (hashes: RawSpan) throws(VaultError) in
          try body(expected, leaf, hashes)
        }
      }
      expected += 1
    }
    guard expected == size else { throw .damagedEntry(expected, "it is missing") }
  }
}
