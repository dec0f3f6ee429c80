import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// Whole files of another moment.
@Suite struct `A vault file put back to an older copy` {
  private let laboratory: Laboratory

  init() throws { laboratory = try Laboratory.shared.get() }

  @Test func `is refused, and its history can still be read`() throws {
    let specimen = try laboratory.specimen()
    try specimen.vault.putBack(laboratory.older)
    let left = try Attack.bytes(specimen.vault.path)
    #expect(specimen.vault.refusal()?.reason == .rolledBack)
    #expect(specimen.vault.verification()?.reason == .rolledBack)
    let session = try specimen.vault.unlock(looking: true)
    #expect(try !Probe.history.read(session).isEmpty)
    #expect(try Attack.bytes(specimen.vault.path) == left)
    // Not even who may look is handed a token, and what was refused once is refused again.
    let error = fault { () throws(VaultError) in _ = try Probe.secondToken.read(session) }
    #expect(error != nil)
    #expect(specimen.vault.refusal()?.reason == .rolledBack)
  }

  @Test func `is refused when the main file alone was copied`() throws {
    // B92: the newest commits are in the log beside it.
    let specimen = try laboratory.specimen()
    do {
      let session = try specimen.vault.unlock()
      _ = try session.revoke(Decision(app: "456", permissions: ["tweet.read"], account: "armand"))
      try session.flush()
    }
    let log = try Attack.bytes(specimen.vault.path + "-wal")
    try #require(!log.isEmpty)
    let copy = try laboratory.specimen(
      specimen.vault.copy(to: specimen.vault.directory + "/copied", log: false))
    #expect(copy.vault.refusal()?.reason == .rolledBack)
    #expect(copy.vault.verification()?.reason == .rolledBack)
  }

  @Test func `is refused with the log of another moment beside it`() throws {
    let specimen = try laboratory.specimen()
    try FileManager.default.removeItem(atPath: specimen.vault.path + "-wal")
    try FileManager.default.copyItem(
      atPath: laboratory.older.path + "-wal", toPath: specimen.vault.path + "-wal")
    let error = specimen.vault.refusal()
    #expect(error?.code == .damaged)
    #expect(specimen.vault.verification()?.code == .damaged)

    // The other way round: the older file with the newer log, after the newer one was emptied.
    let other = try laboratory.specimen()
    do {
      let session = try other.vault.unlock()
      try session.removeKey(3)
      _ = try session.deny(Decision(app: "123", permissions: ["email"], account: "lestat"))
      try session.flush()
    }
    try FileManager.default.removeItem(atPath: other.vault.path)
    try FileManager.default.copyItem(atPath: laboratory.older.path, toPath: other.vault.path)
    try? FileManager.default.removeItem(atPath: other.vault.path + "-shm")
    #expect(other.vault.verification()?.code == .damaged)
    #expect(other.vault.refusal()?.code == .damaged)
  }

  @Test func `is not found when the head is put back with it, as the threats say`() throws {
    let specimen = try laboratory.specimen(laboratory.older)
    #expect(specimen.vault.verification() == nil)
    let session = try specimen.vault.unlock()
    #expect(session.warnings.isEmpty)
    // A checkpoint that was kept elsewhere finds it all the same.
    let newer = try laboratory.specimen()
    let kept = try newer.vault.unlock().checkpoint()
    let error = fault { () throws(VaultError) in _ = try session.verify(against: kept.text) }
    #expect(error?.reason == .rolledBack)
  }

  @Test func `is refused for ever on a branch that was closed`() throws {
    let specimen = try laboratory.specimen()
    let before = try specimen.vault.copy(to: specimen.vault.directory + "/before")
    try specimen.vault.unlock(looking: true).resetAnchor(reason: "a test")
    _ = try specimen.vault.unlock()
    try specimen.vault.putBack(before)
    #expect(specimen.vault.refusal()?.reason == .rolledBack)
  }

  @Test func `is told as a fork when it went on elsewhere, also with forged hashes`() throws {
    let specimen = try laboratory.specimen()
    let elsewhere = try specimen.vault.copy(
      to: specimen.vault.directory + "/elsewhere", heads: false)
    func goOn(_ vault: SampleVault, _ times: Int) throws {
      let session = try vault.unlock()
      for _ in 0..<times { _ = try Probe.firstToken.read(session) }
      try session.flush()
    }
    try goOn(specimen.vault, 2)
    try goOn(elsewhere, 9)
    let original = specimen.vault.directory + "/original.db"
    try Attack.sql(
      specimen.vault.copy(to: specimen.vault.directory + "/flat").path,
      "VACUUM INTO '\(original)'")
    try specimen.vault.putBack(elsewhere)
    #expect(specimen.vault.verification()?.reason == .forked)
    #expect(specimen.vault.refusal()?.reason == .forked)
    // A refused file must not become the one that was seen last.
    #expect(specimen.vault.refusal()?.reason == .forked)

    // The stored hashes are in the clear: with those of the original, the tree of that size has the
    // root that the head names. It must be proved up to this ledger's own root.
    try Attack.sql(
      specimen.vault.path,
      "ATTACH '\(original)' AS o; UPDATE entry SET hashes = (SELECT hashes FROM o.entry"
        + " WHERE number = main.entry.number) WHERE number IN (SELECT number FROM o.entry)")
    #expect(specimen.vault.refusal()?.reason == .forked)
    #expect(specimen.vault.verification()?.code == .damaged)
  }
}

/// Entries of another history.
@Suite struct `A ledger` {
  @Test func `does not show an entry of a copy that went on elsewhere`() throws {
    // Its number, key and vault are right, so it opens; it stands in another tree.
    let laboratory = try Laboratory.shared.get()
    let specimen = try laboratory.specimen()
    let elsewhere = try laboratory.specimen()
    for (vault, app) in [(specimen.vault, "123"), (elsewhere.vault, "456")] {
      let session = try vault.unlock()
      _ = try session.deny(Decision(app: app, permissions: ["user_photos"], account: "lestat"))
      try session.flush()
    }
    let other = specimen.vault.directory + "/other.db"
    try Attack.sql(elsewhere.vault.path, "VACUUM INTO '\(other)'")
    try Attack.sql(
      specimen.vault.path,
      "ATTACH '\(other)' AS o; UPDATE entry SET"
        + " (leaf, body) = (SELECT leaf, body FROM o.entry WHERE number = main.entry.number)"
        + " WHERE number = (SELECT max(number) FROM o.entry)")
    let session = try specimen.vault.unlock(looking: true)
    let error = fault { () throws(VaultError) in _ = try Probe.history.read(session) }
    #expect(error?.reason == .damagedLedger)
    #expect(specimen.vault.verification()?.reason == .damagedLedger)
  }
}
