import AccountVault
import Faults
import Foundation
import Sodium
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

/// The head outside the file.
@Suite struct `A vault's head` {
  private let laboratory: Laboratory

  init() throws { laboratory = try Laboratory.shared.get() }

  @Test func `is taken anew where it is missing, with a warning and an entry`() throws {
    let specimen = try laboratory.specimen()
    try FileManager.default.removeItem(atPath: specimen.vault.head)
    let session = try specimen.vault.unlock()
    #expect(session.warnings.contains { $0.contains("missing") })
    #expect(try Probe.history.read(session).contains("the head was missing"))
    #expect(try session.verify().anchored)
  }

  @Test func `refuses all but looking where it is missing and required`() throws {
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory.path)
    try sample.create(anchor: .required).flush()
    try FileManager.default.removeItem(atPath: sample.head)
    #expect(sample.refusal()?.reason == .anchorMissing)
    #expect(sample.verification()?.reason == .anchorMissing)
    #expect(try !Probe.keys.read(sample.unlock(looking: true)).isEmpty)
  }

  @Test(arguments: [Vault.AnchorRule.adopt, .required])
  func `in a place of its own is not shared with a restored copy`(rule: Vault.AnchorRule) throws {
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory.path)
    do {
      let session = try sample.create(anchor: rule, anchorPath: directory("own/head"))
      try session.backUp(to: directory("backup"))
      try SampleVault.addLestat(session)
      try session.flush()
    }
    let session = try Vault.restore(
      directory("backup"), to: directory("restored"), with: SampleVault.key(SampleVault.key),
      options: sample.options())
    try session.flush()
    #expect(try session.verify().anchored)
    // Both live on beside each other.
    #expect(sample.refusal() == nil)
    #expect(sample.verification() == nil)
  }

  @Test func `survives one torn slot, and is named where both are`() throws {
    let specimen = try laboratory.specimen()
    let head = try specimen.vault.head
    let sound = try Attack.bytes(head)
    // The slot that holds the greater counter is the one that is being written.
    let newest = sound[28..<36].lexicographicallyPrecedes(sound[540..<548]) ? 1 : 0
    let garbage = [UInt8](repeating: 0xA5, count: 256)
    try Attack.overwrite(head, at: 512 * newest + 64, garbage)
    #expect(specimen.vault.verification() == nil)
    _ = try specimen.vault.unlock()
    try Attack.overwrite(head, at: 64, garbage)
    try Attack.overwrite(head, at: 576, garbage)
    #expect(specimen.vault.verification()?.reason == .damagedAnchor)
    #expect(specimen.vault.refusal()?.reason == .damagedAnchor)
  }

  @Test func `with another number under the same signature is no head`() throws {
    // Else whoever puts an older file back writes the older number beside it.
    let specimen = try laboratory.specimen()
    let head = try specimen.vault.head
    for offset in [28, 540] {
      try Attack.overwrite(head, at: offset, [0, 0, 0, 0, 0, 0, 0, 1])
    }
    #expect(specimen.vault.refusal()?.reason == .damagedAnchor)
    #expect(specimen.vault.verification()?.reason == .damagedAnchor)
  }

  @Test func `signed by another key is no head`() throws {
    // It is in the file's own form and says what the attacker wants; only its key is another.
    let specimen = try laboratory.specimen()
    let head = try specimen.vault.head
    let key = SigningKey(seed: SecretBytes.random(count: 32))
    let sound = try Attack.bytes(head)
    for slot in [0, 512] {
      let text = sound[slot..<slot + 28] + [0, 0, 0, 0, 0, 0, 0, 1] + sound[slot + 36..<slot + 132]
      let forged = Array(text) + key.publicKey
      try Attack.overwrite(head, at: slot, forged + key.sign(forged))
    }
    #expect(specimen.vault.refusal()?.reason == .damagedAnchor)
    #expect(specimen.vault.verification()?.reason == .damagedAnchor)
  }

  @Test func `of the branch that a copy was restored from is not the copy's`() throws {
    // It lies beside the copy's own, and all that it names is in the copy.
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory("first"))
    try FileManager.default.createDirectory(
      atPath: sample.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try sample.create().flush()
    let first = try sample.head
    try sample.unlock().backUp(to: directory("backup"))
    let copy = SampleVault(in: directory("copy"))
    try FileManager.default.createDirectory(
      atPath: copy.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try Vault.restore(
      directory("backup"), to: copy.path, with: SampleVault.key(SampleVault.key),
      options: copy.options()
    ).flush()
    #expect(copy.refusal() == nil)
    try Data(Attack.bytes(first)).write(to: URL(fileURLWithPath: copy.head))
    #expect(copy.refusal()?.reason == .forked)
    #expect(copy.verification()?.reason == .forked)
  }

  @Test func `of another vault, or of none, is named`() throws {
    let directory = try TemporaryDirectory()
    let other = SampleVault(in: directory.path)
    try other.create().flush()
    let contents = [
      try Attack.bytes(other.head), [], Array("not a head".utf8),
      [UInt8](repeating: 0, count: 1024), [UInt8](repeating: 0xFF, count: 1024),
    ]
    for content in contents {
      let specimen = try laboratory.specimen()
      let head = try specimen.vault.head
      _ = FileManager.default.createFile(atPath: head, contents: Data(content))
      #expect(specimen.vault.verification()?.reason == .damagedAnchor)
      let error = specimen.vault.refusal()
      #expect(error?.reason == .damagedAnchor)
      #expect(try Attack.bytes(head) == content)
    }
  }

  @Test func `is never followed through a link`() throws {
    let specimen = try laboratory.specimen()
    let head = try specimen.vault.head
    let target = specimen.vault.directory + "/target"
    try FileManager.default.moveItem(atPath: head, toPath: target)
    try FileManager.default.createSymbolicLink(atPath: head, withDestinationPath: target)
    let left = try Attack.bytes(target)
    #expect(specimen.vault.refusal()?.reason == .unsafePath)
    #expect(try Attack.bytes(target) == left)
  }
}

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
