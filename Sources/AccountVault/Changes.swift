public import Faults
import FileSystem
public import Ledger

extension SessionPool {
  /// Gives every entry of the ledger from a number on, whichever process writes it: each once, in
  /// order, held against the tree; first those that are there, then those that come.
  ///
  /// So a program learns that another one renewed, granted or revoked.
  ///
  /// ```swift
  /// for try await entry in pool.changes(from: seen) where entry.event == .revoked { … }
  /// ```
  ///
  /// The kernel says when the vault's files are written (inotify). Where it cannot, and now and then in
  /// any case, since a file on a network is written by others unseen, the vault is looked at again.
  ///
  /// - Parameter entry: The first number that is wanted: ``Session/entryCount()`` for what comes from
  ///   now on, or one more than the last that was seen, however long ago.
  /// - Returns: A sequence that ends where its task is cancelled, and throws what reading the vault
  ///   throws: `keysChanged` after another process gave it a new key, `damagedLedger`, `rolledBack`.
  public func changes(from entry: UInt64) -> Changes { Changes(pool: self, from: entry) }
}

/// Entries as they are written, from ``SessionPool/changes(from:)``.
public struct Changes: AsyncSequence, Sendable {
  /// One event in the ledger.
  public typealias Element = Entry
  /// What reading the vault throws.
  public typealias Failure = VaultError

  let pool: SessionPool
  let from: UInt64
  /// Milliseconds after which the vault is looked at although nothing was told.
  let look: Int64
  let isWatching: Bool

  package init(
    pool: SessionPool, from: UInt64, lookMilliseconds: Int64 = 30_000, isWatching: Bool = true
  ) {
    self.pool = pool
    self.from = from
    look = lookMilliseconds
    self.isWatching = isWatching
  }

  /// Begins at the sequence's first entry.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(changes: self) }

  /// Reads on from entry to entry.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Entries that are read at a time.
    private static let page: UInt64 = 256
    /// Milliseconds between two looks where the kernel tells nothing.
    private static let slow: Int64 = 2000
    /// Milliseconds of the looks after a write was told that was not committed yet: the log is written
    /// first, its index last.
    private static let settling: [Int64] = [5, 20, 100, 500, 2000]

    private let changes: Changes
    private var next: UInt64
    /// What was read, the newest first.
    private var entries: [Entry] = []
    private var watch: FileWatch?
    private var hasBegun = false
    /// How many looks since the last word of the kernel found nothing.
    private var looks = 0

    init(changes: Changes) {
      self.changes = changes
      next = changes.from
    }

    /// Waits for the next entry; nil where the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(VaultError) -> Entry? {
      if !hasBegun { begin() }
      while !Task.isCancelled {
        if let entry = entries.popLast() {
          next = entry.number + 1
          return entry
        }
        try read()
        if entries.isEmpty { await wait() } else { looks = 0 }
      }
      return nil
    }

    /// The watch comes before the first look, so that nothing falls between them.
    private mutating func begin() {
      hasBegun = true
      guard changes.isWatching else { return }
      let path = changes.pool.path
      guard let slash = path.lastIndex(of: "/") else { return }
      let name = String(path[path.index(after: slash)...])
      let directory = slash == path.startIndex ? "/" : String(path[..<slash])
      watch = try? FileWatch([name, name + "-wal"], in: directory)
    }

    private mutating func read() throws(VaultError) {
      var query = HistoryQuery()
      query.from = next
      query.to = next + Self.page
      let asked = query
      entries = try changes.pool.withSession { (session) throws(VaultError) in
        var found: [Entry] = []
        try session.history(asked) { found.append($0) }
        return found
      }.reversed()
    }

    private mutating func wait() async {
      guard let watch else {
        let pause = UInt64(Swift.min(Self.slow, changes.look)) * 1_000_000
        // Cancelling ends it early.
        try? await Task.sleep(nanoseconds: pause)
        return
      }
      let pause = looks < Self.settling.count ? Self.settling[looks] : changes.look
      if await watch.wait(milliseconds: pause) { looks = 0 } else { looks += 1 }
    }
  }
}
