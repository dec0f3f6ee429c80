import Accounts
import Faults
import Store

extension Session {
  /// The client of an app's own whose credential nobody needs any more once these permissions are
  /// revoked: no other app has the client, and none that may do something uses it as the default.
  func ownClient(
    of app: App?, leftBy revoked: [Permission], in set: GrantSet, on account: Account
  ) throws(VaultError) -> String? {
    guard let app, let own = app.client(for: account.type), account.clients.contains(own.clientID),
      set.granted(now: now).allSatisfy({ held in revoked.contains { $0.name == held.name } }),
      !set.granted(now: now).isEmpty
    else { return nil }
    let records = Records(store)
    for other in try records.apps() where other.id != app.id {
      if other.clients.contains(own) { return nil }
      guard let held = try records.grants(app: other.id, account: account.id),
        !held.granted(now: now).isEmpty
      else { continue }
      if try uses(own.clientID, other, on: account) { return nil }
    }
    return own.clientID
  }

  /// Takes that credential out, in the open transaction.
  func drop(ownClient client: String, of account: Account) throws(VaultError) -> RevocationNotice? {
    let notice = try drop(client, of: account, .appRevoked)
    var account = account
    account.clients.removeAll { same($0, client) }
    try Records(store).put(account, day: today)
    return notice
  }
}
