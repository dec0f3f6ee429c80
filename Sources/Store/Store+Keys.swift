package import Encoding
package import Faults
import SQLite
package import Sodium

/// The key of an unlocked vault, for more stores of the same file in this process. It is kept nowhere
/// else, and is worth as much as every secret in the vault.
package struct UnlockedKey: Sendable {
  let vault: Key16
  let epoch: UInt64
  let key: SharedSecret
  /// The slot that opened the first store.
  let slot: Key16?
}

extension UnlockedKey {
  private static let vaultTag: UInt8 = 1
  private static let epochTag: UInt8 = 2
  private static let keyTag: UInt8 = 3
  private static let slotTag: UInt8 = 4

  /// As bytes, for another process of the same owner: each value a field.
  package var bytes: SecretBytes {
    var writer = SecretWriter(capacity: 96)
    vault.withBytes { writer.field(Self.vaultTag, $0) }
    let number = epoch.bigEndian
    // The number's own eight bytes, lent for the call.
    unsafe withUnsafeBytes(of: number) { unsafe writer.field(Self.epochTag, $0.bytes) }
    writer.field(Self.keyTag, key.bytes)
    if let slot { slot.withBytes { writer.field(Self.slotTag, $0) } }
    return writer.finish()
  }

  /// Reads ``bytes``; nil where they are no such key.
  package init?(_ bytes: borrowing SecretBytes) {
    guard let vault = Self.key16(Self.vaultTag, of: bytes),
      let epoch = try? SecretFields.field(Self.epochTag, of: bytes), epoch.count == 8,
      let key = try? SecretFields.field(Self.keyTag, of: bytes), key.count == 32
    else { return nil }
    self.vault = vault
    // Eight bytes, as was looked; any of them make a number.
    self.epoch = epoch.withBytes { unsafe UInt64(bigEndian: $0.unsafeLoad(as: UInt64.self)) }
    self.key = SharedSecret(key)
    slot = Self.key16(Self.slotTag, of: bytes)
  }

  private static func key16(_ tag: UInt8, of bytes: borrowing SecretBytes) -> Key16? {
    guard let field = try? SecretFields.field(tag, of: bytes), field.count == 16 else {
      return nil
    }
    return field.withBytes { Key16($0) }
  }
}

extension VaultFile {
  /// Unlocks the file with the key of a store that was unlocked before.
  ///
  /// - Throws: ``VaultError``: `damaged` where it is another vault by now; as any unlocking where it has
  ///   another key.
  package func unlock(with unlocked: UnlockedKey) throws(VaultError) -> Store {
    guard state.vault == unlocked.vault else {
      throw VaultError(
        .damaged, "\(path) is another vault than the one that was unlocked", hint: "vault doctor",
        reason: .forked)
    }
    openedSlot = unlocked.slot
    return try Store(
      file: self, keys: Keys(vaultKey: unlocked.key.bytes.copy(), epoch: unlocked.epoch))
  }
}

extension Store {
  /// What opens another store of this vault.
  package var unlockedKey: UnlockedKey {
    UnlockedKey(
      vault: vault, epoch: keys.epoch, key: SharedSecret(keys.vaultKey.copy()),
      slot: file.openedSlot)
  }

  /// The key slots, as they stand in this transaction, held against the state.
  package func slots() throws(VaultError) -> [KeySlot] {
    let slots = try VaultFile.readSlots(connection)
    guard KeySlot.digest(of: slots, vault: state.vault) == state.slots else {
      throw .damagedSlots("they are not the ones that the vault wrote")
    }
    return slots
  }

  /// Adds a way of unlocking.
  package func addSlot(
    _ kind: KeySlot.Kind, secret: borrowing SecretBytes, cost: KeyCost, day: Int64
  ) throws(VaultError) -> KeySlot {
    precondition(isWriting, "slots change inside a write")
    var slots = try slots()
    let number = (slots.map(\.number).max() ?? 0) + 1
    let slot = try KeySlot.wrap(
      keys.vaultKey, vault: vault, epoch: keys.epoch, kind: kind, number: number, secret: secret,
      cost: cost, day: day)
    try insert(slot)
    slots.append(slot)
    state.slots = KeySlot.digest(of: slots, vault: vault)
    return slot
  }

  /// The slot of a kind that a random key opens, where there is one.
  package func slot(opening secret: borrowing SecretBytes, kind: KeySlot.Kind)
    throws(VaultError) -> KeySlot?
  {
    for slot in try slots() where slot.kind == kind {
      if try slot.unwrap(with: secret, vault: vault, allowExpensive: false) != nil { return slot }
    }
    return nil
  }

  /// Removes a way of unlocking; the last one stays.
  ///
  /// An older copy of the file still opens with what was removed, and gives the same vault key: only
  /// a new vault key (``rotate(unlockedBy:secret:cost:day:progress:)``) ends that.
  package func removeSlot(_ id: Key16) throws(VaultError) {
    precondition(isWriting, "slots change inside a write")
    let slots = try slots()
    guard let slot = slots.first(where: { $0.id == id }) else {
      throw VaultError(.notFound, "no such key", hint: "vault keys")
    }
    guard slots.count > 1 else {
      throw VaultError(
        .usage, "key \(slot.number) is the last one: without it nobody can open the vault",
        hint: "vault add-key --recovery")
    }
    try delete(slot)
    state.slots = KeySlot.digest(of: slots.filter { $0.id != id }, vault: vault)
  }

  /// Puts a new passphrase in the place of all that there are, in the caller's transaction.
  package func replacePassphrase(
    with passphrase: borrowing SecretBytes, cost: KeyCost, day: Int64
  ) throws(VaultError) -> KeySlot {
    let old = try slots().filter { $0.kind == .passphrase }
    let slot = try addSlot(.passphrase, secret: passphrase, cost: cost, day: day)
    for slot in old { try removeSlot(slot.id) }
    return slot
  }

  /// Copies the log into the file and empties it, so that what was deleted is on the disk no more.
  ///
  /// - Returns: False where a reader of another process still needs the log.
  package func scrub() throws(VaultError) -> Bool {
    try sql("emptying the vault's log") { () throws(SQLiteError) in
      for _ in 0..<3 where try connection.checkpointTruncate() { return true }
      return false
    }
  }

  /// Gives freed pages back, wiped, and empties the log.
  package func compact() throws(VaultError) {
    precondition(!isWriting && !isReading, "compacting is no part of a transaction")
    try sql("compacting the vault") { () throws(SQLiteError) in
      try connection.execute("VACUUM")
      _ = try connection.checkpointTruncate()
    }
  }

  func insert(_ slot: KeySlot) throws(VaultError) {
    try sql("writing a key slot") { () throws(SQLiteError) in
      let insert = try connection.prepare(
        "INSERT INTO slot (id, body, box) VALUES (?1, ?2, ?3)", persistent: false)
      slot.id.withBytes { insert.bind(1, blob: $0) }
      insert.bind(2, bytes: slot.body)
      insert.bind(3, bytes: slot.box)
      try insert.run()
    }
  }

  func delete(_ slot: KeySlot) throws(VaultError) {
    try sql("removing a key slot") { () throws(SQLiteError) in
      let delete = try connection.prepare("DELETE FROM slot WHERE id = ?1", persistent: false)
      slot.id.withBytes { delete.bind(1, blob: $0) }
      try delete.run()
    }
  }
}
