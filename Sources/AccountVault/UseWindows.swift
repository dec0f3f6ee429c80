import Time
import Store
import Accounts
import Encoding
import Ledger

/// The hand-outs and refusals of a session that the ledger knows of and that are only counted now.
///
/// The first of each kind is in the ledger before the secret leaves, and its entry says "any number
/// until then"; the count follows when the window ends. A crash loses the count, never the fact.
final class UseWindows {
  /// How long one entry covers its like, in seconds.
  static let seconds: Int64 = 60
  /// More kinds at a time than this are not kept open, so that memory stays flat.
  static let limit = 4096

  struct Kind: Hashable {
    var event: Event
    var app: String
    /// Zero where it is about none.
    var account: Key16
    var client: String
    var generation: Int64
    /// The entries of the grants that were relied on: a grant that changed is another kind.
    var grants: [UInt64]
    var permissions: [String]
    /// Why it was refused.
    var reason: String?
  }

  final class Window {
    let until: Timestamp
    let label: String
    /// Beyond the one that the ledger has.
    fileprivate(set) var count: UInt64 = 0
    fileprivate var isOpen = true

    fileprivate init(until: Timestamp, label: String) {
      self.until = until
      self.label = label
    }

    /// Counts one more, if the window is still open.
    func countOne(now: Timestamp) -> Bool {
      guard isOpen, now < until,
        // A clock that was set back does not make a window longer.
        until.seconds - now.seconds <= UseWindows.seconds
      else { return false }
      count += 1
      return true
    }
  }

  private var open: [Kind: Window] = [:]
  /// When the first of them ends, and the last: outside of these times some are over.
  private var firstEnd = Timestamp(seconds: .max)
  private var lastEnd = Timestamp(seconds: .min)

  /// Counts one more of a kind, if its window is open.
  ///
  /// - Returns: The window.
  func count(_ kind: Kind, now: Timestamp) -> Window? {
    guard let window = open[kind], window.countOne(now: now) else { return nil }
    return window
  }

  var hasOpen: Bool { !open.isEmpty }

  @discardableResult
  func begin(_ kind: Kind, label: String, now: Timestamp) -> Window {
    let window = Window(until: now + UseWindows.seconds, label: label)
    open.updateValue(window, forKey: kind)?.isOpen = false
    firstEnd = min(firstEnd, window.until)
    lastEnd = max(lastEnd, window.until)
    return window
  }

  private func reopen(_ kind: Kind, _ window: Window) {
    open[kind, default: window].count = window.count + (open[kind]?.count ?? 0)
  }

  /// Takes out the windows that are over (or all) and answers those with a count.
  func close(all: Bool, now: Timestamp) -> [(Kind, Window)] {
    guard !open.isEmpty else { return [] }
    let isFull = open.count > UseWindows.limit
    guard all || isFull || now >= firstEnd || lastEnd.seconds - now.seconds > UseWindows.seconds
    else { return [] }
    let over = open.filter { _, window in
      all || isFull || now >= window.until
        || window.until.seconds - now.seconds > UseWindows.seconds
    }
    for (kind, window) in over {
      window.isOpen = false
      open[kind] = nil
    }
    firstEnd = open.values.map(\.until).min() ?? Timestamp(seconds: .max)
    lastEnd = open.values.map(\.until).max() ?? Timestamp(seconds: .min)
    return over.filter { $0.value.count > 0 }.sorted { $0.value.until < $1.value.until }
      .map { ($0.key, $0.value) }
  }
}

extension UseWindows {
  /// Takes counts back that could not be written.
  func put(back windows: [(Kind, Window)]) {
    for (kind, window) in windows { reopen(kind, window) }
  }
}

extension Session {
  /// Writes the counts of windows that are over.
  func closeUseWindows(all: Bool) throws(VaultError) {
    let over = uses.close(all: all, now: now)
    guard !over.isEmpty else { return }
    do throws(VaultError) {
      try store.write { () throws(VaultError) in
        for (kind, window) in over { try record(count: window, of: kind) }
      }
    } catch {
      // A busy file or a full disk loses no count; it is written with the next.
      uses.put(back: over)
      throw error
    }
  }

  private func record(count window: UseWindows.Window, of kind: UseWindows.Kind)
    throws(VaultError)
  {
    let hasAccount = kind.account != .zero
    let entry = Entry(
      number: store.state.ledgerSize, time: now, event: kind.event,
      actor: kind.event == .accessRequested ? "app:\(kind.app)" : options.actor, app: kind.app,
      account: hasAccount ? kind.account : nil, accountLabel: hasAccount ? window.label : nil,
      permissions: kind.permissions, reason: kind.reason,
      details: [Entry.Detail("count", String(window.count))])
    try LedgerRows(store).append(entry)
  }
}
