public import Time

/// Where one app stands with one account: every permission that was ever decided.
///
/// It is one record, so that a decision over several permissions is whole or not there, and so that
/// the table shows pairs of app and account and not how many permissions each has. It is a
/// projection of the ledger: applying the entries in order makes the same set again.
public struct GrantSet: Equatable, Sendable {
  /// The app's id.
  public let app: String
  public let account: AccountID
  /// By name, in the order of the UTF-8 bytes; each name once.
  public internal(set) var standings: [PermissionStanding]

  /// The set of an app that was never asked about.
  package init(app: String, account: AccountID) {
    self.app = app
    self.account = account
    standings = []
  }

  /// What was decided about a permission; nil where nobody did.
  public func standing(of name: String) -> PermissionStanding? {
    let place = place(of: name)
    guard place < standings.count, same(standings[place].name, name) else { return nil }
    return standings[place]
  }

  /// The state of a permission at a time.
  public func state(of name: String, now: Timestamp) -> PermissionState {
    standing(of: name)?.state(now: now) ?? .never
  }

  /// The permissions in use at a time, by name.
  public func granted(now: Timestamp) -> [PermissionStanding] {
    standings.filter { $0.state(now: now) == .granted }
  }

  /// Whether the app may do all of these at a time. Of no names at all it is false.
  public func allows(_ names: [String], now: Timestamp) -> Bool {
    !names.isEmpty && names.allSatisfy { state(of: $0, now: now) == .granted }
  }

  /// The grants whose end has come and whose lapse no entry records yet.
  public func unrecordedLapses(now: Timestamp) -> [PermissionStanding] {
    standings.filter { $0.lapseEntry == nil && $0.state(now: now) == .lapsed }
  }

  /// The index of the first standing that does not precede `name`.
  func place(of name: String) -> Int {
    var low = 0
    var high = standings.count
    while low < high {
      let middle = (low + high) / 2
      if precedes(standings[middle].name, name) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
