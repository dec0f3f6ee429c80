import Encoding

/// The associated data of every seal in the file.
///
/// Each stops one way of moving a ciphertext to a place where it does not belong: to another vault,
/// table, row, column, version, key epoch or purpose. Every part has a fixed length or carries its
/// length, so no two different places give the same bytes.
enum Associated {
  enum Column: UInt8 {
    case overview = 1
    case secret = 2
  }

  /// A row's column: label, vault, key epoch, table, key, column, version of that column.
  static func row(
    vault: Key16, epoch: UInt64, table: TableID, key: Key16, column: Column, version: Int64
  ) -> AssociatedBytes {
    var out = AssociatedBytes("vault/row/1")
    out.key(vault)
    out.u64(epoch)
    out.u8(table.rawValue)
    out.key(key)
    out.u8(column.rawValue)
    out.u64(UInt64(bitPattern: version))
    return out
  }

  /// A ledger entry's body. An entry of the same number from a branch that was left behind opens
  /// too, but its leaf is not the one in the tree.
  static func entry(vault: Key16, epoch: UInt64, number: UInt64) -> AssociatedBytes {
    var out = AssociatedBytes("vault/entry/1")
    out.key(vault)
    out.u64(epoch)
    out.u64(number)
    return out
  }

  /// The keyring in the state row.
  static func keyring(vault: Key16, epoch: UInt64) -> [UInt8] {
    var out = Writer(capacity: 64)
    out.raw(keyringLabel)
    out.key(vault)
    out.u64(epoch)
    return out.bytes
  }

  /// The vault's key in a slot: the slot's clear bytes are in it, so a changed key setting fails by
  /// the tag and not by luck.
  static func slot(vault: Key16, id: Key16, body: [UInt8]) -> [UInt8] {
    var out = Writer(capacity: 96)
    out.raw(slotLabel)
    out.key(vault)
    out.key(id)
    out.field(body)
    return out.bytes
  }

  private static let keyringLabel = Array("vault/keyring/1".utf8)
  private static let slotLabel = Array("vault/slot/1".utf8)
}
