import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// A process that is killed at each of the changes that it makes to files, one after the other.
///
/// `VAULT_FULL_SWEEP` takes every point; otherwise at most so many of each operation, spread evenly.
@Suite(.serialized) struct `An operation that is killed` {
  private static let pointsInBrief = 60

  @Test(arguments: VaultOperation.allCases)
  func `is whole or absent at every point`(operation: VaultOperation) throws {
    let directory = try TemporaryDirectory()
    let prepared = SampleVault(in: directory("prepared"))
    try FileManager.default.createDirectory(
      atPath: prepared.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try operation.prepare(prepared)
    // Looking takes a missing head anew, so it is done to a copy.
    let before = try Outcome(of: Self.copy(prepared, to: directory("before")))

    // Once to the end, to count the points and to see what whole is.
    let whole = try Self.copy(prepared, to: directory("whole"))
    let log = directory("events")
    let child = try Preload.run(operation.rawValue, on: whole, log: log)
    try #require(child.isSuccess, "\(operation): \(child.output)\(child.errors)")
    let points = try FileEvent.all(in: log).count
    let after = try Outcome(of: whole)
    // To sign a checkpoint writes nothing.
    try #require((points == 1) == (operation == .checkpoint))

    let full = ProcessInfo.processInfo.environment["VAULT_FULL_SWEEP"] != nil
    let step = full ? 1 : max(1, points / Self.pointsInBrief)
    var killed = 0
    for point in stride(from: 1, through: points, by: step) {
      let cut = try Self.copy(prepared, to: directory("cut"))
      defer { try? FileManager.default.removeItem(atPath: cut.directory) }
      let child = try Preload.run(operation.rawValue, on: cut, killAt: point)
      // Nonces and drafts' names are random, the number of events is not.
      guard child.signal == SIGKILL else { continue }
      killed += 1
      try judge(
        operation, cut, child, "\(operation) killed at \(point) of \(points)", before, after)
    }
    print("killed \(operation): \(killed) of \(points) points")
    #expect(killed > 0)
  }

  @Test func `lets no token leave before its entry and its head are on the disk`() throws {
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory("sample"))
    try FileManager.default.createDirectory(
      atPath: sample.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try VaultOperation.token.prepare(sample)
    let uses = try Outcome(of: sample).uses
    let child = try Preload.run("token", on: sample, log: directory("events"))
    try #require(child.output.contains(SampleVault.token))
    #expect(try Outcome(of: sample).uses == uses + 1)
    // What was written and not synced yet when the token left, and what was written at all.
    var unsynced: Set<UInt64> = []
    var written: Set<String> = []
    for event in try FileEvent.all(in: directory("events")) {
      switch event.kind {
      case .write:
        unsynced.insert(event.inode)
        written.insert(event.path)
      case .sync: unsynced.remove(event.inode)
      case .output:
        #expect(unsynced.isEmpty)
        #expect(written.contains(sample.path + "-wal"))
        #expect(written.contains(try sample.head))
        return
      default: continue
      }
    }
    Issue.record("nothing left")
  }

  /// A vault directory with everything in it.
  private static func copy(_ sample: SampleVault, to place: String) throws -> SampleVault {
    try? FileManager.default.removeItem(atPath: place)
    try FileManager.default.copyItem(atPath: sample.directory, toPath: place)
    return SampleVault(in: place)
  }

  private func judge(
    _ operation: VaultOperation, _ cut: SampleVault, _ child: Child, _ name: String,
    _ before: Outcome,
    _ after: Outcome
  ) throws {
    // The head is never ahead of the file: unlocking would refuse it as rolled back.
    let found: Outcome
    do {
      found = try Outcome(of: cut)
    } catch {
      Issue.record("\(name): \(error)")
      return
    }
    #expect(found == before || found == after, "\(name): \(found) is neither")
    if operation == .token, child.output.contains(SampleVault.token) {
      #expect(found == after, "\(name): a token left without its entry")
    }
    // Running it again completes it.
    if found == before, operation != .open {
      let again = try Child.run(Child.driver, [operation.rawValue, cut.directory])
      #expect(again.isSuccess, "\(name), again: \(again.output)")
      let now = try Outcome(of: cut)
      #expect(now == after, "\(name), again: \(now)")
    }
  }
}

/// What a vault directory holds, as far as an operation can change it.
struct Outcome: Equatable, CustomStringConvertible {
  /// Which secrets open the vault; none where there is no vault.
  var opens: [String] = []
  var accounts = 0
  /// Tokens that wait to be revoked at their providers.
  var revocations = 0
  var grants = 0
  var uses = 0
  var keys = 0
  var branches = 0
  var epochs = 0
  /// Whether a backup stands there that opens and verifies.
  var hasBackup = false

  var description: String {
    "opens \(opens), \(accounts) accounts, \(revocations) revocations, \(grants) grants, \(uses) uses, \(keys) keys,"
      + " \(branches) branches, \(epochs) key changes, backup \(hasBackup)"
  }

  /// Opens, verifies and counts; throws what the vault says against itself.
  init(of sample: SampleVault) throws {
    let backup = sample.directory + "/backup"
    if FileManager.default.fileExists(atPath: backup) {
      let place = sample.directory + "/opened-backup"
      defer { try? FileManager.default.removeItem(atPath: place) }
      try FileManager.default.createDirectory(
        atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      let copy = SampleVault(in: place)
      try FileManager.default.copyItem(atPath: backup, toPath: copy.path)
      _ = try copy.unlock(looking: true).verify()
      hasBackup = true
    }
    guard FileManager.default.fileExists(atPath: sample.path) else { return }
    try look(sample)
  }

  private mutating func look(_ sample: SampleVault) throws {
    func tries(_ name: String, _ unlock: () throws(VaultError) -> Void) throws {
      do throws(VaultError) {
        try unlock()
        opens.append(name)
      } catch  where error.code == .wrongKey {
        return
      }
    }
    try tries("key") { () throws(VaultError) in _ = try sample.unlock() }
    try tries("other key") { () throws(VaultError) in
      _ = try sample.unlock(key: SampleVault.otherKey)
    }
    let session = try sample.unlock()
    _ = try session.verify()
    let keys = try session.keys()
    self.keys = keys.count
    if keys.contains(where: { $0.kind == "passphrase" }) {
      for phrase in [VaultOperation.oldPassphrase, VaultOperation.newPassphrase] {
        try tries(phrase) { () throws(VaultError) in _ = try sample.unlock(passphrase: phrase) }
      }
    }
    try session.forEachAccount { (account) throws(VaultError) in
      // Every row decrypts; the secrets did in `verify`.
      _ = try session.standing(of: account)
      accounts += 1
      return true
    }
    revocations = try session.pendingRevocations().count
    try session.history(HistoryQuery()) { (entry) throws(VaultError) in
      switch entry.event {
      case .granted: grants += 1
      case .tokenUsed: uses += 1
      case .keysChanged: epochs += 1
      case .restored: branches += 1
      // The owner's own; a head that was missing is taken anew with the same event.
      case .anchorReset where entry.reason == "a test": branches += 1
      default: break
      }
    }
  }
}
