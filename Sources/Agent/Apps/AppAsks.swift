internal import AccountVault
internal import Accounts
internal import Faults
internal import Listener
internal import Sodium

/// `POST /v1/access`: an app's own ask. Nobody sits at the agent: what was not decided yet waits.
enum AppAsks {
  private static let members = ["type", "permissions", "group", "audience", "account"]

  static let ask: AppRoute.Serve = { (session, call) throws(VaultError) in
    let body = try call.body(members)
    var request = AccessRequest(
      app: call.app.id, type: try body.need("type"), permissions: try body.permissions())
    guard !request.permissions.isEmpty else { throw .wrongBody("permissions is missing or empty") }
    request.group = try body.word("group", Ask.Group.self, but: [.extended])
    request.audience = try body.word("audience", Audience.self)
    request.account = try body.text("account")
    let outcome = try session.ask(request)
    return .reply(
      .json(outcome.decision == .pending ? 202 : 200, AppObjects.outcome(outcome)))
  }
}

extension AppCall {
  /// The request's JSON object, with these members at most; one without any where there is no body.
  ///
  /// - Throws: ``VaultError``: `usage`.
  func body(_ names: [String]) throws(VaultError) -> AppBody {
    _ = try query([])
    if request.body.count > 0 {
      guard request.body.count <= AppBody.limit else {
        throw VaultError(.usage, "the body is longer than \(AppBody.limit) bytes", reason: .tooLong)
      }
      guard isJSON else {
        throw VaultError(
          .usage, "the body must be application/json", reason: .mediaType)
      }
    }
    return try AppBody(of: request, names: names)
  }

  /// JSON is UTF-8 (RFC 8259 section 8.1), so no other charset may be named.
  private var isJSON: Bool {
    let types = request.message.headers.filter {
      $0.name.utf8.count == 12 && $0.name.lowercased() == "content-type"
    }
    guard types.count == 1 else { return false }
    if types[0].value == "application/json" { return true }
    let words = types[0].value.lowercased().split(separator: ";").map {
      $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
    }
    return words.first == "application/json"
      && (words.count == 1 || words.count == 2 && words[1] == "charset=utf-8")
  }
}
