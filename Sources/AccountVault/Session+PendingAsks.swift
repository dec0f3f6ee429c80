public import Faults
public import Accounts
import Time
import Encoding
import Ledger
import Providers
import Sodium
import Store

extension Session {

  /// The asks that wait for an answer, the oldest first.
  public func asks() throws(VaultError) -> [Ask] {
    try closeDeadAsks()
    return try store.read { () throws(VaultError) in
      try Records(store).asks().filter {
        $0.state(now: now, isAlive: ProcessIdentity.isAlive) == .pending
      }
    }
  }

  /// Ends the asks whose process died or whose deadline came: interrupted, never denied.
  func closeDeadAsks() throws(VaultError) {
    let dead = try store.read { () throws(VaultError) in
      try Records(store).asks().filter {
        $0.state(now: now, isAlive: ProcessIdentity.isAlive) != .pending
      }
    }
    guard !dead.isEmpty else { return }
    try store.write { () throws(VaultError) in
      for ask in dead where try store.row(.ask, ask.id) != nil {
        let state = ask.state(now: now, isAlive: ProcessIdentity.isAlive)
        try close(ask, state == .overdue ? "its deadline came" : "the process that asked is gone")
      }
    }
  }

  func close(_ ask: Ask, _ reason: String) throws(VaultError) {
    let account = try ask.account.flatMap { (id) throws(VaultError) in
      try Records(store).account(id)
    }
    try store.remove(.ask, ask.id)
    try record(
      .askInterrupted, actor: "app:\(ask.app)", app: ask.app, account: account,
      permissions: ask.permissions, reason: reason)
  }

  /// Ends the asks of which nothing is left to decide.
  func closeAsks(answeredBy set: GrantSet, account: Account) throws(VaultError) {
    for ask in try Records(store).asks()
    where ask.app == set.app && ask.type == account.type
      && (ask.account == nil || ask.account == account.id)
      && ask.permissions.allSatisfy({ set.standing(of: $0) != nil })
    {
      try store.remove(.ask, ask.id)
    }
  }
}
