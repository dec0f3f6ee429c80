public import Accounts
public import Faults
import Encoding
public import Ledger
import Store

extension Session {
  /// The accounts on which an app holds something, in the order of their ids.
  public func accounts(of app: String) throws(VaultError) -> [Account] {
    try store.read { () throws(VaultError) in
      _ = try findApp(app)
      var accounts: [Account] = []
      try Records(store).forEachGrantSet { (set) throws(VaultError) in
        if set.app == app, !set.granted(now: now).isEmpty,
          let account = try Records(store).account(set.account)
        {
          accounts.append(account)
        }
        return true
      }
      return accounts.sorted { $0.id < $1.id }
    }
  }

  /// Whether an app may know which account an entry is about: one on which something was decided for
  /// it, then or since.
  public func isSeen(_ entry: Entry, by app: String) throws(VaultError) -> Bool {
    switch entry.event {
    case .granted, .denied, .revoked, .lapsed, .narrowed, .lostOnSite, .tokenUsed: return true
    default: break
    }
    guard let account = entry.account else { return false }
    return try store.read { () throws(VaultError) in
      try Records(store).grants(app: app, account: AccountID(account))?.standings.isEmpty == false
    }
  }

  /// Whether an app is still there, with the key that it had.
  public func isCurrent(_ app: App) throws(VaultError) -> Bool {
    try store.read { () throws(VaultError) in
      try Records(store).app(app.id)?.keyHash == app.keyHash
    }
  }
}
