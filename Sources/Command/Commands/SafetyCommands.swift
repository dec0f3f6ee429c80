import AccountVault
import Faults
import FileSystem
import JSON

/// `vault backup`
enum BackupCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let path = context.argument(0)
    let done = try context.withSession { (session) throws(VaultError) in
      try session.backUp(to: path)
    }
    var object = JSONObject()
    object.add("path", path)
    object.add("bytes", done.bytes)
    object.add("entries", Int64(done.entries))
    object.add("root", done.root)
    try context.terminal.show(
      object,
      rows: [
        Column("path", "path"), Column("bytes", "bytes"), Column("entries", "entries"),
        Column("root", "root"),
      ])
    return .ok
  }
}

/// `vault restore`
enum RestoreCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let backup = context.argument(0)
    let path = try context.need("to")
    // Before a secret is asked for.
    if !Vault.exists(at: backup) {
      throw CommandFailure(
        .notFound, "no backup at \(backup)", hint: "ls -l \(ShellText.quoted(backup))")
    }
    if Vault.exists(at: path) {
      throw CommandFailure(
        .exists, "\(path) exists already",
        hint: "vault restore \(ShellText.quoted(backup)) --to PATH")
    }
    let options = try context.unlockOptions()
    let allowsNetwork = context.arguments.has("network-fs")
    let replaces = context.arguments.has("replaces")
    var key: Key? = try context.secrets.key(forVaultAt: backup)
    let (object, warnings) = try vaultCall { () throws(VaultError) in
      let session = try Vault.restore(
        backup, to: path, with: key.take()!, options: options,
        allowNetworkFileSystem: allowsNetwork, replacesVault: replaces)
      var object = JSONObject()
      object.add("vault", session.vaultID)
      object.add("path", session.path)
      object.add("branch", session.branchID)
      object.add("entries", Int64(try session.entryCount()))
      object.add("stale", Int64(try session.staleCredentialCount()))
      try session.flush()
      return (object, session.warnings)
    }
    for warning in warnings { context.terminal.warning(warning) }
    try context.terminal.show(
      object,
      rows: [
        Column("vault", "vault"), Column("path", "path"), Column("branch", "branch"),
        Column("entries", "entries"), Column("stale", "stale"),
      ])
    if !replaces {
      context.terminal.note(
        "the vault that the backup was made of stays valid beside this one; --replaces ends that")
    }
    context.terminal.hint("vault accounts --vault \(ShellText.quoted(path))")
    return .ok
  }
}
