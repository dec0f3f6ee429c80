import AccountVault
import Faults
import JSON
import Ledger
import Sodium

/// `vault verify`
enum VerifyCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let checkpoint = try context.checkpointText()
    let vault = try context.openVault()
    let terminal = context.terminal
    let result: Verification
    if let secret = try context.secretIfAny(for: vault) {
      result = try context.use(vault, secret, looking: true) { (session) throws(VaultError) in
        try session.verify(against: checkpoint) { done in terminal.progress("checked \(done)") }
      }
    } else {
      terminal.note("no passphrase or key: only what can be checked without one")
      let options = try context.unlockOptions(looking: true)
      result = try vaultCall { () throws(VaultError) in
        try vault.verify(against: checkpoint, options: options)
      }
    }
    terminal.hideProgress()
    var object = JSONObject()
    object.add("entries", Int64(result.entries))
    object.add("root", result.root)
    object.add("state_matches", result.stateMatches)
    object.add("anchored", result.anchored)
    object.add("checked", result.checked)
    try terminal.show(
      object,
      rows: [
        Column("entries", "entries"), Column("root", "root"),
        Column("state matches") { _ in
          result.stateMatches.map { $0 ? "yes" : "no" } ?? "not known without a key"
        }, Column("anchored", "anchored"),
        Column("checked") { _ in result.checked.joined(separator: ", ") },
      ])
    if !result.anchored {
      terminal.note("unanchored: nothing outside the file was there to compare it with")
    }
    return .ok
  }
}

extension Context {
  /// The text of `--against`.
  func checkpointText() throws(CommandFailure) -> String? {
    guard let path = arguments.text("against") else { return nil }
    return try text(of: path, limit: 65_536)
  }

  /// A document that is no secret, as text.
  func text(of path: String, limit: Int = 262_144) throws(CommandFailure) -> String {
    let bytes = try secrets.document(path, limit: limit)
    let text = bytes.withBytes { (span: RawSpan) in
      // Lent until the closure returns; the text is a copy.
      unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw CommandFailure(.usage, "\(path): not UTF-8 text") }
    return text
  }

  /// The secret that unlocks the vault where one is at hand without asking, or can be asked for.
  func secretIfAny(for vault: Vault) throws(CommandFailure) -> Key? {
    if let given = try secrets.givenKey() { return given }
    guard (try? Question(invocation)) != nil else { return nil }
    return try key(for: vault)
  }
}

/// `vault checkpoint`
enum CheckpointCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let signed = try context.withSession { (session) throws(VaultError) in
      try session.checkpoint()
    }
    if context.terminal.printsJSON {
      var object = JSONObject()
      object.add("origin", signed.unverified.origin)
      object.add("size", Int64(signed.unverified.size))
      object.add("root", signed.unverified.rootText)
      object.add("checkpoint", signed.text)
      try context.terminal.show(object, rows: [])
    } else {
      try context.terminal.data(signed.text)
    }
    return .ok
  }
}

/// `vault prove`
enum ProveCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    if let checkpoint = try context.checkpointText() {
      let note = try context.withSession { (session) throws(VaultError) in
        try session.proveConsistency(with: checkpoint)
      }
      return try show(note.text, entry: nil, note.checkpoint, context)
    }
    guard let number = UInt64(context.argument(0)) else {
      throw context.usage("ENTRY is a number from 0")
    }
    let note = try context.withSession { (session) throws(VaultError) in
      try session.prove(number)
    }
    return try show(note.text, entry: Int64(number), note.checkpoint, context)
  }

  private static func show(
    _ proof: String, entry: Int64?, _ checkpoint: SignedCheckpoint, _ context: Context
  ) throws(CommandFailure) -> ExitStatus {
    if context.terminal.printsJSON {
      var object = JSONObject()
      object.add("entry", entry)
      object.add("size", Int64(checkpoint.unverified.size))
      object.add("root", checkpoint.unverified.rootText)
      object.add("proof", proof)
      try context.terminal.show(object, rows: [])
    } else {
      try context.terminal.data(proof)
    }
    return .ok
  }
}

/// `vault reset-anchor`
enum ResetAnchorCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let (vault, branch, entry) = try context.withSession(looking: true) {
      (session) throws(VaultError) in
      try session.resetAnchor()
      return (session.vaultID, session.branchID, try session.entryCount() - 1)
    }
    var object = JSONObject()
    object.add("vault", vault)
    object.add("branch", branch)
    object.add("entry", Int64(entry))
    try context.terminal.show(
      object,
      rows: [Column("vault", "vault"), Column("branch", "branch"), Column("entry", "entry")])
    context.terminal.note("the file was verified and is accepted as it is; the ledger says so")
    return .ok
  }
}
