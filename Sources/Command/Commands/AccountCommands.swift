import AccountVault
import Accounts
import Faults
import JSON
import Sodium

/// `vault add-account`
enum AddAccountCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let type = try context.need("type")
    var new = NewAccount(type: type)
    new.username = context.arguments.text("username")
    new.userID = context.arguments.text("user-id")
    new.description = context.arguments.text("description")
    new.clientID = context.arguments.text("client")
    new.replaces = context.arguments.has("replace")
    // The vault is looked at before anything is read, so that a wrong path is told at once.
    let vault = try context.openVault()
    var input = Optional(try credential(context))
    let isBare = context.arguments.text("response") == nil
    if isBare, new.username == nil { new.username = try context.need("username") }
    let standing = try context.use(vault, try context.key(for: vault)) {
      (session) throws(VaultError) in
      let account = try session.addAccount(new, credential: input.take() ?? .none)
      return try session.standing(of: account)
    }
    try AccountObjects.answer(standing, context)
    return .ok
  }

  private static func credential(_ context: Context) throws(CommandFailure) -> CredentialInput {
    if let path = context.arguments.text("response") {
      return .response(Secret(try context.secrets.document(path)))
    }
    if context.arguments.has("token-stdin") {
      return .bearer(Secret(try context.secrets.standardInputLine("Token")))
    }
    return .none
  }
}

/// `vault accounts`
enum AccountsCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let type = context.arguments.text("type")
    let app = context.arguments.text("app")
    var listing = Listing(context.terminal, columns: AccountObjects.columns)
    var failure: CommandFailure?
    try context.withSession { (session) throws(VaultError) in
      if let type { _ = try session.provider(type) }
      try session.forEachAccount(type: type, app: app) { (account) throws(VaultError) in
        let object = AccountObjects.object(try session.standing(of: account))
        do throws(CommandFailure) {
          try listing.add(object)
        } catch {
          failure = error
        }
        return failure == nil
      }
    }
    if let failure { throw failure }
    try listing.finish()
    return .ok
  }
}

/// `vault show-account`
enum ShowAccountCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = context.argument(0)
    let standing = try context.withSession { (session) throws(VaultError) in
      try session.standing(of: try session.account(text))
    }
    try AccountObjects.answer(standing, context)
    return .ok
  }
}

/// `vault rename-account`
enum RenameAccountCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = context.argument(0)
    let name = try context.need("username")
    let standing = try context.withSession { (session) throws(VaultError) in
      let account = try session.rename(try session.account(text), to: name)
      return try session.standing(of: account)
    }
    try AccountObjects.answer(standing, context)
    return .ok
  }
}

/// `vault remove-account`
enum RemoveAccountCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = context.argument(0)
    let vault = try context.openVault()
    let key = try context.key(for: vault)
    let (account, removal) = try context.use(vault, key.copy()) { (session) throws(VaultError) in
      let account = try session.account(text)
      return (account, try session.remove(account))
    }
    var object = JSONObject()
    object.add("id", account.id.text)
    object.add("type", account.type)
    object.add("username", account.username)
    try context.terminal.show(
      object,
      rows: [Column("removed", "id"), Column("type", "type"), Column("username", "username")])
    if !removal.isScrubbed { context.warnOfLog() }
    return try context.tell(
      removal.revocations, key: key, done: "account \(account.label) is removed here")
  }
}

extension Context {
  /// What was deleted stands in the log until nobody reads it any more.
  func warnOfLog() {
    terminal.warning(
      "another process is reading: what was removed stays on the disk, sealed, until it ends and the"
        + " vault was written a while")
  }
}
