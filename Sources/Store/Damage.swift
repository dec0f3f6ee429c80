import Encoding
package import Faults

/// The ways in which a file turns out not to be what it was.
///
/// Each says what and where, and never shows a value. None of them changes the file.
extension VaultError {
  static let restoreHint = "vault restore BACKUP --to PATH"

  static func damagedState(_ what: String) -> VaultError {
    VaultError(
      .damaged, "vault is damaged or was altered: \(what)", hint: restoreHint, reason: .damagedState
    )
  }

  static func damagedRow(_ table: TableID, _ key: String, _ what: String) -> VaultError {
    VaultError(
      .damaged, "row \(key) of \(table.name): \(what)", hint: "vault verify", reason: .damagedRow)
  }

  static func alteredRow(_ table: TableID, _ key: Key16) -> VaultError {
    .damagedRow(table, key.base32, "altered, or an older version of itself")
  }

  static func removedRow(_ table: TableID, _ key: Key16) -> VaultError {
    .damagedRow(table, key.base32, "removed behind the vault's back")
  }

  static func addedRow(_ table: TableID, _ key: Key16) -> VaultError {
    .damagedRow(table, key.base32, "added behind the vault's back")
  }

  static func damagedTree(_ table: TableID, _ what: String) -> VaultError {
    VaultError(
      .damaged, "state tree of \(table.name): \(what)", hint: "vault verify", reason: .damagedRow)
  }

  static func damagedSlots(_ what: String) -> VaultError {
    VaultError(.damaged, "key slots: \(what)", hint: restoreHint, reason: .damagedSlot)
  }

  package static func damagedEntry(_ number: UInt64, _ what: String) -> VaultError {
    VaultError(
      .damaged, "entry \(number) of the ledger: \(what)", hint: restoreHint,
      reason: .damagedLedger)
  }
}
