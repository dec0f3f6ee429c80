import AccountVault
import Faults
import JSON
import Ledger
import Time

/// `vault history`
enum HistoryCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    var query = HistoryQuery()
    query.app = context.arguments.text("app")
    query.event = context.arguments.text("event").flatMap(Event.init)
    query.since = try context.time("since", .ago)
    query.limit = try context.integer("limit", in: 0...1_000_000_000).map(Int.init)
    let account = context.arguments.text("account")
    let follows = context.arguments.has("follow")
    let terminal = context.terminal
    var failure: CommandFailure?
    var printer = Printer(terminal: terminal)
    try context.withSession(looking: true) { (session) throws(VaultError) in
      if let account { query.account = try session.historyAccount(account) }
      if let app = query.app { try session.checkHistoryApp(app) }
      query.to = try session.entryCount()
      do throws(CommandFailure) {
        try printer.show(session, query)
        if follows { try follow(session, query, &printer) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return .ok
  }

  /// Waits for more entries until the reader goes away or a signal ends the process.
  private static func follow(
    _ session: borrowing Session, _ query: HistoryQuery, _ printer: inout Printer
  ) throws(CommandFailure) {
    var query = query
    query.limit = nil
    while true {
      try printer.terminal.flush()
      guard printer.terminal.waitWhileRead(milliseconds: 250) else { return }
      let count = try vaultCall { () throws(VaultError) in try session.entryCount() }
      guard let seen = query.to, count > seen else { continue }
      query.from = seen
      query.to = count
      try printer.show(session, query)
    }
  }

  private struct Printer {
    let terminal: Terminal
    private var headerIsShown = false

    init(terminal: Terminal) { self.terminal = terminal }

    mutating func show(_ session: borrowing Session, _ query: HistoryQuery)
      throws(CommandFailure)
    {
      var failure: CommandFailure?
      var lines: [JSONObject] = []
      try vaultCall { () throws(VaultError) in
        try session.history(query) { (entry) throws(VaultError) in
          if terminal.printsJSON, failure == nil {
            do throws(CommandFailure) {
              try terminal.line(object(entry).line)
            } catch {
              failure = error
            }
          } else if failure == nil {
            lines.append(object(entry, label: true))
          }
        }
      }
      if let failure { throw failure }
      if terminal.printsJSON || lines.isEmpty { return }
      var table = TextTable(headers: headerIsShown ? [] : Self.columns.map(\.header))
      headerIsShown = true
      for line in lines { table.add(Self.columns.map { $0.show(line) }) }
      for line in table.lines where !line.isEmpty { try terminal.line(line) }
    }

    static let columns = [
      Column("ENTRY", "entry"), Column("TIME", "time"), Column("EVENT", "event"),
      Column("ACTOR", "actor"), Column("APP", "app"), Column("ACCOUNT", "label"),
      Column("PERMISSIONS", "permissions"), Column("AUDIENCE", "audience"),
      Column("REASON", "reason"),
    ]

    private func object(_ entry: Entry, label: Bool = false) -> JSONObject {
      var object = JSONObject()
      object.add("entry", Int64(entry.number))
      object.add("time", entry.time)
      object.add("event", entry.event.rawValue)
      object.add("actor", entry.actor)
      object.add("app", entry.app)
      object.add("account", entry.accountID)
      if label { object.add("label", entry.accountLabel) }
      object.add("permissions", entry.permissions)
      object.add("audience", entry.audience)
      object.add("reason", entry.reason)
      object.add("evidence", evidence(entry))
      return object
    }

    /// The provider's answer, and the entry's details.
    private func evidence(_ entry: Entry) -> JSONObject? {
      var object = JSONObject()
      if let evidence = entry.evidence {
        object.add("status", evidence.status.map { Int64($0) })
        object.add("code", evidence.code)
        object.add("subcode", evidence.subcode)
        object.add("class", evidence.class)
        object.add("body_hash", evidence.bodyHash)
      }
      if let until = entry.until { object.add("until", until) }
      for detail in entry.details { object.add(detail.name, detail.value) }
      return object.members.isEmpty ? nil : object
    }
  }
}
