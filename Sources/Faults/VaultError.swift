/// Why the vault refused or could not do something: one type for every public call.
///
/// `code` is the row of the exit code table that a script sees; `reason` is the finer name that a
/// program can act on; `message` names the thing, and `hint` a command that helps. No text here ever
/// holds a secret.
public struct VaultError: Error, Equatable, Sendable {
  /// The rows of the exit code table; the raw value is the `code` of `--json` errors.
  public enum Code: String, Sendable, CaseIterable {
    /// None of the others. Exit code 1.
    case failed
    /// What was given is malformed, unknown or does not fit together. Exit code 64.
    case usage
    /// Damaged, altered, foreign, put back or forked. Exit code 65.
    case damaged
    /// No such file, account, app, client or provider. Exit code 66.
    case notFound = "not_found"
    /// It is there already. Exit code 73.
    case exists
    /// The disk or the file system refused. Exit code 74.
    case io
    /// Nothing is lost, and a later try may work. Exit code 75.
    case tryAgain = "try_again"
    /// The person said no. Exit code 77.
    case denied
    /// A definition, a client or a request is wrong, never the account. Exit code 78.
    case config
    /// Nobody has decided yet. Exit code 80.
    case neverAsked = "never_asked"
    /// Granted once, and taken back, lapsed or narrowed since. Exit code 81.
    case revoked
    /// There is no usable credential: a person must sign in. Exit code 82.
    case signIn = "sign_in"
    /// Several accounts fit; ``VaultError/candidates`` has them. Exit code 83.
    case ambiguous
    /// No passphrase or key could be had. Exit code 84.
    case locked
    /// That passphrase or key does not open this vault. Exit code 85.
    case wrongKey = "wrong_key"
    /// Made by a later version; nothing was changed. Exit code 86.
    case newerFormat = "newer_format"
    /// The response is of somebody else; nothing was changed. Exit code 87.
    case wrongUser = "wrong_user"
  }

  /// What exactly happened, for a program that embeds the vault.
  ///
  /// New cases may be added; compare with `==` and keep a default.
  public enum Reason: String, Sendable {
    /// The code says all that there is to say.
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
    /// No room for the log or the file; nothing was changed.
    case diskFull = "disk_full"
    /// The file or its directory cannot be written.
    case readOnly = "read_only"
    /// The path is a symbolic link, or stands where others can write.
    case unsafePath = "unsafe_path"
    /// Locks and syncs cannot be trusted there, and nobody said to try.
    case networkFileSystem = "network_file_system"
    /// A credential that can be renewed and has run out.
    case expired
    /// The scopes that the provider gave do not cover what was asked.
    case missingScope = "missing_scope"
    /// An address that the provider's definition does not name.
    case foreignHost = "foreign_host"
    /// The provider wants no further request for a while.
    case throttled
    /// A request that is wanted again, when its body was read and is not kept.
    case bodySpent = "body_spent"
    /// An app that is never handed a token.
    case signOnly = "sign_only"
    /// A key that no app has, or whose app is bound to other users.
    case appKey = "app_key"
    /// A request's body that is longer than is read.
    case tooLong = "too_long"
    /// A request's body of another type than is read.
    case mediaType = "media_type"
    /// An app that asks more often than it may.
    case appRate = "app_rate"
    /// What a person had begun was cut off; nothing was changed.
    case interrupted
  }

  /// Which row of the exit code table it is.
  public var code: Code
  /// What exactly happened; ``Reason/unspecified`` where the code says it all.
  public var reason: Reason
  /// What happened, with the name of the thing; lower case, no full stop.
  public var message: String
  /// A command that helps, as it can be pasted; nil where none does.
  public var hint: String?
  /// What fits, where several things do (``Code/ambiguous``).
  public var candidates: [String]

  /// An error of the vault's own kind, for programs that pass one on.
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
