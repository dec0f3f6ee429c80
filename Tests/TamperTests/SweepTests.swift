import AccountVault
import Dispatch
import Foundation
import TamperSupport
import TestSupport
import Testing

/// Every bit flipped, every length cut, of the smallest file that holds a vault.
///
/// A full sweep takes minutes: it runs where `VAULT_FULL_SWEEP` is set, as before a release.
/// Otherwise places are taken at a fixed stride, which has no factor in common with a page.
@Suite(.serialized) struct `A damaged vault` {
  private static var isFull: Bool {
    ProcessInfo.processInfo.environment["VAULT_FULL_SWEEP"] != nil
  }

  @Test func `with any bit of its file flipped is named, or reads as before`() throws {
    try sweep("file", "flip", stride: 101)
  }

  @Test func `with its file cut anywhere is named, or reads as before`() throws {
    try sweep("file", "cut", stride: 23)
  }

  @Test func `with any bit of its log flipped is named, or reads as before`() throws {
    try sweep("wal", "flip", stride: 97)
  }

  @Test func `with its log cut anywhere is named, or reads as before`() throws {
    try sweep("wal", "cut", stride: 23)
  }

  @Test func `with any bit of its head flipped is named, or reads as before`() throws {
    try sweep("head", "flip", stride: 29)
  }

  @Test func `with its head cut anywhere is named, or reads as before`() throws {
    try sweep("head", "cut", stride: 7)
  }

  private func sweep(_ target: String, _ kind: String, stride: Int) throws {
    let directory = try TemporaryDirectory()
    let memory = "/dev/shm/sweep-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: memory) }
    let sample = SampleVault(in: directory("small"))
    try FileManager.default.createDirectory(
      atPath: sample.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try makeSmall(sample, withLog: target == "wal")
    let shares = 2
    let stride = Self.isFull ? 1 : stride
    let children = try concurrently(shares) { share in
      // In memory, so that no disk is waited for.
      let place = memory + "-\(share)"
      defer { try? FileManager.default.removeItem(atPath: place) }
      _ = try sample.copy(to: place)
      return try Child.run(
        Child.driver,
        ["sweep", place, target, kind, "\(stride)", "\(shares)", "\(share)"], seconds: 3600)
    }
    var total = 0
    for child in children {
      let last = child.errors.split(separator: "\r").last ?? ""
      #expect(child.isSuccess, "it ended by signal \(child.signal) at \(last)")
      for line in child.output.split(separator: "\n") {
        #expect(!line.hasPrefix("at=") && !line.hasPrefix("error"), "\(line)")
      }
      for word in child.output.split(whereSeparator: \.isWhitespace) {
        let pair = word.split(separator: "=")
        guard pair.count == 2, pair[0] != "at", let count = Int(pair[1]) else { continue }
        #expect(pair[0].hasPrefix("named:") || pair[0] == "harmless", "\(word)")
        total += count
      }
      print("sweep of \(target), \(kind): \(child.output)", terminator: "")
    }
    print("sweep of \(target), \(kind): \(total) places")
    #expect(total > 100)
  }

  /// A vault in pages of 512 bytes, the least that SQLite knows, so that little of it is unused.
  private func makeSmall(_ sample: SampleVault, withLog: Bool) throws {
    do {
      let session = try sample.create()
      try SampleVault.addLestat(session)
      _ = try session.grant(
        Decision(app: "123", permissions: ["publish_actions"], account: "lestat"))
      try session.flush()
    }
    try Attack.sql(
      sample.path,
      "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;"
        + " PRAGMA journal_mode = WAL")
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: sample.path + suffix)
    }
    if withLog {
      let session = try sample.unlock()
      _ = try Probe.firstToken.read(session)
      try session.flush()
    }
  }

  private func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Child) throws
    -> [Child]
  {
    let results = Locked<[Int: Result<Child, any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: count) { index in
      let result = Result { try body(index) }
      results.withLock { $0[index] = result }
    }
    return try results.withLock { $0 }.sorted { $0.key < $1.key }.map { try $0.value.get() }
  }
}

/// A value that several threads change in turn.
final class Locked<Value: Sendable>: @unchecked Sendable {
  private var value: Value
  private let lock = NSLock()

  init(_ value: Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) -> R) -> R {
    lock.lock()
    defer { lock.unlock() }
    return body(&value)
  }
}
