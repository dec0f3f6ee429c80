import AccountVault
import Faults
import Foundation
import Sodium
import TamperSupport
import TestSupport
import Testing

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
