import Accounts
package import AccountVault
import Faults
import Sodium
import Time

/// `vault token`: the token and a newline, and nothing else.
package enum TokenCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let app = try context.need("app")
    let account = context.arguments.text("account")
    let permissions = try context.list("perms") ?? []
    let vault = try context.openVault()
    let key = try context.key(for: vault)
    let mayRenew = !context.arguments.has("no-renew")
    var expired: Account?
    // Each hand-out of the command has an entry of its own.
    let token = try context.use(vault, key.copy()) {
      (session) throws(VaultError) -> AccessToken? in
      if mayRenew {
        expired = try session.renewableUse(
          app: app, account: account, permissions: permissions)?.account
        if expired != nil { return nil }
      }
      return try session.token(
        app: app, account: account, permissions: permissions, strictly: true)
    }
    switch consume token {
    case .some(let token): return try show(token, context)
    case .none: break
    }
    guard let expired else { return .failed }
    try renew(expired, app: app, permissions, key.copy(), context)
    let renewed = try context.use(vault, key) { (session) throws(VaultError) in
      try session.token(
        app: app, account: expired.id.text, permissions: permissions, strictly: true)
    }
    return try show(renewed, context)
  }

  /// Has `vault-agent` renew the credential, which must link what calls out.
  private static func renew(
    _ account: Account, app: String, _ permissions: [String], _ key: consuming Key,
    _ context: Context
  ) throws(CommandFailure) {
    var words = ["renew-for-app", "--app", app, "--account", account.id.text]
    if !permissions.isEmpty { words += ["--perms", permissions.joined(separator: ",")] }
    let code = try runAgent(words, key: key, context: context)
    guard code != 0, let status = ExitStatus.ranking.first(where: { $0.code == code }) else {
      return
    }
    throw CommandFailure(
      status, "the token of \(account.label) expired, and it was not renewed",
      hint: "vault explain \(account.id.text)")
  }

  /// Prints a token.
  package static func show(_ token: borrowing AccessToken, _ context: Context)
    throws(CommandFailure) -> ExitStatus
  {
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
