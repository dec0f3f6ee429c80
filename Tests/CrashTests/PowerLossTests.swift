import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// A life of a vault, its power cut after each thing that it did to a file.
@Suite struct `A vault whose power is cut` {
  /// What the vault had promised by then.
  private struct Promise {
    var isMade = false
    var entries: UInt64 = 0
    /// How many entries the head outside the file had to name; nil before there was one.
    var anchored: UInt64?
  }

  @Test func `keeps every acknowledged commit, and its head is never ahead`() throws {
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory("life"))
    try FileManager.default.createDirectory(
      atPath: sample.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    let log = directory("events")
    let child = try Preload.run("scenario", on: sample, log: log)
    try #require(child.isSuccess, "\(child.output)\(child.errors)")

    let events = try FileEvent.all(in: log)
    let full = ProcessInfo.processInfo.environment["VAULT_FULL_SWEEP"] != nil
    let chances = full ? 60 : max(1, (1200 + events.count) / max(events.count, 1))
    let place = "/dev/shm/powerless-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    var disk = Disk(root: sample.directory)
    var random = Seeded(state: 1)
    var promise = Promise()
    var states = 0
    var commits = 0
    for (number, event) in events.enumerated() {
      if event.path == sample.directory + "/acks" {
        if event.kind == .write {
          Self.take(event, into: &promise)
          commits += 1
        }
        continue
      }
      disk.apply(event)
      for luck in [.nothing, .everything] + [Disk.Luck](repeating: .chance, count: chances) {
        try disk.write(to: place, luck, &random)
        states += 1
        if let fault = Self.fault(SampleVault(in: place), promise) {
          Issue.record(
            "after event \(number) (\(event.kind) \(event.path.split(separator: "/").last ?? "")), \(luck): \(fault)"
          )
        }
      }
    }
    print("power cut: \(states) states of \(events.count) events, \(commits) acknowledgements")
    #expect(states >= 1000)
    #expect(commits > 30)
  }

  private static func take(_ event: FileEvent, into promise: inout Promise) {
    let words = String(decoding: event.data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    promise.isMade = true
    promise.entries = UInt64(words[0]) ?? 0
    if words[1] == "1" { promise.anchored = promise.entries }
  }

  /// How many entries the newer slot of the head names; its layout is Format.md's.
  private static func entriesNamed(by sample: SampleVault) -> UInt64 {
    guard let head = try? sample.head, let bytes = try? Attack.bytes(head), bytes.count == 1024
    else { return 0 }
    func number(_ offset: Int) -> UInt64 {
      bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    return max(number(60), number(572))
  }

  private static func fault(_ sample: SampleVault, _ promise: Promise) -> String? {
    guard FileManager.default.fileExists(atPath: sample.path) else {
      return promise.isMade ? "the vault is gone" : nil
    }
    do throws(VaultError) {
      let session = try sample.unlock(looking: true)
      let found = try session.verify()
      if found.entries < promise.entries {
        return "\(promise.entries) entries were acknowledged, \(found.entries) are there"
      }
      guard let anchored = promise.anchored else { return nil }
      if !found.anchored { return "the head is gone" }
      let named = entriesNamed(by: sample)
      return named < anchored ? "a head of \(anchored) was acknowledged, it is of \(named)" : nil
    } catch {
      return "\(error.reason): \(error)"
    }
  }
}
