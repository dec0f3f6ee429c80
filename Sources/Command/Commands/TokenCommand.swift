import Accounts
import AccountVault
import Faults
import Sodium
import Time

/// `vault token`: the token and a newline, and nothing else.
enum TokenCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let app = try context.need("app")
    let account = context.arguments.text("account")
    let permissions = try context.list("perms") ?? []
    // Each hand-out of the command has an entry of its own.
    let token = try context.withSession { (session) throws(VaultError) in
      try session.token(app: app, account: account, permissions: permissions, strictly: true)
    }
    guard context.terminal.printsJSON else {
      try context.terminal.data(token.secret.bytes)
      try context.terminal.data("\n")
      if token.hasTokenSecret {
        context.terminal.note("an OAuth 1.0a token has a secret beside it: --json shows it")
      }
      return .ok
    }
    var object = JSONObject()
    object.add("token_type", token.tokenType)
    object.add("expires_at", token.expiry.time)
    object.add("account", token.account.text)
    object.add("client_id", token.clientID)
    var line = SecretObject()
    line.add("token", secret: token.secret.bytes)
    line.add(object)
    token.withTokenSecret { line.add("token_secret", secret: $0.bytes) }
    try context.terminal.data(line.finish())
    return .ok
  }
}

/// `vault explain`: offline, may it be used, why or why not, what happens next.
enum ExplainCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let text = context.argument(0)
    let app = context.arguments.text("app")
    let permissions = try context.list("perms") ?? []
    if app == nil, !permissions.isEmpty { throw context.usage("--perms belongs to an --app") }
    let explanation = try context.withSession { (session) throws(VaultError) in
      try session.explain(text, app: app, permissions: permissions)
    }
    var object = JSONObject()
    object.add("account", explanation.standing.account.id.text)
    object.add("app", app)
    object.add("permissions", permissions)
    object.add("usable", explanation.refusal == nil)
    object.add("reason", explanation.refusal?.message)
    object.add(
      "credentials", explanation.standing.credentials.map { AccountObjects.credential($0) })
    object.add("next", explanation.next)
    object.add("next_at", explanation.nextAt)
    try context.terminal.show(
      object,
      rows: [
        Column("account") { _ in
          "\(explanation.standing.account.label) (\(explanation.standing.account.id.text))"
        }, Column("app", "app"), Column("permissions", "permissions"),
        Column("usable", "usable"), Column("reason", "reason"),
        Column("credential", show: AccountObjects.states), Column("next", "next"),
        Column("next at", "next_at"),
      ])
    if let refusal = explanation.refusal { throw CommandFailure(refusal) }
    return .ok
  }
}
