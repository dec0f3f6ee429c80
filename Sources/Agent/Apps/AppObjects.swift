internal import Accounts
internal import Command

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
}
