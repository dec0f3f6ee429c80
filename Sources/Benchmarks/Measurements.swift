import AccountVault
import Accounts

/// Tokens of accounts that are drawn anew each time, as a long-lived session hands them out: the
/// first use of each in a minute is in the ledger, the rest are counted.
///
/// A session keeps at most 4,096 such windows, so as many accounts at most, spread over the whole
/// vault, take turns. `first` are the recorded uses, each with its own durable commit.
struct Reading {
  private static let drawn = 4_000

  let vault: BenchVault
  let reads: Int

  init(_ vault: BenchVault, reads: Int) {
    self.vault = vault
    self.reads = reads
  }

  func run() throws(VaultError) {
    let session = try vault.unlock()
    let count = try vault.accountCount()
    var draws = Draws()
    var labels: [String] = []
    if count <= Self.drawn {
      for index in 1...count { labels.append(BenchVault.label(index)) }
    } else {
      var seen: Set<Int> = []
      while labels.count < Self.drawn {
        let index = Int.random(in: 1...count, using: &draws)
        if seen.insert(index).inserted { labels.append(BenchVault.label(index)) }
      }
    }
    var sum = 0
    let first = Stopwatch()
    for label in labels { sum &+= try read(label, session) }
    Figure.tell("first", Double(labels.count) / first.wallSeconds, "/s")
    // Once more unmeasured, so that what was read last is not the only thing that is warm.
    for label in labels { sum &+= try read(label, session) }
    let order = (0..<reads).map { _ in Int.random(in: 0..<labels.count, using: &draws) }
    let warm = Stopwatch()
    for index in order { sum &+= try read(labels[index], session) }
    Figure.tell("tokens", Double(reads) / warm.processorSeconds, "/cpu-s")
    Figure.tell("tokens-wall", Double(reads) / warm.wallSeconds, "/s")
    // As if another process had changed a row before each read: nothing decided before counts.
    let few = order.prefix(max(1, reads / 4))
    let cold = Stopwatch()
    for index in few {
      session.forgetDecisions()
      sum &+= try read(labels[index], session)
    }
    Figure.tell("decided-anew", Double(few.count) / cold.processorSeconds, "/cpu-s")
    if sum == 0 { Swift.print("nothing was read") }
  }

  private func read(_ label: String, _ session: borrowing Session) throws(VaultError) -> Int {
    let token = try session.token(
      app: BenchVault.app, account: label, permissions: BenchVault.permissions)
    return token.withBytes { $0.byteCount }
  }
}

/// Durable grants, `group` to a commit.
struct Granting {
  let vault: BenchVault
  let seconds: Double
  let group: Int

  init(_ vault: BenchVault, seconds: Double, group: Int) {
    self.vault = vault
    self.seconds = seconds
    self.group = group
  }

  func run() throws(VaultError) {
    let session = try vault.unlock()
    let count = try vault.accountCount()
    var draws = Draws()
    var done = 0
    let time = Stopwatch()
    while time.wallSeconds < seconds {
      if group == 1 {
        try grant(Int.random(in: 1...count, using: &draws), session)
      } else {
        try session.together { () throws(VaultError) in
          for _ in 0..<group { try grant(Int.random(in: 1...count, using: &draws), session) }
        }
      }
      done += group
    }
    Figure.tell("grants", Double(done) / time.wallSeconds, "/s")
    Figure.tell("grants-cpu", Double(done) / time.processorSeconds, "/cpu-s")
  }

  private func grant(_ index: Int, _ session: borrowing Session) throws(VaultError) {
    _ = try session.grant(
      Decision(
        app: BenchVault.app, permissions: BenchVault.permissions,
        account: BenchVault.label(index)))
  }
}

/// The check of everything.
struct Checking {
  let vault: BenchVault

  init(_ vault: BenchVault) { self.vault = vault }

  func run() throws(VaultError) {
    let session = try vault.unlock()
    let ledger = Stopwatch()
    let entries = Double(try session.verifyLedgerAlone())
    Figure.tell("entries", entries / ledger.processorSeconds, "/cpu-s")
    Figure.tell("entries-wall", entries / ledger.wallSeconds, "/s")
    let whole = Stopwatch()
    _ = try session.verify()
    Figure.tell("whole", whole.wallSeconds, "s")
  }
}

/// Every account with its name.
struct Listing {
  let vault: BenchVault

  init(_ vault: BenchVault) { self.vault = vault }

  func run() throws(VaultError) {
    let session = try vault.unlock()
    var times: [Double] = []
    var bytes = 0
    for _ in 0..<5 {
      let time = Stopwatch()
      try session.forEachAccount { (account) throws(VaultError) in
        bytes += account.username.utf8.count
        return true
      }
      times.append(time.wallSeconds * 1000)
    }
    times.sort()
    Figure.tell("list", times[2], "ms")
    if bytes == 0 { Swift.print("nothing was listed") }
  }
}
