import AccountVault
import Accounts
import Faults
import JSON
import Sodium
import Time

private func object(_ app: App) -> JSONObject {
  var object = JSONObject()
  object.add("id", app.id)
  object.add("name", app.name)
  object.add("clients", app.clients.map(\.description))
  return object
}

/// All that is known of an app but its key.
private func full(_ app: App) -> JSONObject {
  var object = object(app)
  object.add("sign_only", app.signOnly)
  object.add("uids", JSONValue.array(app.uids.map { .int(Int64($0)) }))
  object.add("has_key", app.hasKey)
  object.add("created_at", app.createdAt)
  object.add("key_changed_at", app.keyChangedAt)
  return object
}

/// `vault add-app`
enum AddAppCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let id = context.argument(0)
    let name = try context.need("name")
    let clients = context.arguments.texts("client")
    let signOnly = context.arguments.has("sign-only")
    let uids = try uids(context)
    let new = try context.withSession { (session) throws(VaultError) in
      try session.addApp(id, name: name, clients: clients, signOnly: signOnly, uids: uids)
    }
    try showKey(new.key, object(new.app), ["id", "name", "clients"], context)
    return .ok
  }

  private static func uids(_ context: Context) throws(CommandFailure) -> [UInt32] {
    var uids: [UInt32] = []
    for text in context.arguments.texts("uid") {
      guard let uid = UInt32(text), uid != .max else {
        throw context.usage("--uid takes the number of a user")
      }
      if !uids.contains(uid) { uids.append(uid) }
    }
    return uids
  }
}

/// `vault new-app-key`
enum NewAppKeyCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let id = context.argument(0)
    let key = try context.withSession { (session) throws(VaultError) in
      try session.newAppKey(id)
    }
    var object = JSONObject()
    object.add("id", id)
    try showKey(key, object, ["id"], context)
    return .ok
  }
}

/// Shows an app's key, this once.
private func showKey(
  _ key: borrowing Secret, _ object: JSONObject, _ rows: [String], _ context: Context
) throws(CommandFailure) {
  try context.terminal.show(object, rows: rows.map { Column($0, $0) }, "key", key.bytes)
  context.terminal.note(
    "the app's key is shown this once; a new one: vault new-app-key \(context.argument(0))")
}

/// `vault apps`
enum AppsCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let apps = try context.withSession { (session) throws(VaultError) in try session.apps() }
    var listing = Listing(
      context.terminal,
      columns: [
        Column("ID", "id"), Column("NAME", "name"), Column("CLIENTS", "clients"),
        Column("SIGN ONLY", "sign_only"), Column("KEY", "has_key"),
      ])
    for app in apps { try listing.add(full(app)) }
    try listing.finish()
    return .ok
  }
}

/// `vault show-app`
enum ShowAppCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let id = context.argument(0)
    let app = try context.withSession { (session) throws(VaultError) in try session.app(id) }
    try context.terminal.show(
      full(app),
      rows: [
        Column("id", "id"), Column("name", "name"), Column("clients", "clients"),
        Column("sign only", "sign_only"), Column("users", "uids"), Column("key", "has_key"),
        Column("created", "created_at"), Column("key changed", "key_changed_at"),
      ])
    return .ok
  }
}

/// `vault remove-app`
enum RemoveAppCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let id = context.argument(0)
    let app = try context.withSession { (session) throws(VaultError) in
      let app = try session.app(id)
      try session.removeApp(id)
      return app
    }
    var object = JSONObject()
    object.add("id", app.id)
    object.add("name", app.name)
    try context.terminal.show(object, rows: [Column("removed", "id"), Column("name", "name")])
    return .ok
  }
}
