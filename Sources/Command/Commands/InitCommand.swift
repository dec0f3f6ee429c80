import AccountVault
import Faults
import FileSystem
import Sodium

/// `vault init`: makes the vault file, its passphrase, key file and recovery code.
enum InitCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let path = try context.vaultPath()
    // Before a key file is made or a passphrase is asked for.
    try refuseExisting(path)
    var secrets = try context.secrets.newSecrets(forVaultAt: path)
    var options = Vault.CreationOptions()
    options.makesRecoveryCode = !context.arguments.has("no-recovery")
    options.allowsNetworkFileSystem = context.arguments.has("network-fs")
    options.session = try context.unlockOptions()
    if let memory = try context.size("kdf-memory") { options.cost.memoryBytes = memory }
    if let rule = context.arguments.text("anchor") {
      options.anchor = Vault.AnchorRule(rawValue: rule) ?? .adopt
    }
    options.anchorPath = try anchorPath(context)
    let keyFilePath = secrets.keyFilePath
    var held = Held()
    if let bytes = secrets.passphrase.take() { held.passphrase = Secret(bytes) }
    if let bytes = secrets.keyFile.take() { held.keyFile = Secret(bytes) }
    let hasPassphrase = held.passphrase != nil
    let created = try vaultCall { () throws(VaultError) in
      try Vault.create(
        at: path, passphrase: held.passphrase.take(), keyFile: held.keyFile.take(),
        options: options)
    }
    try vaultCall { () throws(VaultError) in try created.session.flush() }
    try show(created, context)
    if !hasPassphrase, let keyFilePath {
      context.terminal.note(
        "the key file \(keyFilePath) opens the vault: keep a copy of it elsewhere")
    } else {
      context.terminal.note("for servers there is a key file: vault add-key --key-file FILE")
    }
    context.terminal.hint("vault add-account --type facebook --username NAME --response FILE")
    return .ok
  }

  /// Where the head shall be, as an absolute path: a relative one would be another file in every
  /// directory that a command is run from.
  private static func anchorPath(_ context: Context) throws(CommandFailure) -> String? {
    guard let path = context.arguments.text("anchor-file") else { return nil }
    if path.hasPrefix("/") { return path }
    do throws(FileError) {
      let here = try Files.resolvingDirectory(of: "./head")
      return here.dropLast(4) + path
    } catch {
      throw CommandFailure(.io, "\(error.path): \(error.text)")
    }
  }

  private struct Held: ~Copyable {
    var passphrase: Secret?
    var keyFile: Secret?
  }

  private static func refuseExisting(_ path: String) throws(CommandFailure) {
    if Vault.exists(at: path) {
      throw CommandFailure(
        .exists, "\(path) exists already",
        hint: "vault doctor --vault \(ShellText.quoted(path))")
    }
  }

  private static func show(_ created: borrowing CreatedVault, _ context: Context)
    throws(CommandFailure)
  {
    var object = JSONObject()
    object.add("vault", created.session.vaultID)
    object.add("path", created.session.path)
    let rows = [Column("vault", "vault"), Column("path", "path")]
    switch created.recoveryCode {
    case .none:
      object.add("recovery_code", String?.none)
      try context.terminal.show(object, rows: rows)
    case .some(let code):
      try context.terminal.show(object, rows: rows, "recovery_code", code.bytes)
      context.terminal.note(
        "the recovery code is shown this once: write it down and keep it apart")
    }
  }
}
