import Time
public import Faults
import Accounts
import Encoding
import Ledger
import Sodium
import Store

extension Vault {
  /// What a new vault shall be.
  public struct CreationOptions: Sendable {
    /// Whether a recovery code is made.
    public var makesRecoveryCode = true
    /// How dear a guess of the passphrase is.
    public var cost = KeyDerivationCost.forThisMachine
    /// What a missing head shall mean later.
    public var anchor = AnchorRule.adopt
    /// Where the head is kept, for a place of its own such as another disk.
    public var anchorPath: String?
    /// Makes it even where locks and syncs cannot be trusted.
    public var allowsNetworkFileSystem = false
    /// How the new vault is unlocked.
    public var session = UnlockOptions()

    /// With a recovery code, costs by the machine's memory, and a head at the usual place.
    public init() {}
  }

  /// What happens where the head outside the file is missing.
  public enum AnchorRule: String, Sendable, CaseIterable {
    /// It is taken anew, with a warning and an entry.
    case adopt
    /// Everything but looking is refused.
    case required
    /// None is kept: an older copy of the file put back is not found.
    case none
  }

  /// Makes a vault at `path` and unlocks it.
  ///
  /// Missing directories are made, closed to others. The file appears whole or not at all.
  ///
  /// - Parameters:
  ///   - passphrase: One way of unlocking it; not empty.
  ///   - keyFile: Another: 32 random bytes.
  /// - Throws: ``VaultError``: `exists`; `locked` where neither is given; `usage`; `io`.
  /// - Returns: The session, and the recovery code, which is shown once.
  public static func create(
    at path: String, passphrase: consuming Secret?, keyFile: consuming Secret?,
    options: CreationOptions = CreationOptions()
  ) throws(VaultError) -> CreatedVault {
    let cost = try options.cost.checked()
    var phrase: SecretBytes?
    if let passphrase = consume passphrase {
      guard passphrase.count > 0 else {
        throw VaultError(.usage, "the passphrase is empty", hint: "vault init")
      }
      phrase = consume passphrase.bytes
    }
    var key: SecretBytes?
    if let keyFile = consume keyFile {
      try Session.checkKeyFile(keyFile)
      key = consume keyFile.bytes
    }
    var recovery: SecretBytes?
    var code: Secret?
    if options.makesRecoveryCode {
      let secret = SecretBytes.random(count: 32)
      code = Session.code(of: secret)
      recovery = consume secret
    }
    let now = options.session.clock.now()
    let creation = VaultCreation(
      passphrase: phrase, keyFile: key, recovery: recovery, cost: cost,
      anchor: AnchorPolicy(AnchorPolicy.Kind(options.anchor), path: options.anchorPath),
      allowNetworkFileSystem: options.allowsNetworkFileSystem, machine: Machine.id ?? [],
      day: now.seconds / 86_400)
    let store = try creation.make(at: path) { (store) throws(VaultError) in
      let entry = Entry(
        number: 0, time: now, event: .vaultCreated, actor: options.session.actor)
      try store.write { () throws(VaultError) in try LedgerRows(store).append(entry) }
      // Its head comes before the file gets its name, so that where there is no place for the head
      // there is no vault either, whose recovery code nobody has seen.
      _ = try Session(store, options: options.session, isNew: true)
    }
    let session = try Session(store, options: options.session, isNew: true)
    return CreatedVault(session: session, recoveryCode: code)
  }
}

/// A vault that has just been made.
@frozen public struct CreatedVault: ~Copyable {
  /// The new vault, unlocked.
  public var session: Session
  /// Shown once; whoever has it opens the vault.
  public var recoveryCode: Secret?

  /// The session alone; the recovery code is wiped.
  public consuming func takeSession() -> Session { session }
}

extension AnchorPolicy.Kind {
  init(_ rule: Vault.AnchorRule) {
    switch rule {
    case .adopt: self = .adopt
    case .required: self = .required
    case .none: self = .none
    }
  }
}
