import FileSystem
public import Time
public import Faults
import Accounts
import Encoding
import Ledger
import Sodium
import Store

/// A way of unlocking, without its secret.
public struct KeyInfo: Sendable {
  /// The number that a person names it by.
  public let number: Int
  /// `passphrase`, `key_file` or `recovery`.
  public let kind: String
  /// Midnight, UTC, of the day on which it was made.
  public let createdAt: Timestamp
  /// Argon2id's memory in bytes; nil for random keys.
  public let memoryBytes: UInt64?
  /// Argon2id's passes; nil for random keys.
  public let operations: Int?
  /// Whether this session was unlocked with it.
  public let isInUse: Bool
}

/// A recovery code, which is shown once.
public struct RecoveryKey: ~Copyable, Sendable {
  /// The slot that it opens.
  public let key: KeyInfo
  /// The code's text, which nobody can show again.
  public let code: Secret
}

/// What a new vault key left of the ways of unlocking.
public struct RotatedKey: ~Copyable, Sendable {
  /// Shown once; in the place of the one that was removed.
  public var recoveryCode: Secret?
  /// The ways of unlocking that went, since their secrets were not at hand.
  public let removed: [KeyInfo]
  /// Which vault key this is: one more each time.
  public let epoch: UInt64
  /// How many rows and entries were sealed anew.
  public let rows: UInt64
  /// False where pages that the old key sealed may still lie in the file's free space or its log: the
  /// disk was too full to write the file anew, or another process is using it.
  public let isCompacted: Bool
}

extension Session {
  /// The ways of unlocking, by number.
  public func keys() throws(VaultError) -> [KeyInfo] {
    try store.read { () throws(VaultError) in
      try store.slots().map { slot in
        KeyInfo(
          number: Int(slot.number), kind: slot.kind.name,
          createdAt: Timestamp(seconds: slot.createdDay * 86_400),
          memoryBytes: slot.kind == .passphrase ? slot.hash.memoryBytes : nil,
          operations: slot.kind == .passphrase ? Int(slot.hash.operations) : nil,
          isInUse: slot.id == store.file.openedSlot)
      }
    }
  }

  /// How dear a guess of the present passphrase is; what is right for this machine where there is
  /// none.
  public func passphraseCost() throws(VaultError) -> KeyDerivationCost {
    let present = try keys().first { $0.kind == "passphrase" }
    guard let present, let memory = present.memoryBytes, let passes = present.operations else {
      return .forThisMachine
    }
    return KeyDerivationCost(memoryBytes: memory, operations: passes)
  }

  /// Adds a key file as a way of unlocking.
  ///
  /// - Parameter key: Its 32 bytes.
  public func addKeyFile(_ key: consuming Secret) throws(VaultError) -> KeyInfo {
    try Session.checkKeyFile(key)
    let known = try store.read { () throws(VaultError) in
      try store.slot(opening: key.bytes, kind: .keyFile)
    }
    if let known {
      throw VaultError(
        .exists, "that key file opens the vault already, as key \(known.number)",
        hint: "vault keys")
    }
    return try add(.keyFile, key.bytes)
  }

  /// Adds a recovery code and answers it; it is shown once.
  public func addRecovery() throws(VaultError) -> RecoveryKey {
    let secret = SecretBytes.random(count: 32)
    let key = try add(.recovery, secret)
    return RecoveryKey(key: key, code: Session.code(of: secret))
  }

  private func add(_ kind: KeySlot.Kind, _ secret: borrowing SecretBytes) throws(VaultError)
    -> KeyInfo
  {
    let number = try store.write { () throws(VaultError) in
      let slot = try store.addSlot(
        kind, secret: secret, cost: KeyCost(memoryBytes: 0), day: today)
      try record(
        .keysChanged, reason: "added",
        details: [Entry.Detail("key", String(slot.number)), Entry.Detail("kind", kind.name)])
      return Int(slot.number)
    }
    return try keys().first { $0.number == number }!
  }

  /// Removes a way of unlocking. Older copies of the file still open with it.
  ///
  /// - Throws: ``VaultError``: `notFound`; `usage` for the last one.
  /// - Returns: False where a reader of another process still needs the log, in which it stands.
  @discardableResult
  public func removeKey(_ number: Int) throws(VaultError) -> Bool {
    try store.write { () throws(VaultError) in
      guard let slot = try store.slots().first(where: { Int($0.number) == number }) else {
        throw VaultError(.notFound, "no key \(number)", hint: "vault keys")
      }
      try store.removeSlot(slot.id)
      try record(
        .keysChanged, reason: "removed",
        details: [Entry.Detail("key", String(number)), Entry.Detail("kind", slot.kind.name)])
    }
    return try store.scrub()
  }

  /// Puts a new passphrase in the place of the old one, in one transaction.
  ///
  /// An older copy of the file with the older passphrase still gives the vault's key; only
  /// ``rotateKey(with:cost:progress:)`` ends that.
  ///
  /// - Returns: False where a reader of another process still needs the log.
  @discardableResult
  public func changePassphrase(to passphrase: consuming Secret, cost: KeyDerivationCost)
    throws(VaultError) -> Bool
  {
    guard passphrase.count > 0 else {
      throw VaultError(.usage, "the new passphrase is empty")
    }
    try store.write { () throws(VaultError) in
      let slot = try store.replacePassphrase(
        with: passphrase.bytes, cost: try cost.checked(), day: today)
      try record(
        .keysChanged, reason: "passphrase changed",
        details: [Entry.Detail("key", String(slot.number))])
    }
    return try store.scrub()
  }

  /// Gives the vault a new key and seals every row anew under it.
  ///
  /// One transaction: a kill leaves the old key with everything, or the new one. Everything is
  /// verified first. The way of unlocking in use stays; the others are removed, since their secrets
  /// are not at hand, and a new recovery code is made where there was one.
  ///
  /// - Parameter key: The secret in use, once more.
  /// - Returns: The new recovery code, and which keys were removed.
  public func rotateKey(
    with key: consuming Key, cost: KeyDerivationCost, progress: (UInt64) -> Void = { _ in }
  ) throws(VaultError) -> RotatedKey {
    let before = try keys()
    let hadRecovery = before.contains { $0.kind == "recovery" }
    let kind: KeySlot.Kind
    let secret: SecretBytes
    switch consume key {
    case .keyFile(let value):
      kind = .keyFile
      secret = value.bytes
    case .passphrase(let value):
      if let code = RecoveryCode.parse(value.bytes) {
        kind = .recovery
        secret = code
      } else {
        kind = .passphrase
        secret = value.bytes
      }
    case .lent: throw .secretNeeded
    }
    let recovery = SecretBytes.random(count: 32)
    let makesRecovery = hadRecovery && kind != .recovery
    try store.read { () throws(VaultError) in try verifyLedger(progress: progress) }
    let checkedCost = try cost.checked()
    let day = today
    var gone: [Int] = []
    try store.rotate(
      kind: kind, secret: secret, cost: checkedCost, day: day, progress: progress
    ) { (removed) throws(VaultError) in
      gone = removed.map { Int($0.number) }
      if makesRecovery {
        _ = try store.addSlot(.recovery, secret: recovery, cost: checkedCost, day: day)
      }
      try record(
        .keysChanged, reason: "new vault key",
        details: removed.map { Entry.Detail("removed", "\($0.number) \($0.kind.name)") })
    }
    // The new key holds already: a disk too full for this must not cost the owner the code.
    let isCompacted = (try? store.compact()) != nil
    return RotatedKey(
      recoveryCode: makesRecovery ? Session.code(of: recovery) : nil,
      removed: before.filter { gone.contains($0.number) }, epoch: store.state.keyEpoch,
      rows: store.state.tables.reduce(store.state.ledgerSize) { $0 + $1.rows },
      isCompacted: isCompacted)
  }

  static func code(of secret: borrowing SecretBytes) -> Secret {
    Secret(RecoveryCode.text(of: secret))
  }

  static func checkKeyFile(_ key: borrowing Secret) throws(VaultError) {
    guard key.count == 32 else {
      throw VaultError(
        .usage, "a key file holds 32 random bytes, this one \(key.count)",
        hint: "vault add-key --key-file FILE")
    }
  }
}

extension VaultError {
  /// A new key must be wrapped under a secret, and the vault's own key is none.
  static let secretNeeded = VaultError(
    .locked, "this needs a passphrase or key file, and a lent key is neither",
    hint: "export VAULT_PASSPHRASE_FILE=FILE")
}

/// How dear a guess of the passphrase is made.
public struct KeyDerivationCost: Sendable {
  /// Bytes of memory, from 19 MiB to 1 GiB.
  public var memoryBytes: UInt64
  /// Passes, from 1 to 10.
  public var operations: Int

  /// Settings that are checked where they are used, not here.
  public init(memoryBytes: UInt64, operations: Int = 3) {
    self.memoryBytes = memoryBytes
    self.operations = operations
  }

  /// Chosen by this machine's memory: 64 MiB below 1 GiB of it, else 256 MiB; 3 passes.
  public static var forThisMachine: KeyDerivationCost {
    let cost = KeyCost.forMachine(memoryBytes: MachineMemory.bytes)
    return KeyDerivationCost(memoryBytes: cost.memoryBytes, operations: Int(cost.operations))
  }

  func checked() throws(VaultError) -> KeyCost {
    guard (19 << 20...1 << 30).contains(memoryBytes), (1...10).contains(operations) else {
      throw VaultError(
        .usage, "the key settings must be 19 MiB to 1 GiB of memory and 1 to 10 passes",
        hint: "vault init --kdf-memory 256M")
    }
    return KeyCost(operations: UInt32(operations), memoryBytes: memoryBytes)
  }
}
