import AccountVault
import Faults
import Foundation

/// An operation that can be cut off; each is prepared, run, and looked at afterwards.
public enum VaultOperation: String, CaseIterable, Sendable {
  case create, add, grant, token, passphrase, rekey, backup, restore, reset
  case removeKey = "remove-key"
  case removeAccount = "remove-account"
  case checkpoint, open

  public static let oldPassphrase = "the old passphrase"
  public static let newPassphrase = "the new passphrase"
  private static let cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)

  /// What must be there before it runs.
  public func prepare(_ sample: SampleVault) throws(VaultError) {
    switch self {
    case .create: return
    case .passphrase:
      let session = try sample.create(passphrase: Self.oldPassphrase)
      try SampleVault.addLestat(session)
      try session.flush()
    case .rekey:
      let session = try sample.create()
      var other = [UInt8](repeating: SampleVault.otherKey, count: 32)
      _ = try session.addKeyFile(Secret(wiping: &other))
      for number in 0..<200 {
        let answer = #"{"access_token":"EAA\#(number)","expires_in":5183999}"#
        _ = try session.addAccount(
          NewAccount(type: "facebook", username: "user\(number)"),
          credential: .response(SampleVault.secret(answer)))
      }
      try session.flush()
    case .restore:
      try sample.createFull()
      try sample.unlock().backUp(to: sample.directory + "/backup")
      for name in ["v.vault", "v.vault-wal", "v.vault-shm"] {
        try? FileManager.default.removeItem(atPath: sample.directory + "/" + name)
      }
    case .reset, .open:
      try sample.createFull()
      try? FileManager.default.removeItem(atPath: sample.heads)
    default: try sample.createFull()
    }
  }

  /// Runs it.
  ///
  /// - Parameter leaving: Is handed what a person would be, while the session is still open.
  public func run(
    on sample: SampleVault, leaving: (String) -> Void = { _ in }
  ) throws(VaultError) {
    switch self {
    case .create:
      try sample.create().flush()
    case .add:
      let session = try sample.unlock()
      _ = try session.addAccount(
        NewAccount(type: "facebook", username: "louis", userID: "77"),
        credential: .bearer(SampleVault.secret("EAAlouis")))
      try session.flush()
    case .grant:
      let session = try sample.unlock()
      _ = try session.grant(
        Decision(app: "123", permissions: ["email"], account: "lestat"))
      try session.flush()
    case .token:
      let session = try sample.unlock()
      leaving(try Probe.firstToken.read(session))
    case .passphrase:
      let session = try sample.unlock()
      try session.changePassphrase(
        to: SampleVault.secret(Self.newPassphrase), cost: Self.cost)
      try session.flush()
    case .rekey:
      let session = try sample.unlock()
      _ = try session.rotateKey(with: SampleVault.key(SampleVault.key), cost: Self.cost)
      try session.flush()
    case .backup:
      try sample.unlock().backUp(to: sample.directory + "/backup")
    case .restore:
      try Vault.restore(
        sample.directory + "/backup", to: sample.path, with: SampleVault.key(SampleVault.key),
        options: sample.options()
      ).flush()
    case .reset:
      let session = try sample.unlock(looking: true)
      try session.resetAnchor(reason: "a test")
    case .removeKey:
      let session = try sample.unlock()
      try session.removeKey(3)
      try session.flush()
    case .removeAccount:
      let session = try sample.unlock()
      try session.remove(try session.account("lestat"))
      try session.flush()
    case .checkpoint:
      let session = try sample.unlock()
      _ = try session.checkpoint()
      try session.flush()
    case .open: try sample.unlock().flush()
    }
  }
}
