import AccountVault

/// What one process measures, from its command line.
enum Job {
  case make(BenchVault, accounts: Int)
  case ledger(BenchVault, entries: Int)
  case token(BenchVault, reads: Int)
  case grant(BenchVault, seconds: Double, group: Int)
  case verify(BenchVault)
  case list(BenchVault)
  case due(DueVault, accounts: Int, due: Int)
  case find(DueVault)

  static let usage = """
    usage: vault-bench make DIR ACCOUNTS | ledger DIR ENTRIES | token DIR READS
           vault-bench grant DIR SECONDS GROUP | verify DIR | list DIR
           vault-bench due DIR ACCOUNTS DUE | find DIR
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
    case ("due", let count?):
      guard words.count > 4, let due = Int(words[4]), due <= Int(count) else { return nil }
      self = .due(DueVault(vault), accounts: Int(count), due: due)
    case ("find", _): self = .find(DueVault(vault))
    case ("list", _): self = .list(vault)
    default: return nil
    }
  }

  func run() async throws(VaultError) {
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
    case .due(let vault, let accounts, let due):
      try vault.make(accounts: accounts, due: due)
      Figure.tell("made", began.wallSeconds, "s")
    case .find(let vault): try await vault.find()
    case .list(let vault): try Listing(vault).run()
    }
    Figure.tell("memory", Double(Stopwatch.peakKibibytes), "KiB")
  }
}
