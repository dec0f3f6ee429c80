/// Why the vault refused or could not do something: one type for every public call.
///
/// `code` is the row of the exit code table that a script sees; `reason` is the finer name that a
/// program can act on; `message` names the thing, and `hint` a command that helps. No text here ever
/// holds a secret.
public struct VaultError: Error, Equatable, Sendable {
  /// The rows of the exit code table; the raw value is the `code` of `--json` errors.
  public enum Code: String, Sendable, CaseIterable {
    case failed
    case usage
    case damaged
    case notFound = "not_found"
    case exists
    case io
    case tryAgain = "try_again"
    case denied
    case config
    case neverAsked = "never_asked"
    case revoked
    case signIn = "sign_in"
    case ambiguous
    case locked
    case wrongKey = "wrong_key"
    case newerFormat = "newer_format"
    case wrongUser = "wrong_user"
  }

  /// What exactly happened, for a program that embeds the vault.
  ///
  /// New cases may be added; compare with `==` and keep a default.
  public enum Reason: String, Sendable {
    case unspecified
    /// The file is not a vault at all: another program's file, an empty one, a picture.
    case foreignFile = "foreign_file"
    /// SQLite cannot read the file's pages.
    case damagedFile = "damaged_file"
    /// A row is not what the state tree says: altered, removed, added, or an older version of itself.
    case damagedRow = "damaged_row"
    /// The state row does not carry the vault's own code: it was altered, or belongs elsewhere.
    case damagedState = "damaged_state"
    /// A key slot was altered.
    case damagedSlot = "damaged_slot"
    /// An entry of the ledger was altered, removed, added or moved.
    case damagedLedger = "damaged_ledger"
    /// A grant that the ledger does not explain, or the other way round.
    case unexplainedGrant = "unexplained_grant"
    /// The file is older than the last head seen outside it.
    case rolledBack = "rolled_back"
    /// The file and the head outside it tell two different stories.
    case forked
    /// The head outside the file is required and is not there.
    case anchorMissing = "anchor_missing"
    /// The head outside the file cannot be read as one.
    case damagedAnchor = "damaged_anchor"
    /// The key that this session holds was replaced by another process.
    case keysChanged = "keys_changed"
    /// The key settings ask for more than the allowed bound.
    case tooExpensive = "too_expensive"
    /// This machine cannot give the memory that the key settings ask for.
    case outOfMemory = "out_of_memory"
    /// Another process holds the vault's write lock.
    case busy
    case diskFull = "disk_full"
    case readOnly = "read_only"
    /// The path is a symbolic link, or stands where others can write.
    case unsafePath = "unsafe_path"
    case networkFileSystem = "network_file_system"
    /// A credential that can be renewed and has run out.
    case expired
    /// The scopes that the provider gave do not cover what was asked.
    case missingScope = "missing_scope"
    /// An app that is never handed a token.
    case signOnly = "sign_only"
  }

  public var code: Code
  public var reason: Reason
  public var message: String
  public var hint: String?
  /// What fits, where several things do (``Code/ambiguous``).
  public var candidates: [String]

  public init(
    _ code: Code, _ message: String, hint: String? = nil, reason: Reason = .unspecified,
    candidates: [String] = []
  ) {
    self.code = code
    self.reason = reason
    self.message = message
    self.hint = hint
    self.candidates = candidates
  }
}

extension VaultError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)" }
}
