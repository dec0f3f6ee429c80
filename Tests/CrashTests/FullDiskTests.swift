import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// Operations on a disk with less and less room.
@Suite(.serialized) struct `A full disk` {
  static let operations: [VaultOperation] = [
    .add, .grant, .token, .passphrase, .rekey, .backup, .restore, .reset, .removeKey,
    .removeAccount,
  ]

  @Test(
    .enabled(if: geteuid() == 0, "mounting a small disk needs root"), arguments: operations)
  func `refuses an operation whole, by its name`(operation: VaultOperation) throws {
    let directory = try TemporaryDirectory()
    let (prepared, before, after) = try Self.prepare(operation, directory)
    let disk = directory("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try TestSupport.run(
      "/usr/bin/env", "mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", disk)
    defer { try? TestSupport.run("/usr/bin/env", "umount", "-l", disk) }
    var refused = 0
    // Pages of the room that is left.
    for pages in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256] {
      let sample = SampleVault(in: disk + "/v")
      try FileManager.default.copyItem(atPath: prepared.directory, toPath: sample.directory)
      defer { try? FileManager.default.removeItem(atPath: sample.directory) }
      let filler = disk + "/filler"
      try Self.fill(filler, leaving: pages)
      let child = try Child.run(Child.driver, [operation.rawValue, sample.directory])
      try FileManager.default.removeItem(atPath: filler)
      if !child.isSuccess { refused += 1 }
      try Self.judge(operation, sample, child, "\(pages) pages left", before, after)
    }
    #expect(refused > 0)
  }

  @Test(arguments: operations)
  func `by a limit on the size of files refuses an operation whole, by its name`(
    operation: VaultOperation
  ) throws {
    let directory = try TemporaryDirectory()
    let (prepared, before, after) = try Self.prepare(operation, directory)
    let size = try Attack.bytes(
      FileManager.default.fileExists(atPath: prepared.path)
        ? prepared.path : prepared.directory + "/backup"
    ).count
    var refused = 0
    for blocks in [0, 1, 2, 8, 16, 32, 64, size / 512 - 8, size / 512, size / 512 + 16] {
      let sample = SampleVault(in: directory("limited"))
      try FileManager.default.copyItem(atPath: prepared.directory, toPath: sample.directory)
      defer { try? FileManager.default.removeItem(atPath: sample.directory) }
      let child = try Child.run(
        "sh",
        [
          // What it says goes through a pipe: a file would be limited too.
          "-c", "(ulimit -f \"$1\"; exec \"$2\" \"$3\" \"$4\") | cat", "sh", "\(blocks)",
          Child.driver, operation.rawValue, sample.directory,
        ])
      if !child.output.hasPrefix("ok") { refused += 1 }
      try Self.judge(operation, sample, child, "files of \(blocks) blocks", before, after)
    }
    #expect(refused > 0)
  }

  private static func prepare(_ operation: VaultOperation, _ directory: TemporaryDirectory) throws
    -> (SampleVault, Outcome, Outcome)
  {
    let prepared = SampleVault(in: directory("prepared"))
    try FileManager.default.createDirectory(
      atPath: prepared.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try operation.prepare(prepared)
    if FileManager.default.fileExists(atPath: prepared.path) {
      // A long log has room of its own.
      try Attack.sql(prepared.path, "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    let looked = SampleVault(in: directory("before"))
    try FileManager.default.copyItem(atPath: prepared.directory, toPath: looked.directory)
    let before = try Outcome(of: looked)
    let whole = SampleVault(in: directory("whole"))
    try FileManager.default.copyItem(atPath: prepared.directory, toPath: whole.directory)
    let child = try Child.run(Child.driver, [operation.rawValue, whole.directory])
    try #require(child.isSuccess, "\(child.output)\(child.errors)")
    return (prepared, before, try Outcome(of: whole))
  }

  private static func fill(_ path: String, leaving pages: Int) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let page = [UInt8](repeating: 1, count: 4096)
    var written = 0
    while write(file, page, page.count) == page.count { written += 1 }
    ftruncate(file, off_t(max(0, written - pages) * 4096))
    close(file)
  }

  private static func judge(
    _ operation: VaultOperation, _ sample: SampleVault, _ child: Child, _ place: String,
    _ before: Outcome, _ after: Outcome
  ) throws {
    let name = "\(operation), \(place)"
    #expect(child.signal == 0, "\(name): ended by a signal")
    let found: Outcome
    do {
      found = try Outcome(of: sample)
    } catch {
      Issue.record("\(name): \(child.output)\(error)")
      return
    }
    #expect(found == before || found == after, "\(name): \(child.output)\(found) is neither")
    if child.output.hasPrefix("ok") {
      #expect(found == after, "\(name): said ok, and is \(found)")
    } else {
      #expect(
        child.output.hasPrefix("error io disk_full"), "\(name): \(child.output)\(child.errors)")
    }
    if child.output.contains(SampleVault.token) {
      #expect(found.uses > before.uses, "\(name): a token left without its entry")
    }
  }
}
