import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// A full vault at two moments, and what befalls copies of it.
final class Laboratory: Sendable {
  static let shared = Result { try Laboratory() }

  private let directory: TemporaryDirectory
  /// As it was first.
  let older: SampleVault
  /// After every table changed once more.
  let newer: SampleVault
  /// `newer` and `older` as one file each, to be attached by another program.
  var olderFile: String { directory("older.db") }
  /// What every probe reads in `newer`.
  let baseline: [Probe: Probe.Answer]

  private init() throws {
    directory = try TemporaryDirectory()
    let work = SampleVault(in: directory("work"))
    try FileManager.default.createDirectory(
      atPath: work.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try work.createFull()
    try UnreadRows.put(into: work, ["one", "two"])
    older = try work.copy(to: directory("older"))
    try Self.change(work)
    try UnreadRows.put(into: work, ["two"])
    newer = try work.copy(to: directory("newer"))
    for suffix in ["-wal"] { try? FileManager.default.removeItem(atPath: work.path + suffix) }
    baseline = try Probe.readAll(newer.copy(to: directory("read")).unlock(), writing: true)
    for (probe, answer) in baseline {
      guard case .refusal(let error) = answer else { continue }
      throw Attack.Failed(description: "\(probe) of the sound vault: \(error)")
    }
    try Attack.sql(
      older.copy(to: directory("flat")).path, "VACUUM INTO '\(directory("older.db"))'")
  }

  /// Changes a row of every table, so that an older version of each can be put back.
  private static func change(_ sample: SampleVault) throws(VaultError) {
    let session = try sample.unlock()
    _ = try session.revoke(
      Decision(app: "123", permissions: ["publish_actions"], account: "lestat"))
    _ = try session.grant(
      Decision(app: "123", permissions: ["publish_actions"], account: "lestat"))
    _ = try session.rename(try session.account("armand"), to: "marius")
    _ = try session.rename(try session.account("marius"), to: "armand")
    try SampleVault.addArmand(session, token: "XXnewer")
    try session.addProvider(#"{"id": "mine", "extends": "facebook", "name": "Mine too"}"#)
    _ = try session.newAppKey("456")
    _ = try session.addRecovery()
    try session.removeClient("facebook:1001")
    _ = try session.addClient(
      type: "facebook", clientID: "1001", secret: SampleVault.secret("another"), name: "one")
    let ask = AccessRequest(app: "123", type: "x", permissions: ["tweet.write"])
    _ = try? session.requestAccess(ask, asker: .nobody)
    try session.flush()
  }

  /// A copy for one attack, removed with the value.
  func specimen(_ sample: SampleVault? = nil) throws -> Specimen {
    Specimen(try (sample ?? newer).copy(to: directory(UUID().uuidString)), self)
  }

  /// The tables of the file and their columns, as another program sees them.
  func columns() throws -> [String: [String]] {
    let lines = try Attack.sql(
      olderFile,
      "SELECT m.name || ' ' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c"
        + " WHERE m.type = 'table'")
    var columns: [String: [String]] = [:]
    for line in lines.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      columns[words[0], default: []].append(words[1])
    }
    return columns
  }

  /// The keys of a table's rows, as SQL literals.
  func keys(of table: String) throws -> [String] {
    let specimen = try specimen()
    return try Attack.sql(
      specimen.vault.path, "SELECT quote(\(Matrix.key(of: table))) FROM \(table)"
    ).split(separator: "\n").map(String.init)
  }
}

/// One attacked copy.
final class Specimen {
  let vault: SampleVault
  private let laboratory: Laboratory

  init(_ vault: SampleVault, _ laboratory: Laboratory) {
    self.vault = vault
    self.laboratory = laboratory
  }

  deinit { try? FileManager.default.removeItem(atPath: vault.directory) }

  /// What came of an attack: what verification says, and which probes refuse.
  struct Findings {
    var verification: VaultError?
    var refusing: Set<Probe>
  }

  /// Looks at the vault in every way, and holds three things that no attack may break: what is read
  /// is what was written, a refusal names damage, and the file stays as the attacker left it.
  func examine(_ attack: String) throws -> Findings {
    let left = try Attack.bytes(vault.path)
    let verification = vault.verification()
    var answers: [Probe: Probe.Answer] = [:]
    do throws(VaultError) {
      // The head is held against as ever: this is how an app is served.
      let session = try vault.unlock()
      answers = Probe.readAll(session, writing: false)
      #expect((try? Attack.bytes(vault.path)) == left, "\(attack): the file was changed")
      answers.merge(Probe.readAll(session, writing: true)) { first, _ in first }
    } catch {
      #expect(try Attack.bytes(vault.path) == left, "\(attack): the file was changed")
      for probe in Probe.allCases { answers[probe] = .refusal(error) }
    }
    var refusing: Set<Probe> = []
    for (probe, answer) in answers where answer != laboratory.baseline[probe] {
      switch answer {
      case .text(let text):
        // The writing probes add to the history.
        Issue.record("\(attack): \(probe) reads something else: \(text.prefix(200))")
      case .refusal(let error):
        refusing.insert(probe)
        #expect(error.code == .damaged, "\(attack): \(probe) is refused without a name: \(error)")
      }
    }
    return Findings(verification: verification, refusing: refusing)
  }
}
