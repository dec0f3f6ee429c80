import AccountVault

/// What one process measures, from its command line.
enum Job {
  case make(BenchVault, accounts: Int)
  case ledger(BenchVault, entries: Int)
  case token(BenchVault, reads: Int)
  case grant(BenchVault, seconds: Double, group: Int)
  case verify(BenchVault)
  case list(BenchVault)

  static let usage = """
    usage: vault-bench make DIR ACCOUNTS | ledger DIR ENTRIES | token DIR READS
           vault-bench grant DIR SECONDS GROUP | verify DIR | list DIR
    """

  init?(_ words: [String]) {
    guard words.count > 2 else { return nil }
    let vault = BenchVault(directory: words[2])
    let number = words.count > 3 ? Double(words[3]) : nil
    switch (words[1], number) {
    case ("make", let count?): self = .make(vault, accounts: Int(count))
    case ("ledger", let count?): self = .ledger(vault, entries: Int(count))
    case ("token", let count?): self = .token(vault, reads: Int(count))
    case ("grant", let seconds?):
      guard words.count > 4, let group = Int(words[4]), group > 0 else { return nil }
      self = .grant(vault, seconds: seconds, group: group)
    case ("verify", _): self = .verify(vault)
    case ("list", _): self = .list(vault)
    default: return nil
    }
  }

  func run() throws(VaultError) {
    let began = Stopwatch()
    switch self {
    case .make(let vault, let accounts):
      try vault.make(accounts: accounts)
      Figure.tell("made", began.wallSeconds, "s")
    case .ledger(let vault, let entries):
      try vault.makeLedger(entries: entries)
      Figure.tell("made", began.wallSeconds, "s")
    case .token(let vault, let reads): try Reading(vault, reads: reads).run()
    case .grant(let vault, let seconds, let group):
      try Granting(vault, seconds: seconds, group: group).run()
    case .verify(let vault): try Checking(vault).run()
    case .list(let vault): try Listing(vault).run()
    }
    Figure.tell("memory", Double(Stopwatch.peakKibibytes), "KiB")
  }
}
