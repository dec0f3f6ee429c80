import Foundation
import TamperSupport
import TestSupport
import Testing

/// Key settings that a hostile file names, with the unkeyed digest made to fit.
@Suite struct `Hostile key settings` {
  private static let settings: [(operations: UInt64, memory: UInt64)] = [
    (3, 4 << 40), (3, 1 << 63), (3, 1 << 30 + 1024), (UInt64(UInt32.max), 64 << 20),
    (11, 19 << 20), (0, 64 << 20), (3, 0), (3, 1024), (1, UInt64.max),
  ]

  @Test(arguments: settings)
  func `are refused before anything is allocated`(operations: UInt64, memory: UInt64) throws {
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory.path)
    try sample.create(passphrase: VaultOperation.oldPassphrase).flush()
    try Attack.python(Self.edit, sample.path, "\(operations)", "\(memory)")
    let left = try Attack.bytes(sample.path)
    // An address space that holds the program and 64 MiB more than an honest slot needs.
    let child = try Child.run(
      "sh",
      [
        "-c", "ulimit -v 1500000; exec \"$1\" unlock \"$2\" \"$3\"", "sh", Child.driver,
        directory.path, VaultOperation.oldPassphrase,
      ], seconds: 20)
    #expect(child.signal == 0)
    #expect(
      ["too_expensive", "damaged_slot"].contains {
        child.output.hasPrefix("error damaged \($0)")
      }, "\(child.output)\(child.errors)")
    #expect(try Attack.bytes(sample.path) == left)
  }

  @Test func `that are honest still open, so that the edit is what is refused`() throws {
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory.path)
    try sample.create(passphrase: VaultOperation.oldPassphrase).flush()
    let child = try Child.run(
      Child.driver, ["unlock", directory.path, VaultOperation.oldPassphrase], seconds: 20)
    #expect(child.output.hasPrefix("ok"), "\(child.output)\(child.errors)")
  }

  @Test func `of another cost pass the first check and fail by the seal`() throws {
    // A cheaper slot would make the owner's next guess cheap to watch; the settings are sealed in.
    let directory = try TemporaryDirectory()
    let sample = SampleVault(in: directory.path)
    try sample.create(passphrase: VaultOperation.oldPassphrase).flush()
    try Attack.python(Self.edit, sample.path, "1", "\(20 << 20)")
    let child = try Child.run(
      Child.driver, ["unlock", directory.path, VaultOperation.oldPassphrase], seconds: 20)
    #expect(child.output.hasPrefix("error wrongKey") || child.output.hasPrefix("error wrong_key"))
  }

  /// Edits the passphrase slot and the digest of the slots in the state row; both are unkeyed.
  private static let edit = """
    import hashlib, sqlite3, struct, sys
    path, operations, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    file = sqlite3.connect(path)
    state = file.execute("SELECT body FROM state").fetchone()[0]
    slots = dict((bytes(i), (bytes(b), bytes(x))) for i, b, x in file.execute("SELECT * FROM slot"))

    def digest():
        text = state[1:17] + struct.pack(">I", len(slots))
        for key in sorted(slots):
            body, box = slots[key]
            text += key + struct.pack(">I", len(body)) + body + struct.pack(">I", len(box)) + box
        return hashlib.blake2b(text, digest_size=32).digest()[:16]

    assert digest() == state[74:90], "the layout is another"
    for key, (body, box) in slots.items():
        if body[1] == 1:
            edited = body[:22] + struct.pack(">IQ", operations, memory) + body[34:]
            slots[key] = (edited, box)
            file.execute("UPDATE slot SET body = ? WHERE id = ?", (edited, key))
    file.execute("UPDATE state SET body = ?", (state[:74] + digest() + state[90:],))
    file.commit()
    file.close()
    """
}
