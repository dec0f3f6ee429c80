import AccountVault
import Accounts
import Faults
import JSON
import Time

/// `vault request-access`: the app's own ask, put to the person at the terminal.
enum RequestAccessCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let request = AccessRequest(
      app: try context.need("app"), type: try context.need("type"),
      permissions: try context.list("perms") ?? [],
      group: context.arguments.text("group").flatMap(Ask.Group.init),
      audience: try context.audience(),
      account: context.arguments.text("account"))
    let asker = asker(context.invocation)
    var denied: JSONObject?
    let printsJSON = context.terminal.printsJSON
    let outcome: AccessOutcome
    do throws(CommandFailure) {
      outcome = try context.withSession { (session) throws(VaultError) in
        do throws(VaultError) {
          return try session.requestAccess(request, asker: asker)
        } catch {
          if printsJSON, error.code == .denied { denied = try deniedBefore(request, session) }
          throw error
        }
      }
    } catch {
      if let denied { try context.terminal.show(denied, rows: []) }
      throw error
    }
    if let failure = failure(outcome, request) {
      if context.terminal.printsJSON { try context.terminal.show(object(outcome), rows: []) }
      throw failure
    }
    try context.terminal.show(
      object(outcome),
      rows: [
        Column("app", "app"),
        Column("account") { _ in
          outcome.account.map { "\($0.label) (\($0.id.text))" } ?? "-"
        }, Column("decision", "decision"), Column("granted", "granted"),
        Column("declined", "declined"),
      ])
    return .ok
  }

  /// The object of an ask that an earlier no answered.
  private static func deniedBefore(
    _ request: AccessRequest, _ session: borrowing Session
  ) throws(VaultError) -> JSONObject {
    var accounts: [Account] = []
    if let text = request.account {
      accounts = [try session.account(text)]
    } else {
      try session.forEachAccount(type: request.type) { (account) throws(VaultError) in
        accounts.append(account)
        return accounts.count < 2
      }
    }
    var object = JSONObject()
    object.add("app", request.app)
    object.add("type", request.type)
    object.add("account", accounts.count == 1 ? accounts[0].id.text : nil)
    object.add("decision", AccessOutcome.Decision.denied.rawValue)
    object.add("granted", [String]())
    object.add("declined", request.permissions)
    return object
  }

  private static func object(_ outcome: AccessOutcome) -> JSONObject {
    var object = JSONObject()
    object.add("app", outcome.app)
    object.add("type", outcome.type)
    object.add("account", outcome.account?.id.text)
    object.add("decision", outcome.decision.rawValue)
    object.add("granted", outcome.granted)
    object.add("declined", outcome.declined)
    return object
  }

  private static func failure(_ outcome: AccessOutcome, _ request: AccessRequest)
    -> CommandFailure?
  {
    switch outcome.decision {
    case .granted: nil
    case .denied:
      CommandFailure(
        .denied, "the person said no to \(outcome.declined.joined(separator: ", "))",
        hint: "vault access --app \(outcome.app)")
    case .noAccount:
      CommandFailure(
        .notFound, "there is no account of type \(outcome.type)",
        hint: "vault add-account --type \(outcome.type) --username NAME")
    case .pending:
      CommandFailure(
        .neverAsked, "the ask of app \(outcome.app) is pending", hint: "vault asks")
    }
  }

  /// The person at the terminal, or nobody where there is none.
  private static func asker(_ invocation: Invocation) -> Asker {
    guard (try? Question(invocation)) != nil else { return .nobody }
    return Asker(
      process: Asker.thisProcess,
      choose: { (accounts) throws(VaultError) in
        guard
          let choice = try? Question(invocation).choice(
            "Which account?", of: accounts.map { "\($0.label) (\($0.id.text))" })
        else { return nil }
        return accounts[choice]
      },
      answer: { (question) throws(VaultError) in answer(question, invocation) })
  }

  private static func answer(_ question: AccessQuestion, _ invocation: Invocation) -> AccessAnswer {
    let app = EscapedText.of(
      question.app.name == question.app.id
        ? question.app.id : "\(question.app.name) (\(question.app.id))")
    let account = EscapedText.of(question.account.label)
    var text = "App \(app) asks for \(kind(question)) on \(account):\n"
    for permission in question.permissions {
      let note = permission.name == question.added ? "  (a first ask needs it)" : ""
      text += "  \(EscapedText.of(permission.name))\(note)\n"
    }
    do throws(CommandFailure) {
      let terminal = try Question(invocation)
      if try terminal.yes(text + "Allow\(question.permissions.count > 1 ? " all of these" : "")?") {
        return .grant(question.permissions.map(\.name))
      }
      guard question.permissions.count > 1, try terminal.yes("Allow some of them?") else {
        return .deny
      }
      var granted: [String] = []
      for permission in question.permissions
      where try terminal.yes("  \(EscapedText.of(permission.name))?") {
        granted.append(permission.name)
      }
      return .grant(granted)
    } catch {
      // No answer is not a no.
      return .nobody
    }
  }

  private static func kind(_ question: AccessQuestion) -> String {
    switch question.group {
    case .read: "read permissions"
    case .extended: "EXTENDED permissions"
    case .write:
      "write permissions"
        + (question.audience.map { ", seen by \($0.rawValue.replacing("_", with: " "))" } ?? "")
    }
  }
}

/// `vault asks`
enum AsksCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let asks = try context.withSession { (session) throws(VaultError) in try session.asks() }
    var listing = Listing(
      context.terminal,
      columns: [
        Column("ID", "id"), Column("APP", "app"), Column("TYPE", "type"),
        Column("ACCOUNT", "account"), Column("PERMISSIONS", "permissions"),
        Column("AUDIENCE", "audience"), Column("DEADLINE", "deadline"),
      ])
    for ask in asks {
      var object = JSONObject()
      object.add("id", ask.idText)
      object.add("app", ask.app)
      object.add("type", ask.type)
      object.add("account", ask.account?.text)
      object.add("permissions", ask.permissions)
      object.add("group", ask.group?.rawValue)
      object.add("audience", ask.audience?.rawValue)
      object.add("asked_at", ask.askedAt)
      object.add("deadline", ask.deadline)
      try listing.add(object)
    }
    try listing.finish()
    return .ok
  }
}
