import Accounts
import Encoding
import Faults
import Ledger
import Store

/// Holds the grants against the ledger, both ways, in one pass over the entries from the first to the
/// last.
///
/// Every decision must stand, or be older than the one that stands, or be ended by a removal that
/// comes later; and every standing must be what the entry that it names decided. Together: the
/// standings are exactly the last decisions.
///
/// Memory grows with the decisions that still wait for the removal that ended them, and with nothing
/// else.
final class GrantProjection {
  private struct Pair: Hashable {
    var account: Key16
    /// An app's id is ASCII: equal texts are equal bytes.
    var app: String
  }

  private static let cacheLimit = 1024

  private let store: Store
  /// Sets that were read in this snapshot.
  private var sets: [Pair: GrantSet?] = [:]
  /// For each account and app the first decision that does not stand, until a removal explains it.
  private var unexplained: [Key16: [String: (entry: UInt64, permission: String)]] = [:]
  /// Standings that are what their entry decided; each can be met only once.
  private var explained: UInt64 = 0

  init(_ store: Store) { self.store = store }

  /// Whether an entry of this event must be shown to ``follow(_:)``.
  static func follows(_ event: Event) -> Bool {
    switch event {
    case .accountRemoved, .appRemoved, .granted, .denied, .revoked, .lostOnSite, .narrowed: true
    default: false
    }
  }

  /// Takes the next entry.
  func follow(_ entry: Entry) throws(VaultError) {
    switch entry.event {
    case .accountRemoved: unexplained[entry.account ?? .zero] = nil
    case .appRemoved:
      guard let app = entry.app else { return }
      for account in unexplained.keys { unexplained[account]?[app] = nil }
    default: try hold(entry)
    }
  }

  private func hold(_ entry: Entry) throws(VaultError) {
    guard let app = entry.app, let account = entry.account else { return }
    let set = try set(Pair(account: account, app: app))
    for (place, name) in entry.permissions.enumerated()
    where !entry.permissions[..<place].contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      if let set, let standing = set.standing(of: name), standing.entry >= entry.number {
        if standing.entry == entry.number, entry.decides(standing, of: set) { explained += 1 }
      } else if unexplained[account]?[app] == nil {
        unexplained[account, default: [:]][app] = (entry.number, name)
      }
    }
  }

  private func set(_ pair: Pair) throws(VaultError) -> GrantSet? {
    if let known = sets[pair] { return known }
    let set = try Records(store).grants(app: pair.app, account: AccountID(pair.account))
    if sets.count >= Self.cacheLimit { sets.removeAll(keepingCapacity: true) }
    sets.updateValue(set, forKey: pair)
    return set
  }

  /// To be called after the last entry.
  ///
  /// - Throws: ``VaultError`` with reason `unexplainedGrant`.
  func finish() throws(VaultError) {
    var standings: UInt64 = 0
    try Records(store).forEachGrantSet { (set) throws(VaultError) in
      standings += UInt64(set.standings.count)
      return true
    }
    if standings != explained { try findUnexplained() }
    let first = unexplained.values.flatMap { apps in apps.map { ($0.key, $0.value) } }
      .min { $0.1.entry < $1.1.entry }
    if let (app, decision) = first {
      throw VaultError(
        .damaged,
        "entry \(decision.entry) of the ledger: its decision on \(decision.permission) for app"
          + " \(app) does not stand",
        hint: VaultError.restoreHint, reason: .unexplainedGrant)
    }
  }

  /// Names the standing that no entry decided.
  private func findUnexplained() throws(VaultError) {
    let rows = LedgerRows(store)
    try Records(store).forEachGrantSet { (set) throws(VaultError) in
      for standing in set.standings {
        guard standing.entry < store.state.ledgerSize else {
          throw .unexplained(
            set, standing.name, "names entry \(standing.entry), which is not there")
        }
        let entry = try rows.open(try store.entry(standing.entry))
        guard entry.decides(standing, of: set) else {
          throw .unexplained(set, standing.name, "is not what entry \(standing.entry) decided")
        }
      }
      return true
    }
    throw VaultError(
      .damaged, "the grants are not what the ledger decided", hint: VaultError.restoreHint,
      reason: .unexplainedGrant)
  }
}

extension Entry {
  /// Whether this entry made a standing what it is.
  fileprivate func decides(_ standing: PermissionStanding, of set: GrantSet) -> Bool {
    guard app == set.app, account == set.account.key, permissions.contains(standing.name) else {
      return false
    }
    switch (event, standing.decision) {
    case (.granted, .granted):
      return standing.until == until
        && (standing.group != .write || standing.audience?.rawValue == audience)
    case (.denied, .denied): return true
    case (.revoked, .revoked), (.lostOnSite, .revoked), (.narrowed, .revoked): return true
    default: return false
    }
  }
}

extension VaultError {
  fileprivate static let restoreHint = "vault restore BACKUP --to PATH"

  fileprivate static func unexplained(_ set: GrantSet, _ name: String, _ what: String)
    -> VaultError
  {
    VaultError(
      .damaged, "grant of \(name) to app \(set.app): it \(what)", hint: restoreHint,
      reason: .unexplainedGrant)
  }
}
