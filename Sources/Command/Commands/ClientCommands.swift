import AccountVault
import Accounts
import Faults
import Sodium

private func object(_ client: Client) -> JSONObject {
  var object = JSONObject()
  object.add("type", client.type)
  object.add("client_id", client.clientID)
  object.add("name", client.name)
  object.add("default", client.isDefault)
  return object
}

private let columns = [
  Column("TYPE", "type"), Column("CLIENT", "client_id"), Column("NAME", "name"),
  Column("DEFAULT", "default"),
]

/// `vault add-client`
enum AddClientCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let type = try context.need("type")
    let id = try context.need("client-id")
    let name = context.arguments.text("name")
    let redirect = context.arguments.text("redirect")
    let vault = try context.openVault()
    var secret: Secret?
    if context.arguments.has("client-secret-stdin") {
      secret = Secret(try context.secrets.standardInputLine("Client secret"))
    }
    let client = try context.use(vault, try context.key(for: vault)) {
      (session) throws(VaultError) in
      try session.addClient(
        type: type, clientID: id, secret: secret.take(), name: name, redirect: redirect)
    }
    try context.terminal.show(
      object(client),
      rows: [
        Column("type", "type"), Column("client", "client_id"), Column("name", "name"),
        Column("default", "default"),
      ])
    return .ok
  }
}

/// `vault clients`
enum ClientsCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let clients = try context.withSession { (session) throws(VaultError) in try session.clients() }
    var listing = Listing(context.terminal, columns: columns)
    for client in clients { try listing.add(object(client)) }
    try listing.finish()
    return .ok
  }
}

/// `vault remove-client`
enum RemoveClientCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = context.argument(0)
    try context.withSession { (session) throws(VaultError) in try session.removeClient(text) }
    var object = JSONObject()
    let client = ClientReference(text)
    object.add("type", client?.type)
    object.add("client_id", client?.clientID)
    try context.terminal.show(
      object, rows: [Column("removed", "client_id"), Column("type", "type")])
    return .ok
  }
}
