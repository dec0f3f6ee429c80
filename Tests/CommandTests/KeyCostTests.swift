import Store
import Testing

@testable import Command

@Suite struct `What a guess at the passphrase costs` {
  @Test func `is chosen by the machine's memory`() {
    #expect(KeyCost.forMachine(memoryBytes: 512 << 20).memoryBytes == 64 << 20)
    #expect(KeyCost.forMachine(memoryBytes: (1 << 30) - 1).memoryBytes == 64 << 20)
    #expect(KeyCost.forMachine(memoryBytes: 1 << 30).memoryBytes == 256 << 20)
    #expect(KeyCost.forMachine(memoryBytes: 64 << 30).memoryBytes == 256 << 20)
  }

  @Test(arguments: [("19M", 19 << 20), ("32MiB", 32 << 20)])
  func `is what the person says`(_ size: String, _ bytes: Int) throws {
    let vault = try ScratchVault()
    let passphrase = try vault.directory.file("passphrase", "correct horse\n")
    let path = vault.directory("second.vault")
    try vault.must("init --vault \(path) --passphrase-file \(passphrase) --kdf-memory \(size)")
    let keys = try vault.must("keys --vault \(path) --passphrase-file \(passphrase) --json").output
    #expect(keys.contains("\"operations\":3,\"memory\":\(bytes),"))
  }

  @Test(arguments: ["18M", "2G", "0", "much", "-1"])
  func `beyond the bounds is refused, and no vault is made`(_ size: String) throws {
    let vault = try ScratchVault()
    let passphrase = try vault.directory.file("passphrase", "correct horse\n")
    let ended = try vault.run(
      "init --vault \(vault.directory("second.vault")) --passphrase-file \(passphrase)"
        + " --kdf-memory=\(size)")
    #expect(ended.status == .usage)
    #expect(try vault.run("verify --vault \(vault.directory("second.vault"))").status == .notFound)
  }
}
