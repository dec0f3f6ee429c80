package import Encoding
import Faults
package import Sodium

/// What a person or a server shows to open the vault.
package enum UnlockSecret: ~Copyable {
  /// A passphrase, its bytes as they are; or a recovery code, known by its form.
  case passphrase(SecretBytes)
  /// The 32 bytes of a key file.
  case keyFile(SecretBytes)
}

/// One way of unlocking: the vault's key, wrapped.
package struct KeySlot: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    case passphrase = 1
    case keyFile = 2
    case recovery = 3

    package var name: String {
      switch self {
      case .passphrase: "passphrase"
      case .keyFile: "key_file"
      case .recovery: "recovery"
      }
    }
  }

  package static let version: UInt8 = 1

  package var id: Key16
  package var kind: Kind
  /// The order in which slots were made; it is the number that a person sees.
  package var number: UInt32
  package var keyEpoch: UInt64
  package var createdDay: Int64
  /// Cost settings and salt. Slots of random keys use only the salt.
  package var hash: PasswordHash
  var box: [UInt8] = []

  var body: [UInt8] {
    var out = Writer(capacity: 96)
    out.u8(Self.version)
    out.u8(kind.rawValue)
    out.u32(number)
    out.u64(keyEpoch)
    out.i64(createdDay)
    out.u32(hash.operations)
    out.u64(hash.memoryBytes)
    out.field(hash.salt)
    return out.bytes
  }

  init(id: Key16, body: [UInt8], box: [UInt8]) throws(VaultError) {
    do throws(EncodingError) {
      var from = Reader(body)
      guard try from.u8() == Self.version else { throw .notCanonical("version") }
      guard let kind = Kind(rawValue: try from.u8()) else { throw .notCanonical("kind") }
      self.id = id
      self.kind = kind
      number = try from.u32()
      keyEpoch = try from.u64()
      createdDay = try from.i64()
      let operations = try from.u32()
      let memory = try from.u64()
      let salt = try from.field()
      guard salt.count == 16 else { throw .notCanonical("salt") }
      hash = PasswordHash(operations: operations, memoryBytes: memory, salt: salt)
      try from.end()
    } catch {
      throw .damagedSlots("a slot cannot be read")
    }
    self.box = box
  }

  private init(kind: Kind, number: UInt32, keyEpoch: UInt64, createdDay: Int64, hash: PasswordHash)
  {
    id = Random.key16()
    self.kind = kind
    self.number = number
    self.keyEpoch = keyEpoch
    self.createdDay = createdDay
    self.hash = hash
  }

  /// Wraps the vault's key for one secret.
  ///
  /// - Parameter cost: The Argon2id settings of a passphrase slot; unused by the others, whose
  ///   secrets are random and cannot be guessed.
  /// - Throws: ``VaultError`` where the machine cannot give the memory.
  static func wrap(
    _ vaultKey: borrowing SecretBytes, vault: Key16, epoch: UInt64, kind: Kind, number: UInt32,
    secret: borrowing SecretBytes, cost: KeyCost, day: Int64
  ) throws(VaultError) -> KeySlot {
    var slot = KeySlot(
      kind: kind, number: number, keyEpoch: epoch, createdDay: day,
      hash: PasswordHash(
        operations: kind == .passphrase ? cost.operations : 0,
        memoryBytes: kind == .passphrase ? cost.memoryBytes : 0, salt: Random.bytes(16)))
    let wrappingKey = try slot.wrappingKey(from: secret, allowExpensive: cost.allowExpensive)
    let associated = Associated.slot(vault: vault, id: slot.id, body: slot.body)
    slot.box = AEAD.seal(vaultKey, associated: associated, key: wrappingKey)
    return slot
  }

  /// Opens the slot, or answers nil where the secret is not the right one.
  func unwrap(
    with secret: borrowing SecretBytes, vault: Key16, allowExpensive: Bool
  ) throws(VaultError) -> SecretBytes? {
    let wrappingKey = try wrappingKey(from: secret, allowExpensive: allowExpensive)
    let associated = Associated.slot(vault: vault, id: id, body: body)
    do throws(SodiumError) {
      let key = try AEAD.open(box, associated: associated, key: wrappingKey)
      if key.count != 32 { return nil }
      return key
    } catch {
      return nil
    }
  }

  private func wrappingKey(
    from secret: borrowing SecretBytes, allowExpensive: Bool
  ) throws(VaultError) -> SecretBytes {
    switch kind {
    case .passphrase:
      do throws(SodiumError) {
        // Before any memory is asked for: a hostile file may name four tebibytes.
        try hash.check(allowExpensive: allowExpensive)
        return try hash.derive(secret, allowExpensive: allowExpensive)
      } catch {
        throw KeyCost.refusal(error, of: hash)
      }
    case .keyFile, .recovery:
      // The label and the salt keep the two uses of random bytes, and two slots, apart.
      var hash = KeyedHash(key: secret, outputCount: 32)
      hash.update(kind == .keyFile ? Self.keyFileLabel : Self.recoveryLabel)
      hash.update(self.hash.salt)
      var raw = hash.finish32().bytes
      return SecretBytes(wiping: &raw)
    }
  }

  private static let keyFileLabel = Array("vault/slot/keyfile/1".utf8)
  private static let recoveryLabel = Array("vault/slot/recovery/1".utf8)

  /// The digest of all slots, bound into the state row: a slot that was added, removed or put back
  /// changes it. Unkeyed, so that plain damage is told from a wrong key before the key is known; the
  /// vault's id is in it because a slot cannot be opened under another.
  static func digest(of slots: [KeySlot], vault: Key16) -> Key16 {
    var out = Writer(capacity: 256)
    out.key(vault)
    out.u32(UInt32(slots.count))
    for slot in slots.sorted(by: { $0.id < $1.id }) {
      out.key(slot.id)
      out.field(slot.body)
      out.field(slot.box)
    }
    let digest = BLAKE2b.digest32(out.bytes)
    return Key16(Array(digest.bytes.prefix(16)))
  }
}

/// How dear one guess of the passphrase is made.
package struct KeyCost: Sendable {
  /// Passes over the memory, 1 to 10.
  package var operations: UInt32
  /// Bytes of memory, 19 MiB to 1 GiB for new slots (OWASP's floor; 8 MiB is still opened).
  package var memoryBytes: UInt64
  /// Whether settings above the bound are tried all the same.
  package var allowExpensive = false

  package init(operations: UInt32 = 3, memoryBytes: UInt64, allowExpensive: Bool = false) {
    self.operations = operations
    self.memoryBytes = memoryBytes
    self.allowExpensive = allowExpensive
  }

  /// Chosen by the machine's memory: 64 MiB below 1 GiB of it, else 256 MiB.
  ///
  /// Source: libsodium's MODERATE is 256 MiB and 3 passes.
  package static func forMachine(memoryBytes: UInt64) -> KeyCost {
    KeyCost(memoryBytes: memoryBytes < 1 << 30 ? 64 << 20 : 256 << 20)
  }

  static func refusal(_ error: SodiumError, of hash: PasswordHash) -> VaultError {
    let needed = "\(hash.memoryBytes >> 20) MiB"
    switch error {
    case .tooExpensive:
      return VaultError(
        .damaged,
        "the vault's key settings ask for \(needed) and \(hash.operations) passes, above the bound",
        hint: "vault keys --allow-expensive-kdf", reason: .tooExpensive)
    case .outOfMemory:
      return VaultError(
        .io, "not enough memory for this vault's key settings (needs \(needed))",
        hint: "vault keys --key-file FILE",
        reason: .outOfMemory)
    default:
      return .damagedSlots("the key settings are not valid")
    }
  }
}
