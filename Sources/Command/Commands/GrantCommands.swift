import AccountVault
import Accounts
import Faults
import JSON
import Time

/// `vault grant`, `vault deny`, `vault revoke`: the owner's decisions.
enum GrantCommands {
  static func grant(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    _ = try decide(context, "granted") { (session, decision) throws(VaultError) in
      try session.grant(decision)
    }
    return .ok
  }

  static func deny(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    _ = try decide(context, "denied") { (session, decision) throws(VaultError) in
      try session.deny(decision)
    }
    return .ok
  }

  static func revoke(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let decided = try decide(context, "revoked") { (session, decision) throws(VaultError) in
      try session.revoke(decision)
    }
    let outcome = decided.outcome
    guard let client = outcome.droppedClient else {
      context.terminal.note(
        "it counts from now on; a token that was handed out lives on at the provider until it expires"
      )
      return .ok
    }
    context.terminal.note(
      "no other app uses client \(outcome.account.type):\(client): its credential was dropped too")
    return try context.tell(
      outcome.revocation.map { [$0] } ?? [], key: decided.key.copy(),
      done: "app \(outcome.app) is out on \(outcome.account.label) here")
  }

  private static func decide(
    _ context: Context, _ verb: String,
    _ body: (borrowing Session, Decision) throws(VaultError) -> DecisionOutcome
  ) throws(CommandFailure) -> Decided {
    let decision = Decision(
      app: try context.need("app"), permissions: try context.list("perms") ?? [],
      account: context.arguments.text("account"), audience: try context.audience(),
      until: try context.time("until", .fromNow), reason: context.arguments.text("reason"))
    let vault = try context.openVault()
    let key = try context.key(for: vault)
    let outcome = try context.use(vault, key.copy()) { (session) throws(VaultError) in
      try body(session, decision)
    }
    try context.terminal.show(
      object(outcome, verb),
      rows: [
        Column("app", "app"),
        Column("account") { _ in
          "\(outcome.account.label) (\(outcome.account.id.text))"
        },
        Column(verb, verb), Column("audience", "audience"), Column("until", "until"),
        Column("entries", "entries"),
      ])
    if outcome.recordedApp {
      context.terminal.note(
        "app \(outcome.app) was not known and was recorded, without a key:"
          + " vault add-app \(outcome.app) --name NAME gives it one")
    }
    if verb != "granted", decision.audience != nil || decision.until != nil {
      context.terminal.note("it has no audience and no end: --audience and --until were left out")
    }
    if outcome.assumedAudience {
      context.terminal.note("no audience was named: only_me was taken")
    }
    return Decided(outcome: outcome, key: key)
  }

  /// What was decided, and the key that unlocked the vault for it.
  private struct Decided: ~Copyable {
    let outcome: DecisionOutcome
    let key: Key
  }

  private static func object(_ outcome: DecisionOutcome, _ verb: String) -> JSONObject {
    var object = JSONObject()
    object.add("app", outcome.app)
    object.add("account", outcome.account.id.text)
    object.add(verb, outcome.permissions)
    object.add("audience", outcome.audience?.rawValue)
    object.add("until", verb == "granted" ? outcome.until : nil)
    object.add("entries", JSONValue.array(outcome.entries.map { .int(Int64($0)) }))
    return object
  }
}

extension Context {
  /// `--audience`
  func audience() throws(CommandFailure) -> Audience? {
    guard let text = arguments.text("audience") else { return nil }
    guard let audience = Audience(text) else {
      throw usage("--audience takes everyone, friends or only_me")
    }
    return audience
  }
}

/// `vault access`
enum AccessCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let app = try context.need("app")
    let account = context.arguments.text("account")
    let permissions = try context.list("perms") ?? []
    let lines = try context.withSession { (session) throws(VaultError) in
      try session.access(app: app, account: account, permissions: permissions)
    }
    if !permissions.isEmpty, Set(lines.map(\.account.id)).count > 1 {
      let accounts = Dictionary(lines.map { ($0.account.id, $0.account) }) { first, _ in first }
      var failure = CommandFailure(
        .ambiguous, "\(accounts.count) accounts fit",
        hint: "vault access --app \(app) --account ID --perms \(permissions.joined(separator: ","))"
      )
      failure.candidates = accounts.values.sorted { $0.id < $1.id }.map {
        "\($0.id.text)  \($0.label)"
      }
      throw failure
    }
    var listing = Listing(
      context.terminal,
      columns: [
        Column("APP", "app"), Column("ACCOUNT", "account"), Column("PERMISSION", "permission"),
        Column("GROUP", "group"), Column("STATE", "state"), Column("AUDIENCE", "audience"),
        Column("UNTIL", "until"), Column("SINCE", "since"), Column("ENTRY", "entry"),
      ])
    for line in lines { try listing.add(object(line)) }
    try listing.finish()
    guard !permissions.isEmpty else { return .ok }
    if lines.isEmpty {
      throw CommandFailure(
        .notFound, "no account knows all of these permissions", hint: "vault accounts")
    }
    if let failure = failure(app, lines) { throw failure }
    return .ok
  }

  /// The gravest of what stands against the permissions, with those that it is about.
  private static func failure(_ app: String, _ lines: [Session.AccessLine]) -> CommandFailure? {
    let worst = lines.reduce(ExitStatus.ok) { $0.combined(with: status($1.state)) }
    guard worst != .ok, let account = lines.first?.account else { return nil }
    let names = lines.filter { status($0.state) == worst }.map(\.permission)
    let did =
      switch worst {
      case .denied: "was denied"
      case .revoked: "no longer holds"
      default: "was never granted"
      }
    return CommandFailure(
      worst, "app \(app) \(did) \(names.joined(separator: ", ")) on \(account.label)",
      hint: "vault grant --app \(app) --perms \(names.joined(separator: ","))"
        + " --account \(account.id.text)")
  }

  private static func status(_ state: PermissionState) -> ExitStatus {
    switch state {
    case .granted: .ok
    case .denied: .denied
    case .revoked, .lapsed: .revoked
    case .never: .neverAsked
    }
  }

  private static func object(_ line: Session.AccessLine) -> JSONObject {
    var object = JSONObject()
    object.add("app", line.app)
    object.add("account", line.account.id.text)
    object.add("permission", line.permission)
    object.add("group", line.group.rawValue)
    object.add("state", line.state.rawValue)
    object.add("audience", line.standing?.audience?.rawValue)
    object.add("until", line.standing?.until)
    object.add("since", line.standing?.since)
    object.add("entry", line.standing.map { Int64($0.entry) })
    return object
  }
}
