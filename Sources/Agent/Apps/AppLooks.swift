internal import AccountVault
internal import Accounts
internal import Command
internal import Faults
internal import Listener

/// What an app is shown of itself: `GET` of app, accounts and access.
enum AppLooks {
  static let app: AppRoute.Serve = { (_, call) throws(VaultError) in
    _ = try call.query([])
    return .reply(.json(200, AppObjects.app(call.app)))
  }

  /// The accounts on which the app holds something.
  static let accounts: AppRoute.Serve = { (session, call) throws(VaultError) in
    _ = try call.query([])
    var accounts: [JSONObject] = []
    for account in try session.accounts(of: call.app.id) {
      accounts.append(AppObjects.account(account))
    }
    var object = JSONObject()
    object.add("accounts", accounts)
    return .reply(.json(200, object))
  }

  /// The app's permissions.
  static let access: AppRoute.Serve = { (session, call) throws(VaultError) in
    let query = try call.query(["account", "perms"])
    let account = try query.text("account", in: 1...300)
    let permissions = try query.list("perms")
    let lines: [Session.AccessLine]
    do throws(VaultError) {
      lines = try session.access(
        app: call.app.id, account: account, permissions: permissions, seenBy: .app)
    } catch {
      guard error.code == .neverAsked else { throw error }
      try session.recordRefusal(error, app: call.app.id, permissions: permissions, seenBy: .app)
      throw error.told(to: .app, app: call.app.id, permissions)
    }
    var object = JSONObject()
    object.add("access", lines.map(AppObjects.access))
    return .reply(.json(200, object))
  }
}

extension AppCall {
  /// The request's query, with these fields at most.
  func query(_ names: [String]) throws(VaultError) -> AppQuery {
    try AppQuery(request.message.query, names: names)
  }
}
