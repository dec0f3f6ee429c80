import AccountVault
import Faults
import JSON
import Sodium

private func object(_ key: KeyInfo) -> JSONObject {
  var object = JSONObject()
  object.add("slot", Int64(key.number))
  object.add("kind", key.kind)
  return object
}

/// `vault keys`
enum KeysCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let keys = try context.withSession { (session) throws(VaultError) in try session.keys() }
    var listing = Listing(
      context.terminal,
      columns: [
        Column("SLOT", "slot"), Column("KIND", "kind"), Column("CREATED", "created_at"),
        Column("KDF", "kdf"), Column("PASSES", "operations"),
        Column("MEMORY") { object in
          if case .int(let bytes)? = object["memory"] { "\(bytes >> 20) MiB" } else { "-" }
        }, Column("IN USE", "in_use"),
      ])
    for key in keys {
      var object = object(key)
      object.add("created_at", key.createdAt)
      object.add("kdf", key.memoryBytes == nil ? nil : "argon2id")
      object.add("operations", key.operations.map { Int64($0) })
      object.add("memory", key.memoryBytes.map { Int64($0) })
      object.add("in_use", key.isInUse)
      try listing.add(object)
    }
    try listing.finish()
    return .ok
  }
}

/// `vault change-passphrase`
enum ChangePassphraseCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let vault = try context.openVault()
    let key = try context.key(for: vault)
    var passphrase: Secret? = Secret(try context.secrets.newPassphrase())
    let (slot, isScrubbed) = try context.use(vault, key) { (session) throws(VaultError) in
      let isScrubbed = try session.changePassphrase(
        to: passphrase.take()!, cost: try session.passphraseCost())
      return (try session.keys().first { $0.kind == "passphrase" }, isScrubbed)
    }
    if let slot {
      try context.terminal.show(
        object(slot), rows: [Column("slot", "slot"), Column("kind", "kind")])
    }
    if !isScrubbed { context.warnOfLog() }
    context.terminal.note(
      "a backup made before still opens with the old passphrase: vault rotate-key makes it worthless"
    )
    return .ok
  }
}

/// `vault add-key`
enum AddKeyCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let vault = try context.openVault()
    let key = try context.key(for: vault)
    guard let path = context.arguments.text("key-file") else {
      return try recovery(context, vault, key)
    }
    var file: Secret? = Secret(try KeyFile.readOrMake(path))
    let added = try context.use(vault, key) { (session) throws(VaultError) in
      try session.addKeyFile(file.take()!)
    }
    var object = object(added)
    object.add("key_file", path)
    object.add("recovery_code", String?.none)
    try context.terminal.show(
      object,
      rows: [Column("slot", "slot"), Column("kind", "kind"), Column("key file", "key_file")])
    return .ok
  }

  private static func recovery(_ context: Context, _ vault: Vault, _ key: consuming Key)
    throws(CommandFailure) -> ExitStatus
  {
    let added = try context.use(vault, key) { (session) throws(VaultError) in
      try session.addRecovery()
    }
    var shown = object(added.key)
    shown.add("key_file", String?.none)
    try context.showCode(added.code, after: shown)
    return .ok
  }
}

extension Context {
  /// Shows a recovery code, this once, after what belongs to it.
  func showCode(_ code: borrowing Secret, after object: JSONObject) throws(CommandFailure) {
    try terminal.show(
      object, rows: [Column("slot", "slot"), Column("kind", "kind")], "recovery_code", code.bytes)
    terminal.note("the recovery code is shown this once: write it down and keep it apart")
  }
}

/// `vault remove-key`
enum RemoveKeyCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    guard let number = Int(context.argument(0)), number > 0 else {
      throw context.usage("N is the number of a slot, see vault keys")
    }
    let (key, isScrubbed) = try context.withSession { (session) throws(VaultError) in
      let key = try session.keys().first { $0.number == number }
      return (key, try session.removeKey(number))
    }
    if let key {
      try context.terminal.show(
        object(key), rows: [Column("removed", "slot"), Column("kind", "kind")])
    }
    if !isScrubbed { context.warnOfLog() }
    context.terminal.note(
      "a backup made before still opens with it: vault rotate-key makes it worthless")
    return .ok
  }
}

/// `vault rotate-key`
enum RotateKeyCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let vault = try context.openVault()
    let key = try context.key(for: vault)
    var again: Key? = key.copy()
    let terminal = context.terminal
    let done = try context.use(vault, key) { (session) throws(VaultError) in
      try session.rotateKey(with: again.take()!, cost: .forThisMachine) { rows in
        terminal.progress("sealed \(rows)")
      }
    }
    terminal.hideProgress()
    var shown = JSONObject()
    shown.add("epoch", Int64(done.epoch))
    shown.add("rows", Int64(done.rows))
    shown.add("removed", done.removed.map(object))
    try show(done, shown, context)
    if !done.isCompacted { context.warnOfLog() }
    for key in done.removed {
      let again =
        switch key.kind {
        case "passphrase": "vault change-passphrase"
        case "recovery": "vault add-key --recovery"
        default: "vault add-key --key-file FILE"
        }
      terminal.note("the old \(key.kind.replacing("_", with: " ")) no longer opens it: \(again)")
    }
    return .ok
  }

  private static func show(_ done: borrowing RotatedKey, _ object: JSONObject, _ context: Context)
    throws(CommandFailure)
  {
    let removed =
      done.removed.isEmpty
      ? "-" : done.removed.map { "\($0.number) (\($0.kind))" }.joined(separator: ", ")
    let rows = [
      Column("epoch", "epoch"), Column("sealed anew", "rows"), Column("removed") { _ in removed },
    ]
    switch done.recoveryCode {
    case .none:
      var object = object
      object.add("recovery_code", String?.none)
      try context.terminal.show(object, rows: rows)
    case .some(let code):
      try context.terminal.show(object, rows: rows, "recovery_code", code.bytes)
      context.terminal.note(
        "the new recovery code is shown this once: write it down and keep it apart")
    }
  }
}
