package import AccountVault
import Accounts
import JSON
import Time

/// The account object of the contract, and how its members are shown in a table.
package enum AccountObjects {
  /// The account as a command's answer: the object, or its table.
  package static func answer(
    _ standing: Session.AccountStanding, _ context: Context
  ) throws(CommandFailure) {
    if context.terminal.printsJSON {
      try context.terminal.show(object(standing), rows: [])
    } else {
      try show(standing, context.terminal)
    }
  }

  static func object(_ standing: Session.AccountStanding) -> JSONObject {
    let account = standing.account
    var object = JSONObject()
    object.add("id", account.id.text)
    object.add("type", account.type)
    object.add("username", account.username)
    object.add("user_id", account.userID)
    object.add("description", account.description)
    object.add("created_at", account.createdAt)
    object.add("credentials", standing.credentials.map { credential($0) })
    return object
  }

  static func credential(_ standing: Session.CredentialStanding) -> JSONObject {
    let credential = standing.credential
    var object = JSONObject()
    object.add("client_id", standing.clientID)
    object.add("kind", credential.kind.rawValue)
    object.add("state", standing.state.rawValue)
    object.add("generation", credential.generation)
    object.add("obtained_at", credential.obtainedAt)
    object.add("expires_at", credential.expiry.time)
    object.add("refresh_expires_at", credential.refreshExpiresAt)
    if let scopes = credential.scopes {
      object.add("scopes", scopes)
    } else {
      object.add("scopes", JSONValue.null)
    }
    return object
  }

  /// The state of the only credential, or of each by its client.
  static func states(_ object: JSONObject) -> String {
    guard case .array(let credentials)? = object["credentials"] else { return "-" }
    if credentials.isEmpty { return CredentialState.absent.rawValue }
    return credentials.map { Column.text($0["state"] ?? .null) }.joined(separator: ",")
  }

  static let columns = [
    Column("ID", "id"), Column("TYPE", "type"), Column("USERNAME", "username"),
    Column("USER ID", "user_id"), Column("CREDENTIAL", show: states),
  ]

  static func show(_ standing: Session.AccountStanding, _ terminal: Terminal)
    throws(CommandFailure)
  {
    let account = object(standing)
    var rows = [
      Column("id", "id"), Column("type", "type"), Column("username", "username"),
      Column("user id", "user_id"), Column("description", "description"),
      Column("created", "created_at"),
    ]
    for (index, credential) in standing.credentials.map({ self.credential($0) }).enumerated() {
      rows.append(
        Column("credential") { _ in line(credential, expiry: standing.credentials[index]) })
    }
    if standing.credentials.isEmpty { rows.append(Column("credential") { _ in "absent" }) }
    for former in standing.account.formerUsernames {
      rows.append(Column("formerly") { _ in "\(former.name) (until \(former.until))" })
    }
    try terminal.show(account, rows: rows)
  }

  private static func line(_ credential: JSONObject, expiry: Session.CredentialStanding) -> String {
    func text(_ name: String) -> String { Column.text(credential[name] ?? .null) }
    var line = "\(text("state")), \(text("kind")), generation \(text("generation"))"
    if let client = expiry.clientID { line += ", client \(client)" }
    switch expiry.credential.expiry {
    case .at(let time): line += ", expires \(time)"
    case .never: line += ", does not expire"
    case .unknown: line += ", end unknown"
    }
    if let time = expiry.credential.dataAccessUntil { line += ", data access until \(time)" }
    if let scopes = expiry.credential.scopes { line += ", scopes \(scopes.joined(separator: " "))" }
    for note in expiry.credential.notes { line += ", \(note)" }
    return line
  }
}
