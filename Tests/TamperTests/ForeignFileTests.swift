import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// Files that are no vaults, and names that are no files.
@Suite struct `What is not a vault` {
  private let directory: TemporaryDirectory
  private var sample: SampleVault { SampleVault(in: directory.path) }

  init() throws { directory = try TemporaryDirectory() }

  private func refusal() -> VaultError? {
    sample.refusal()
  }

  @Test(arguments: [
    "an empty file", "a picture", "another application's database", "zeros", "random bytes",
    "a vault's first hundred bytes", "a text",
    "a database with a vault's application id and no number",
  ])
  func `is refused and keeps every byte`(kind: String) throws {
    var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    png += (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    switch kind {
    case "an empty file": _ = directory.newFile("v.vault")
    case "a picture": try Data(png).write(to: URL(fileURLWithPath: sample.path))
    case "zeros": try Data(count: 8192).write(to: URL(fileURLWithPath: sample.path))
    case "random bytes":
      let bytes = (0..<8192).map { _ in UInt8.random(in: 0...255) }
      try Data(bytes).write(to: URL(fileURLWithPath: sample.path))
    case "a vault's first hundred bytes":
      try sample.create().flush()
      let bytes = try Attack.bytes(sample.path).prefix(100)
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: sample.path + suffix)
      }
      try Data(bytes).write(to: URL(fileURLWithPath: sample.path))
    case "a text":
      try Data("SQLite format 3, or so it says".utf8).write(to: URL(fileURLWithPath: sample.path))
    default:
      try Attack.sql(
        sample.path,
        "PRAGMA journal_mode = WAL; CREATE TABLE moz_places (id INTEGER); INSERT INTO moz_places"
          + " VALUES (1)"
          + (kind.hasSuffix("no number") ? "; PRAGMA application_id = \(0x4156_4C54)" : ""))
    }
    let left = try Attack.bytes(sample.path)
    let error = try #require(refusal())
    #expect(error.code == .damaged)
    #expect([.foreignFile, .damagedFile].contains(error.reason))
    #expect(try Attack.bytes(sample.path) == left)
    if kind != "a vault's first hundred bytes" {
      #expect(try directory.names() == ["v.vault"])
      // It is never made over, either.
      let again = fault { () throws(VaultError) in _ = try sample.create() }
      #expect(again?.code == .exists)
      #expect(try Attack.bytes(sample.path) == left)
    }
  }

  @Test(arguments: [2, 99, 0x7fff_ffff]) func `this version refuses a newer one untouched`(
    version: Int
  ) throws {
    // B95.
    try sample.create().flush()
    try Attack.sql(sample.path, "PRAGMA user_version = \(version)")
    try? FileManager.default.removeItem(atPath: sample.path + "-shm")
    try? FileManager.default.removeItem(atPath: sample.path + "-wal")
    let left = try Attack.bytes(sample.path)
    #expect(refusal()?.code == .newerFormat)
    #expect(try Attack.bytes(sample.path) == left)
    #expect(try directory.names() == ["heads", "v.vault"])
  }

  @Test func `a newer number in the log alone is read there too`() throws {
    try sample.create().flush()
    // Left in the log, as a newer program that still has the vault open leaves it.
    try Attack.python(
      """
      import os, sqlite3, sys
      file = sqlite3.connect(sys.argv[1], isolation_level=None)
      file.execute("PRAGMA wal_autocheckpoint = 0")
      file.execute("PRAGMA user_version = 77")
      os._exit(0)
      """, sample.path)
    let left = try Attack.bytes(sample.path)
    #expect(refusal()?.code == .newerFormat)
    #expect(try Attack.bytes(sample.path) == left)
  }

  @Test func `a directory, a pipe and a socket are refused without waiting`() throws {
    try FileManager.default.createDirectory(atPath: sample.path, withIntermediateDirectories: false)
    #expect(refusal()?.reason == .foreignFile)
    rmdir(sample.path)
    mkfifo(sample.path, 0o600)
    #expect(refusal()?.reason == .foreignFile)
    unlink(sample.path)
    try Attack.python(
      "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", sample.path)
    #expect(refusal()?.reason == .foreignFile)
  }

  @Test(arguments: ["", "-wal", "-shm", "-journal"])
  func `a link is not followed`(suffix: String) throws {
    try sample.create().flush()
    let name = sample.path + suffix
    let target = directory("elsewhere")
    if FileManager.default.fileExists(atPath: name) {
      try FileManager.default.moveItem(atPath: name, toPath: target)
    } else {
      try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
    }
    try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: target)
    let left = try Attack.bytes(target)
    #expect(refusal()?.reason == .unsafePath)
    #expect(try Attack.bytes(target) == left)
  }

  @Test func `a link where the lock of the head should be is not followed`() throws {
    try sample.create().flush()
    let lock = try sample.head + ".lock"
    try? FileManager.default.removeItem(atPath: lock)
    let target = directory("elsewhere")
    try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: target)
    let error = fault { () throws(VaultError) in
      let session = try sample.unlock()
      try SampleVault.addLestat(session)
      try session.flush()
    }
    #expect(error?.code == .io)
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  @Test(arguments: [0o770, 0o707, 0o777]) func `a directory that others can write is refused`(
    mode: Int
  ) throws {
    try sample.create().flush()
    let left = try Attack.bytes(sample.path)
    chmod(directory.path, mode_t(mode))
    defer { chmod(directory.path, 0o700) }
    #expect(refusal()?.reason == .unsafePath)
    #expect(try Attack.bytes(sample.path) == left)
  }

  @Test(arguments: ["file:x?mode=memory", "file::memory:", ":memory:", "file:v.vault?immutable=1"])
  func `a name that SQLite would read as more than a name is one`(name: String) throws {
    // A relative path: only there could a name begin with `file:`.
    let child = try Child.run(
      "sh",
      ["-c", "cd \"$1\" && exec \"$2\" named . \"$3\"", "sh", directory.path, Child.driver, name])
    #expect(child.output.hasPrefix("ok"), "\(child.output)\(child.errors)")
    #expect(try directory.names().contains(name))
    #expect(try Attack.bytes(directory(name)).prefix(15) == Array("SQLite format 3".utf8)[...])
  }

  @Test func `every file is closed to others whatever the umask is`() throws {
    // B79.
    let child = try Child.run(
      "sh", ["-c", "umask 000; exec \"$1\" everything \"$2\"", "sh", Child.driver, directory.path])
    #expect(child.output.hasPrefix("ok"), "\(child.output)\(child.errors)")
    var seen = 0
    for case let name as String in try #require(
      FileManager.default.enumerator(atPath: directory.path))
    {
      let facts = try FileManager.default.attributesOfItem(atPath: directory(name))
      let mode = try #require(facts[.posixPermissions] as? Int)
      let isDirectory = facts[.type] as? FileAttributeType == .typeDirectory
      #expect(mode == (isDirectory ? 0o700 : 0o600), "\(name) has mode \(String(mode, radix: 8))")
      seen += 1
    }
    #expect(seen >= 5)
  }
}
