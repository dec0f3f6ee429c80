import AccountVault
import Accounts
import Faults
import FileSystem
import Ledger
import Sodium

/// A vault that was made to be measured: accounts `facebook:user0000001` and up, each with a token of
/// 256 bytes and a grant of `publish_actions` to app 1. Its key lies in a file beside it.
struct BenchVault {
  static let app = "1"
  static let permissions = ["publish_actions"]

  let directory: String
  private var path: String { directory + "/accounts.vault" }
  private var keyPath: String { directory + "/vault.key" }

  static func name(_ index: Int) -> String {
    let digits = String(index)
    return "user" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
  }

  static func label(_ index: Int) -> String { "facebook:" + name(index) }

  /// - Parameter options: With another clock, for what depends on the time.
  func unlock(
    _ options: Vault.UnlockOptions = Vault.UnlockOptions()
  ) throws(VaultError) -> Session {
    let key = try files { () throws(FileError) in
      try Files.openExisting(keyPath, write: false).readAll(maximum: 32)
    }
    var bytes = key
    return try Vault.open(at: path).unlock(
      with: .keyFile(Secret(wiping: &bytes)), options: options)
  }

  /// How many accounts the vault was made with.
  func accountCount() throws(VaultError) -> Int {
    Int(try Vault.open(at: path).accountCount)
  }

  func make(accounts: Int) throws(VaultError) {
    let session = try create()
    try fill(session, accounts: accounts)
    try session.flush()
  }

  /// A ledger as a busy vault has it: of ten entries two are decisions, and eight record a use.
  func makeLedger(entries: Int) throws(VaultError) {
    let session = try create()
    let accounts = min(100, max(1, entries / 10))
    try fill(session, accounts: accounts)
    var known: [Account] = []
    for index in 1...accounts { known.append(try session.account(Self.label(index))) }
    var written = Int(try session.entryCount())
    while written < entries {
      try session.together { () throws(VaultError) in
        for _ in 0..<min(10_000, entries - written) {
          let account = known[written % accounts]
          if written % 10 < 2 {
            _ = try session.grant(
              Decision(app: Self.app, permissions: Self.permissions, account: account.id.text))
          } else {
            try session.record(
              .tokenUsed, app: Self.app, account: account, permissions: Self.permissions,
              details: [Entry.Detail("generation", "1")])
          }
          written += 1
        }
      }
    }
    try session.flush()
  }

  /// - Parameter unlocking: With another clock, for what depends on the time.
  func create(
    _ unlocking: Vault.UnlockOptions = Vault.UnlockOptions()
  ) throws(VaultError) -> Session {
    var key = Random.bytes(32)
    try files { () throws(FileError) in
      let file = try Files.createNew(keyPath)
      try file.write(key)
      try file.synchronizeFully()
    }
    var options = Vault.CreationOptions()
    options.makesRecoveryCode = false
    options.session = unlocking
    _ = try Vault.create(
      at: path, passphrase: nil, keyFile: Secret(wiping: &key), options: options)
    return try unlock(unlocking)
  }

  private func fill(_ session: borrowing Session, accounts: Int) throws(VaultError) {
    _ = try session.addApp(Self.app, name: "Bench")
    var next = 1
    while next <= accounts {
      try session.together { () throws(VaultError) in
        for index in next..<min(next + 10_000, accounts + 1) {
          var token = [UInt8](repeating: UInt8(ascii: "A") + UInt8(index % 26), count: 256)
          let account = try session.addAccount(
            NewAccount(type: "facebook", username: Self.name(index)),
            credential: .bearer(Secret(wiping: &token)))
          _ = try session.grant(
            Decision(app: Self.app, permissions: Self.permissions, account: account.id.text))
        }
      }
      next += 10_000
    }
  }

  private func files<R>(_ body: () throws(FileError) -> R) throws(VaultError) -> R {
    do throws(FileError) {
      return try body()
    } catch {
      throw VaultError(.io, "\(error)")
    }
  }
}
