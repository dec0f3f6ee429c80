import Encoding
public import Faults
public import Time
import FileSystem
import Sodium
import Store
import Synchronization

/// A vault file, open and locked.
///
/// Opening needs no secret and shows nothing that the file does not show to everybody.
///
/// ```swift
/// let vault = try Vault.open(at: path)
/// let session = try vault.unlock(with: .passphrase(passphrase))
/// ```
public final class Vault: Sendable {
  /// The path that was opened, its links resolved.
  public let path: String
  /// The vault's id: 26 characters of lower-case base32. As it stands in the file, unproven.
  public let id: String
  /// How many accounts the file says it holds.
  public let accountCount: UInt64
  /// How many entries the file says its ledger has.
  public let entryCount: UInt64
  /// What was found amiss at opening and mended, such as a file that others could read.
  public let warnings: [String]

  private let file: Mutex<VaultFile?>
  private let allowNetworkFileSystem: Bool

  /// Opens the vault at `path`.
  ///
  /// - Parameter allowNetworkFileSystem: Opens it although locks and syncs cannot be trusted there;
  ///   with a rollback journal and locked for this process alone.
  /// - Parameter endsSoon: The process does one thing and ends, like a command: the file's log is kept
  ///   short, so that the next one opens it quickly.
  /// - Throws: ``VaultError``: `notFound`, `damaged` for foreign or damaged files, `newerFormat`,
  ///   `io`, `tryAgain`. The file is as it was.
  public static func open(
    at path: String, allowNetworkFileSystem: Bool = false, endsSoon: Bool = false
  ) throws(VaultError) -> Vault {
    let file = try VaultFile(opening: path, allowNetworkFileSystem: allowNetworkFileSystem)
    if endsSoon { try file.keepLogShort() }
    return Vault(file, allowNetworkFileSystem: allowNetworkFileSystem)
  }

  private init(_ file: consuming sending VaultFile, allowNetworkFileSystem: Bool) {
    path = file.path
    id = file.state.vault.base32
    accountCount = file.state[.account].rows
    entryCount = file.state.ledgerSize
    warnings = file.warnings
    self.allowNetworkFileSystem = allowNetworkFileSystem
    self.file = Mutex(file)
  }

  /// How ``unlock(with:options:)`` goes about it.
  public struct UnlockOptions: Sendable {
    /// Where heads are kept outside vault files; `nil` for `${XDG_STATE_HOME}/vault`.
    public var headDirectory: String?
    /// Tries key settings above the bound of 1 GiB and 10 passes.
    public var allowsExpensiveKeySettings = false
    /// Opens only to look: a head that does not fit refuses nothing, and a missing one is not taken
    /// anew. For `history`, `verify` and the acceptance of a file as it is.
    public var isLooking = false
    /// What time it is, for entries and ends of grants.
    public var clock = Clock.system
    /// Who acts, in the ledger's words.
    public var actor = "owner"

    /// As an owner at a terminal: the system's clock, the usual place for heads.
    public init() {}
  }

  /// Unlocks the vault; owning the result is being unlocked.
  ///
  /// The secret is consumed and wiped. A wrong one changes nothing.
  ///
  /// - Throws: ``VaultError``: `wrongKey`; `damaged`, where the file is not what the key wrote or is
  ///   older than the last head seen; `io`, where the machine lacks the memory.
  public func unlock(
    with key: consuming Key, options: UnlockOptions = UnlockOptions()
  ) throws(VaultError) -> Session {
    let file = try takeFile()
    let store: Store
    switch consume key {
    case .passphrase(let secret):
      store = try file.unlock(
        with: .passphrase(secret.bytes), allowExpensive: options.allowsExpensiveKeySettings)
    case .keyFile(let secret):
      store = try file.unlock(with: .keyFile(secret.bytes))
    case .lent(let secret):
      guard let unlocked = UnlockedKey(secret.bytes) else {
        throw VaultError(.wrongKey, "that is no key of an unlocked vault", hint: "vault status")
      }
      store = try file.unlock(with: unlocked)
    }
    return try Session(store, options: options)
  }

  func takeFile() throws(VaultError) -> VaultFile {
    if let file = file.withLock({ $0.take() }) { return file }
    return try VaultFile(opening: path, allowNetworkFileSystem: allowNetworkFileSystem)
  }
}
