internal import AccountVault
internal import Accounts
internal import Command
internal import Ledger

/// The objects that apps are shown. They are smaller than the owner's: an app sees what it was
/// granted, and not what its owner wrote beside it.
enum AppObjects {
  static func app(_ app: App) -> JSONObject {
    var object = JSONObject()
    object.add("id", app.id)
    object.add("name", app.name)
    object.add("sign_only", app.signOnly)
    object.add("clients", app.clients.map(\.description))
    return object
  }

  static func account(_ account: Account) -> JSONObject {
    var object = JSONObject()
    object.add("id", account.id.text)
    object.add("type", account.type)
    object.add("username", account.username)
    object.add("user_id", account.userID)
    return object
  }

  static func access(_ line: Session.AccessLine) -> JSONObject {
    var object = JSONObject()
    object.add("account", line.account.id.text)
    object.add("permission", line.permission)
    object.add("group", line.group.rawValue)
    object.add("state", line.state.rawValue)
    object.add("audience", line.standing?.audience?.rawValue)
    object.add("until", line.standing?.until)
    object.add("since", line.standing?.since)
    return object
  }

  static func outcome(_ outcome: AccessOutcome) -> JSONObject {
    var object = JSONObject()
    object.add("type", outcome.type)
    object.add("account", outcome.account?.id.text)
    object.add("decision", outcome.decision.rawValue)
    object.add("granted", outcome.granted)
    object.add("declined", outcome.declined)
    return object
  }

  /// An entry of the ledger as `vault history` prints it.
  ///
  /// - Parameter seesAccount: Whether the app knows of the account; null stands there otherwise, and in
  ///   the place of the owner's own words and of what the provider said.
  static func entry(_ entry: Entry, seesAccount: Bool) -> JSONObject {
    var object = JSONObject()
    object.add("entry", Int64(entry.number))
    object.add("time", entry.time)
    object.add("event", entry.event.rawValue)
    object.add("actor", entry.actor)
    object.add("app", entry.app)
    object.add("account", seesAccount ? entry.accountID : nil)
    object.add("permissions", entry.permissions)
    object.add("audience", entry.audience)
    let isOwnDoing = entry.actor == "app:\(entry.app ?? "")"
    let isUse = entry.event == .tokenUsed || entry.event == .useRefused
    object.add("reason", isOwnDoing || isUse ? entry.reason : nil)
    object.add("evidence", JSONObject?.none)
    return object
  }
}
