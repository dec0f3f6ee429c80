import AccountVault
import Faults
import Foundation
import TamperSupport
import TestSupport
import Testing

/// A rollback journal that somebody puts beside the file. SQLite takes it for what a crash left and
/// copies its pages into the file, also where the file is in WAL mode and before anything is read:
/// whoever plants one could as well write the file.
@Suite struct `A vault file with a planted journal` {
  private let laboratory: Laboratory

  init() throws { laboratory = try Laboratory.shared.get() }

  @Test func `of an older file is put back by SQLite, and refused by the head`() throws {
    let specimen = try laboratory.specimen()
    try plant(laboratory.olderFile, beside: specimen.vault)
    #expect(specimen.vault.refusal()?.reason == .rolledBack)
    #expect(specimen.vault.verification()?.reason == .rolledBack)
    expectReplayed(specimen.vault)
  }

  @Test func `of edited pages is copied into the file by SQLite, and the edit is found`() throws {
    let specimen = try laboratory.specimen()
    let edited = try specimen.vault.copy(to: specimen.vault.directory + "/edited")
    try Attack.sql(edited.path, "UPDATE standing SET day = day + 1")
    try Attack.sql(edited.path, "PRAGMA wal_checkpoint(TRUNCATE)")
    try plant(edited.path, beside: specimen.vault)
    #expect(specimen.vault.verification()?.reason == .damagedRow)
    expectReplayed(specimen.vault)
    let session = try specimen.vault.unlock()
    let error = fault { () throws(VaultError) in
      _ = try session.token(app: "123", permissions: ["publish_actions"])
    }
    #expect(error?.reason == .damagedRow)
  }

  /// Puts a hot journal beside a vault: played back, it makes the file that of `source`.
  private func plant(_ source: String, beside vault: SampleVault) throws {
    try Attack.sql(vault.path, "PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: vault.path + suffix)
    }
    try Attack.python(Self.journal, source, vault.path + "-journal")
    try #require(hasJournal(vault))
  }

  /// Without this the tests would show no more than that the file was sound.
  private func expectReplayed(_ vault: SampleVault) {
    #expect(!hasJournal(vault), "SQLite did not take the journal")
  }

  private func hasJournal(_ vault: SampleVault) -> Bool {
    FileManager.default.fileExists(atPath: vault.path + "-journal")
  }

  /// SQLite's file format, section 3: the header, then each page with its number and checksum.
  private static let journal = """
    import os, struct, sys
    source, journal = sys.argv[1:]
    data = open(source, "rb").read()
    size = struct.unpack(">H", data[16:18])[0]
    size = 65536 if size == 1 else size
    count, nonce = len(data) // size, 7
    out = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", count, nonce, count, 512, size)
    out = out.ljust(512, b"\\0")
    for number in range(count):
        page = data[number * size:(number + 1) * size]
        check = nonce + sum(page[at] for at in range(size - 200, 0, -200))
        out += struct.pack(">I", number + 1) + page + struct.pack(">I", check & 0xffffffff)
    with open(os.open(journal, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as file:
        file.write(out)
    """
}
