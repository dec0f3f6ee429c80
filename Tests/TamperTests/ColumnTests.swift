import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// Every column of every table, edited by the command `sqlite3`.
@Suite struct `An edited vault file` {
  private let laboratory: Laboratory

  init() throws { laboratory = try Laboratory.shared.get() }

  @Test func `has no table and no column that the matrix leaves out`() throws {
    let columns = try laboratory.columns().mapValues { $0.sorted() }
    #expect(columns == Matrix.tables.mapValues { $0.keys.sorted() })
  }

  @Test(arguments: Matrix.tables.keys.sorted())
  func `has every changed value found and named`(table: String) throws {
    let key = Matrix.key(of: table)
    for (column, expected) in try #require(Matrix.tables[table]) {
      for row in try laboratory.keys(of: table).prefix(table == "entry" ? 3 : 2) {
        let kinds =
          isNumber(table, column)
          ? ["+1", "-1", "most"] : ["last bit", "first bit", "cut", "longer", "empty"]
        for kind in kinds {
          try attack(table, column, expected, "\(table).\(column) of \(row): \(kind)") { path in
            try Attack.python(Self.edit, path, table, column, key, row, kind)
          }
        }
      }
    }
  }

  @Test(arguments: Matrix.tables.keys.sorted())
  func `has two swapped values found and named`(table: String) throws {
    let key = Matrix.key(of: table)
    let rows = try laboratory.keys(of: table)
    guard rows.count > 1 else { return }
    for (column, expected) in try #require(Matrix.tables[table]) where column != key {
      try attack(table, column, expected, "\(table).\(column): swapped") { path in
        try Attack.sql(
          path,
          "CREATE TEMP TABLE kept AS SELECT \(key) AS k, \(column) AS v FROM \(table)"
            + " WHERE \(key) IN (\(rows[0]), \(rows[1]));"
            + "UPDATE \(table) SET \(column) = (SELECT v FROM kept WHERE k <> \(table).\(key))"
            + " WHERE \(key) IN (\(rows[0]), \(rows[1]))"
            + " AND \(column) <> (SELECT v FROM kept WHERE k <> \(table).\(key));"
            + "SELECT total_changes() > 0")
      }
    }
    // The whole of two rows but for their keys: what each says, under the other's name.
    let others = try #require(Matrix.tables[table]?.keys.filter { $0 != key }.sorted())
    let expected = try #require(Matrix.tables[table]?[others[0]])
    try attack(table, others[0], expected, "\(table): two rows swapped") { path in
      try Attack.sql(
        path,
        "CREATE TEMP TABLE kept AS SELECT * FROM \(table) WHERE \(key) IN (\(rows[0]), \(rows[1]));"
          + "UPDATE \(table) SET "
          + others.map { "\($0) = (SELECT \($0) FROM kept WHERE \(key) <> \(table).\(key))" }
          .joined(separator: ", ")
          + " WHERE \(key) IN (\(rows[0]), \(rows[1])); SELECT total_changes() > 0")
    }
  }

  private static let edit = """
    import sqlite3, sys
    path, table, column, key, row, kind = sys.argv[1:]
    file = sqlite3.connect(path)
    file.execute("PRAGMA ignore_check_constraints = ON")
    where = f"WHERE {key} = {row}"
    value = file.execute(f"SELECT {column} FROM {table} {where}").fetchone()[0]
    old = value
    if kind == "+1": value += 1
    elif kind == "-1": value = -1
    elif kind == "most": value = 2**63 - 1
    elif kind == "last bit": value = value[:-1] + bytes([value[-1] ^ 1]) if value else b"x"
    elif kind == "first bit": value = bytes([value[0] ^ 0x80]) + value[1:] if value else b"y"
    elif kind == "cut": value = value[:-1] if value else b"z"
    elif kind == "longer": value += b"\\0"
    elif kind == "empty": value = b"" if value else b"w"
    print(int(value != old))
    file.execute(f"UPDATE OR REPLACE {table} SET {column} = ? {where}", (value,))
    file.commit()
    file.close()
    """

  private func isNumber(_ table: String, _ column: String) -> Bool {
    ["version", "generation", "day", "due", "number", "place"].contains(column)
      || (table, column) == ("state", "id")
  }

  private func attack(
    _ table: String, _ column: String, _ expected: Matrix, _ name: String,
    _ hand: (String) throws -> String
  ) throws {
    let specimen = try laboratory.specimen()
    // An attack that changed nothing proves nothing.
    if try hand(specimen.vault.path) == "0" { return }
    let findings = try specimen.examine(name)
    let reason = findings.verification?.reason.rawValue ?? "nothing"
    #expect(expected.reasons.contains(reason), "\(name): verify says \(reason)")
    #expect(
      expected.readers.isEmpty || !expected.readers.isDisjoint(with: findings.refusing),
      "\(name): met by no reader of \(expected.readers)")
  }
}
