import Encoding
package import Faults
import FileSystem
import Migrations
import SQLite
package import Sodium

/// What a new vault shall be.
package struct VaultCreation: ~Copyable {
  package var passphrase: SecretBytes?
  package var keyFile: SecretBytes?
  /// The 32 random bytes of the recovery code.
  package var recovery: SecretBytes?
  package var cost: KeyCost
  package var anchor: AnchorPolicy
  package var allowNetworkFileSystem: Bool
  /// The machine's id, or empty where it has none.
  package var machine: [UInt8]
  /// Today, in days since 1970.
  package var day: Int64

  package init(
    passphrase: consuming SecretBytes?, keyFile: consuming SecretBytes?,
    recovery: consuming SecretBytes?, cost: KeyCost, anchor: AnchorPolicy = AnchorPolicy(.adopt),
    allowNetworkFileSystem: Bool = false, machine: [UInt8] = [], day: Int64
  ) {
    self.passphrase = passphrase
    self.keyFile = keyFile
    self.recovery = recovery
    self.cost = cost
    self.anchor = anchor
    self.allowNetworkFileSystem = allowNetworkFileSystem
    self.machine = machine
    self.day = day
  }

  /// Makes the vault at `path` and opens it.
  ///
  /// The file is made whole under another name and gets its own only then, so a kill leaves no half a
  /// vault; a name that is taken is never written over.
  ///
  /// - Parameter first: Runs in the first write, for the entry that the vault was made.
  /// - Parameter first: Runs on the unlocked draft: writes the entry that the vault was made, and its
  ///   head.
  /// - Throws: ``VaultError``: `exists`, `io`, `usage` for a path that names no file.
  package consuming func make(
    at path: String, first: (Store) throws(VaultError) -> Void
  ) throws(VaultError) -> Store {
    let place = try VaultPlace(new: path, allowNetworkFileSystem: allowNetworkFileSystem)
    let draft = "\(place.path).new-\(Hex.encode(Random.bytes(6)))"
    try files("making \(place.path)") { () throws(FileError) in
      _ = try Files.createNew(draft, mode: 0o600)
    }
    do throws(VaultError) {
      let vaultKey = SecretBytes.random(count: 32)
      try fill(draft, vaultKey: vaultKey, onNetwork: place.isOnNetwork)
      try Draft.use(draft) { (file) throws(VaultError) in
        let store = try Store(file: file, keys: Keys(vaultKey: vaultKey.copy(), epoch: 1))
        try first(store)
      }
      try files("making \(place.path)") { () throws(FileError) in
        try Files.publish(draft, as: place.path)
      }
      let file = try VaultFile(
        opening: place.path, allowNetworkFileSystem: allowNetworkFileSystem)
      return try Store(file: file, keys: Keys(vaultKey: vaultKey, epoch: 1))
    } catch {
      Draft.discard(draft)
      throw error
    }
  }

  private func fill(_ draft: String, vaultKey: borrowing SecretBytes, onNetwork: Bool)
    throws(VaultError)
  {
    let vault = Random.key16()
    // The first branch bears the vault's own id.
    var state = StateRecord(vault: vault, branch: vault, createdDay: day)
    state.isOnNetworkFileSystem = onNetwork
    let slots = try slots(vault: vault, vaultKey: vaultKey)
    state.slots = KeySlot.digest(of: slots, vault: vault)
    let keys = Keys(vaultKey: vaultKey.copy(), epoch: 1)
    let keyring = Keyring.new(anchor: anchor)
    if !machine.isEmpty {
      state.machine = KeyedHash.digest16(machine, key: keyring.blind)
    }
    let sealedKeyring = keyring.sealed(vault: vault, keys: keys)
    try sql("making \(draft)") { () throws(SQLiteError) in
      let connection = try Connection.open(draft, .createdByUs)
      try connection.harden()
      try connection.execute("PRAGMA application_id = \(VaultFile.applicationID)")
      try connection.execute("BEGIN IMMEDIATE")
      try Schema.create(in: connection)
      state.schema = try Schema.digest(of: connection)
      try Self.insert(slots, in: connection)
      let body = state.encoded()
      let code = Store.code(body: body, keyring: sealedKeyring, keys: keys)
      let insert = try connection.prepare(
        "INSERT INTO state (id, body, keyring, code) VALUES (1, ?1, ?2, ?3)", persistent: false)
      insert.bind(1, bytes: body)
      insert.bind(2, bytes: sealedKeyring)
      insert.bind(3, bytes: code.bytes)
      try insert.run()
      try connection.execute("COMMIT")
    }
  }

  private func slots(vault: Key16, vaultKey: borrowing SecretBytes) throws(VaultError) -> [KeySlot]
  {
    var slots: [KeySlot] = []
    func add(_ kind: KeySlot.Kind, _ secret: borrowing SecretBytes) throws(VaultError) {
      slots.append(
        try KeySlot.wrap(
          vaultKey, vault: vault, epoch: 1, kind: kind, number: UInt32(slots.count + 1),
          secret: secret, cost: cost, day: day))
    }
    if passphrase != nil { try add(.passphrase, passphrase!) }
    if keyFile != nil { try add(.keyFile, keyFile!) }
    if recovery != nil { try add(.recovery, recovery!) }
    guard !slots.isEmpty else {
      throw VaultError(.locked, "a vault needs a passphrase or a key file")
    }
    return slots
  }

  private static func insert(_ slots: [KeySlot], in connection: Connection) throws(SQLiteError) {
    let insert = try connection.prepare(
      "INSERT INTO slot (id, body, box) VALUES (?1, ?2, ?3)", persistent: false)
    for slot in slots {
      insert.bind(1, bytes: slot.id.bytes)
      insert.bind(2, bytes: slot.body)
      insert.bind(3, bytes: slot.box)
      try insert.run()
    }
  }
}
