import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// Whole rows taken out, put in, and put back as they once were.
@Suite struct `A vault file with other rows` {
  private let laboratory: Laboratory

  init() throws { laboratory = try Laboratory.shared.get() }

  @Test(arguments: Matrix.tables.keys.sorted())
  func `has every missing row found and named`(table: String) throws {
    let key = Matrix.key(of: table)
    for row in try laboratory.keys(of: table) {
      let findings = try attack(
        table, key, "\(table) \(row): deleted", "DELETE FROM \(table) WHERE \(key) = \(row)",
        mustBeMet: !UnreadRows.isNode(table, row))
      // A row that is named is named as itself.
      if Matrix.rowColumns.count == Matrix.tables[table]?.count {
        #expect(
          findings.verification?.message.contains("removed behind the vault's back") == true)
      }
    }
    try attack(table, key, "\(table): emptied", "DELETE FROM \(table)")
  }

  @Test(arguments: Matrix.tables.keys.sorted())
  func `has every added row found and named`(table: String) throws {
    let key = Matrix.key(of: table)
    let others = try #require(Matrix.tables[table]?.keys.filter { $0 != key }.sorted())
    let columns = others.joined(separator: ", ")
    let news: [String] =
      switch table {
      case "entry": ["(SELECT max(number) + 1 FROM entry)", "-1", "9223372036854775807"]
      case "node": ["1", "9223372036854775807", "-1", "(2 << 48) | 1", "(1 << 40) | (1 << 48)"]
      case "state": ["2", "0"]
      default:
        [
          "x'00000000000000000000000000000000'", "x'ffffffffffffffffffffffffffffffff'",
          "x'80000000000000000000000000000000'", "x''", "x'00'",
        ]
      }
    for new in news {
      let name = "\(table) \(new): added"
      let findings = try attack(
        table, key, name,
        "PRAGMA ignore_check_constraints = ON;"
          + "INSERT INTO \(table) (\(key), \(columns)) SELECT \(new), \(columns) FROM \(table) LIMIT 1",
        mustBeMet: false)
      #expect(findings.verification != nil, "\(name)")
    }
    if table == "node" {
      // As good as none to every look, and still not the vault's.
      try attack(
        table, key, "an empty node", "INSERT INTO node VALUES ((1 << 48) | (1 << 40), x'')",
        mustBeMet: false)
    }
  }

  /// What sealing each row by itself cannot find.
  @Test(arguments: Matrix.tables.keys.sorted())
  func `has every older version of a row found and named`(table: String) throws {
    let key = Matrix.key(of: table)
    let others = try #require(Matrix.tables[table]?.keys.filter { $0 != key }.sorted())
    let differs = others.map { "o.\($0) IS NOT n.\($0)" }.joined(separator: " OR ")
    let specimen = try laboratory.specimen()
    let attach = "ATTACH '\(laboratory.olderFile)' AS older;"
    let changed = try Attack.sql(
      specimen.vault.path,
      attach + "SELECT quote(o.\(key)) FROM older.\(table) o LEFT JOIN main.\(table) n"
        + " ON n.\(key) = o.\(key) WHERE n.\(key) IS NULL OR \(differs)"
    ).split(separator: "\n").map(String.init)
    // The ledger's entries and the definition of slots never change in place.
    #expect(!changed.isEmpty || table == "entry" || table == "slot", "\(table) did not change")
    for row in changed {
      try attack(
        table, key, "\(table) \(row): put back",
        attach + "REPLACE INTO main.\(table) SELECT * FROM older.\(table) WHERE \(key) = \(row)",
        mustBeMet: !UnreadRows.isNode(table, row))
    }
    if !changed.isEmpty {
      try attack(
        table, key, "\(table): put back whole",
        attach + "DELETE FROM main.\(table);"
          + "INSERT INTO main.\(table) SELECT * FROM older.\(table)")
    }
  }

  /// The older tree fits the older rows: only the state row's root tells.
  @Test(arguments: Matrix.tables.keys.filter { $0 != "state" }.sorted())
  func `has a table put back together with its tree found and named`(table: String) throws {
    let specimen = try laboratory.specimen()
    let differs =
      "SELECT count(*) FROM (SELECT * FROM main.\(table) EXCEPT SELECT * FROM older.\(table))"
    let changed = try Attack.sql(
      specimen.vault.path,
      "ATTACH '\(laboratory.olderFile)' AS older; \(differs);"
        + [table, "node"].map {
          "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM older.\($0);"
        }.joined())
    try #require(changed != "0")
    let findings = try specimen.examine("\(table) and tree put back")
    let expected = try #require(Matrix.tables[table]?[Matrix.key(of: table)])
    let reason = findings.verification?.reason.rawValue ?? "nothing"
    // The tree of the other tables is older too, and is met first or last.
    #expect(expected.reasons.union(["damaged_row"]).contains(reason), "\(reason)")
    #expect(
      expected.readers.isEmpty || !expected.readers.isDisjoint(with: findings.refusing))
  }

  @Test func `does not take a revoked grant for granted when the older row is put back`() throws {
    // B91. The row opens: only the tree knows that it is not the newest.
    let specimen = try laboratory.specimen()
    do {
      let session = try specimen.vault.unlock()
      _ = try session.revoke(Decision(app: "456", permissions: ["tweet.read"], account: "armand"))
      try session.flush()
    }
    try Attack.sql(
      specimen.vault.path,
      "ATTACH '\(laboratory.olderFile)' AS older; REPLACE INTO main.standing SELECT * FROM older.standing"
    )
    let session = try specimen.vault.unlock()
    // By the scan that looks for the app's account, and by the look-up where it is named.
    for account in [nil, "armand"] {
      let error = fault { () throws(VaultError) in
        _ = try session.token(app: "456", account: account, permissions: ["tweet.read"])
      }
      #expect(error?.reason == .damagedRow)
      #expect(error?.message.contains("older version of itself") == true)
    }
  }

  @Test func `has a ledger with cut, doubled and reordered entries found and named`() throws {
    let attacks = [
      ("the last five cut", "DELETE FROM entry WHERE number > (SELECT max(number) - 5 FROM entry)"),
      ("the last cut", "DELETE FROM entry WHERE number = (SELECT max(number) FROM entry)"),
      ("the first cut", "DELETE FROM entry WHERE number = 0"),
      ("the middle cut", "DELETE FROM entry WHERE number BETWEEN 4 AND 6"),
      (
        "moved up by one",
        "UPDATE entry SET number = -number WHERE number >= 5;"
          + "UPDATE entry SET number = 1 - number WHERE number < 0"
      ),
      (
        "two in each other's place",
        "UPDATE entry SET number = -1 WHERE number = 3; UPDATE entry SET number = 3 WHERE number = 4;"
          + "UPDATE entry SET number = 4 WHERE number = -1"
      ),
      (
        "one over another",
        "REPLACE INTO entry SELECT 5, leaf, hashes, body FROM entry WHERE number = 4"
      ),
      (
        "reversed",
        "UPDATE entry SET number = -1 - number;"
          + "UPDATE entry SET number = (SELECT count(*) FROM entry) + number"
      ),
    ]
    for (name, statements) in attacks {
      let findings = try attack("entry", "number", name, statements)
      #expect(findings.verification?.message.contains("entry ") == true, "\(name)")
    }
  }

  @Test func `has another application's hand on its schema found at unlocking`() throws {
    let attacks = [
      "CREATE TABLE extra (a)", "CREATE VIEW seen AS SELECT * FROM account",
      "CREATE INDEX hint ON account (day)", "ANALYZE", "DROP INDEX credential_due",
      "DROP INDEX renewal_due", "DROP TABLE pace",
      "CREATE TRIGGER spring AFTER INSERT ON entry BEGIN DELETE FROM standing; END",
      "CREATE TRIGGER spring AFTER UPDATE ON state BEGIN DELETE FROM slot; END",
      "ALTER TABLE account ADD COLUMN note ANY", "ALTER TABLE app RENAME TO apps",
      "ALTER TABLE app RENAME COLUMN due TO done", "DROP TABLE ask",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT, ', '')"
        + " WHERE name = 'account'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'due > 0', 'due > 1')"
        + " WHERE name = 'credential_due'",
    ]
    for statements in attacks {
      let specimen = try laboratory.specimen()
      try Attack.sql(specimen.vault.path, statements)
      let findings = try specimen.examine(statements)
      #expect(
        [.damagedState, .damagedFile].contains(findings.verification?.reason), "\(statements)")
      #expect(findings.refusing == Set(Probe.allCases), "\(statements)")
    }
  }

  @Test func `has tables under each other's names found`() throws {
    let specimen = try laboratory.specimen()
    try Attack.sql(
      specimen.vault.path,
      "PRAGMA writable_schema = ON;"
        + "UPDATE sqlite_schema SET rootpage = (SELECT sum(rootpage) FROM sqlite_schema"
        + " WHERE name IN ('account', 'label')) - rootpage WHERE name IN ('account', 'label')")
    let findings = try specimen.examine("two tables swapped")
    #expect(findings.verification?.reason == .damagedRow)
    #expect(findings.refusing.isSuperset(of: [.accounts, .lestat, .armand]))
  }

  @Test func `has an index without its entries found by the check of the whole`() throws {
    // The row is there, the index does not lead to it: no scan by the index would miss it aloud.
    let specimen = try laboratory.specimen()
    try Attack.sql(
      specimen.vault.path,
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET"
        + " sql = replace(sql, 'due > 0', 'due > 999999999') WHERE name = 'credential_due'")
    try Attack.sql(specimen.vault.path, "REINDEX credential_due")
    try Attack.sql(
      specimen.vault.path,
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET"
        + " sql = replace(sql, 'due > 999999999', 'due > 0') WHERE name = 'credential_due'")
    let findings = try specimen.examine("an empty index")
    #expect(findings.verification?.reason == .damagedFile)
  }

  @discardableResult
  private func attack(
    _ table: String, _ column: String, _ name: String, _ statements: String, mustBeMet: Bool = true
  ) throws -> Specimen.Findings {
    let expected = try #require(Matrix.tables[table]?[column])
    let specimen = try laboratory.specimen()
    try Attack.sql(specimen.vault.path, statements)
    let findings = try specimen.examine(name)
    let reason = findings.verification?.reason.rawValue ?? "nothing"
    #expect(expected.reasons.contains(reason), "\(name): verify says \(reason)")
    #expect(
      !mustBeMet || expected.readers.isEmpty
        || !expected.readers.isDisjoint(with: findings.refusing),
      "\(name): met by no reader of \(expected.readers)")
    return findings
  }
}
