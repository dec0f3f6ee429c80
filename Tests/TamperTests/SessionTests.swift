import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// A file that is edited while it is open.
@Suite struct `An unlocked session` {
  private let laboratory: Laboratory

  init() throws { laboratory = try Laboratory.shared.get() }

  @Test func `verifies the file as it is, not as it remembers it`() throws {
    let attacks = [
      ("node", "UPDATE node SET content = zeroblob(length(content)) WHERE place = 1 << 48"),
      ("node", "DELETE FROM node"),
      ("state", "UPDATE state SET body = CAST(body || x'00' AS BLOB)"),
      ("state", "UPDATE state SET keyring = zeroblob(length(keyring))"),
      ("account", "UPDATE account SET day = day + 1"),
      ("slot", "DELETE FROM slot WHERE id = (SELECT max(id) FROM slot)"),
      ("entry", "UPDATE entry SET hashes = zeroblob(length(hashes)) WHERE number = 2"),
      ("schema", "CREATE TABLE extra (a)"),
    ]
    for (table, statements) in attacks {
      let specimen = try laboratory.specimen()
      let session = try specimen.vault.unlock()
      _ = try session.verify()
      _ = Probe.readAll(session, writing: false)
      try Attack.sql(specimen.vault.path, statements)
      let error = fault { () throws(VaultError) in _ = try session.verify() }
      #expect(error?.code == .damaged, "\(table): \(statements)")
    }
  }

  @Test func `refuses a state that was committed before the last one it saw`() throws {
    // No head is kept, so only the session itself remembers.
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory.path)
    let session = try sample.create(anchor: .none)
    try SampleVault.addLestat(session)
    let older = directory("older.db")
    try Attack.sql(sample.path, "VACUUM INTO '\(older)'")
    _ = try session.addApp("123", name: "First")
    try Attack.sql(
      sample.path,
      "ATTACH '\(older)' AS older; REPLACE INTO main.state SELECT * FROM older.state;"
        + "DELETE FROM main.node; INSERT INTO main.node SELECT * FROM older.node;"
        + "DELETE FROM main.app")
    let error = fault { () throws(VaultError) in _ = try Probe.accounts.read(session) }
    #expect(error?.reason == .rolledBack)
  }

  @Test func `finds a removed account by the beginning of its id`() throws {
    // Otherwise an id that fitted two accounts would quietly mean the other one.
    let specimen = try laboratory.specimen()
    let session = try specimen.vault.unlock()
    let id = try session.account("lestat").id.text
    #expect(try session.account(String(id.prefix(8))).id.text == id)
    for row in try laboratory.keys(of: "account") {
      try Attack.sql(specimen.vault.path, "DELETE FROM account WHERE key = \(row)")
    }
    let error = fault { () throws(VaultError) in _ = try session.account(String(id.prefix(8))) }
    #expect(error?.reason == .damagedRow)
  }
}
