public import Accounts
import Encoding
import Faults
import Ledger
import Store
import Time

/// Which credentials are renewed.
public struct RenewalScope: Sendable {
  /// These accounts, named by the owner: tried now, whatever waits, but for a time that a provider
  /// named. Empty for all that are due.
  public var accounts: [Account] = []
  /// All credentials, due or not, in the owner's name. It is no yes for one from a backup.
  public var all = false
  /// What becomes due in so many seconds is due.
  public var within: Int64 = 0

  /// What is due, as the engine sees it.
  public init() {}
}

/// A credential that something is to be done about.
struct DueCredential: Sendable {
  let key: Key16
  let account: AccountID
  let type: String
  let clientID: String

  var client: ClientReference { ClientReference(type: type, clientID: clientID) }
}

extension Session {
  /// How many credentials are looked at in one transaction.
  static let duePage = 256

  /// Hands over the credentials that the engine must look at by a time, the earliest first, a page at a
  /// time; by the index, so that their number alone counts.
  ///
  /// - Parameter body: Is not called inside a transaction.
  func forEachDue(
    until time: Timestamp, _ body: ([DueCredential]) async throws(VaultError) -> Bool
  ) async throws(VaultError) {
    try completeRenewals()
    if try clockWentBack() { try lookAgainAtAll() }
    var last: Store.DueRow?
    while true {
      let after = last
      let page = try store.read { () throws(VaultError) in
        var page: (due: [DueCredential], last: Store.DueRow?) = ([], nil)
        for row in try store.dueRows(
          .renewal, until: Records.hour(time), after: after, limit: Self.duePage)
        {
          page.last = row
          // The index is a hint; the row is not.
          guard let record = try Records(store).renewal(row.key), let look = record.lookAt,
            look <= time, let account = try Records(store).account(record.account)
          else { continue }
          page.due.append(
            DueCredential(
              key: row.key, account: account.id, type: account.type, clientID: record.clientID))
        }
        return page
      }
      guard let end = page.last else { return }
      last = end
      if !page.due.isEmpty, try await !body(page.due) { return }
    }
  }

  /// How many credentials the engine must look at by now: what ``renewDue(_:over:each:)`` goes through,
  /// found and checked as it does, and nothing is done about them. For measuring.
  package func dueCount() async throws(VaultError) -> Int {
    var count = 0
    try await forEachDue(until: now) { (page) async throws(VaultError) in
      count += page.count
      return true
    }
    return count
  }

  /// When the engine must look at something next; nil where nothing comes by itself.
  func nextLook() throws(VaultError) -> Timestamp? {
    try store.read { () throws(VaultError) in
      var after: Store.DueRow?
      var hour: Int64?
      var earliest: Timestamp?
      while true {
        let rows = try store.dueRows(.renewal, until: .max, after: after, limit: 64)
        for row in rows {
          // All rows of the first hour that has any: the index knows no finer time.
          if let hour, row.hour != hour, let earliest { return earliest }
          hour = row.hour
          guard let look = try Records(store).renewal(row.key)?.lookAt else { continue }
          earliest = min(earliest ?? look, look)
        }
        guard rows.count == 64 else { return earliest }
        after = rows.last
      }
    }
  }

  /// Gives every credential its row of the engine's. A vault of an older version has none; the two
  /// tables' sizes, which stand under the vault's code, tell.
  func completeRenewals() throws(VaultError) {
    let isComplete = try store.read { () throws(VaultError) in
      store.state[.renewal].rows >= store.state[.credential].rows
    }
    guard !isComplete, !options.isLooking else { return }
    try lookAgainAtAll()
  }

  /// Walks all credentials and sets anew when the engine looks at them: where rows are missing, where
  /// the clock was set back, and now and then, since an index is only a hint.
  func lookAgainAtAll() throws(VaultError) {
    var first: Key16?
    repeat {
      let from = first
      let page = try store.read { () throws(VaultError) in
        var page: (accounts: [Account], next: Key16?) = ([], nil)
        try Records(store).forEachAccount(from: from) { (account) throws(VaultError) in
          if page.accounts.count == Self.duePage {
            page.next = account.id.key
            return false
          }
          page.accounts.append(account)
          return true
        }
        return page
      }
      try lookAgain(at: page.accounts)
      first = page.next
    } while first != nil
  }

  private func lookAgain(at accounts: [Account]) throws(VaultError) {
    var changed: [RenewalRecord] = []
    try store.read { () throws(VaultError) in
      for account in accounts {
        for client in account.clients {
          if let record = try otherLook(at: account, client) {
            changed.append(record)
          }
        }
      }
    }
    guard !changed.isEmpty else { return }
    try store.write { () throws(VaultError) in
      for record in changed {
        // Read again: another process may have been here since.
        guard let account = try Records(store).account(record.account),
          let fresh = try otherLook(at: account, record.clientID)
        else { continue }
        try Records(store).put(fresh, day: today)
      }
    }
  }

  /// The record with another time to look at it; nil where the present one is right.
  private func otherLook(at account: Account, _ client: String)
    throws(VaultError) -> RenewalRecord?
  {
    let records = Records(store)
    guard let (credential, row) = try records.credential(account.id, client: client) else {
      return nil
    }
    let known = try records.renewal(row.key)
    var record = try renewalRecord(of: credential, account, row.key)
    let planned = record.lookAt
    record.lookAt = RenewalSchedule(
      credential: credential, provider: try provider(account.type), seed: row.key.low
    ).nextLook(record, now: now)
    if let known, known.generation == record.generation {
      // An earlier look does no harm; a later one is one that a wrong clock planned.
      guard let next = record.lookAt, planned.map({ $0 > next }) ?? true else { return nil }
    }
    return record
  }

  /// Whether the clock shows a time well before the newest entry: what was planned by it since may lie
  /// far ahead.
  private func clockWentBack() throws(VaultError) -> Bool {
    try store.read { () throws(VaultError) in
      guard store.state.ledgerSize > 0 else { return false }
      let entry = try LedgerRows(store).entry(store.state.ledgerSize - 1)
      return entry.time > now + RenewalRecord.tolerance
    }
  }
}
