import AccountVault
import Faults
import Foundation

/// A vault with rows of every kind, in a directory of its own, opened by key files.
///
/// The file is `v.vault`, its head lies under `heads`. Key files are 32 equal bytes.
public struct SampleVault: Sendable {
  public let directory: String

  public init(in directory: String) { self.directory = directory }

  public var path: String { directory + "/v.vault" }
  public var heads: String { directory + "/heads" }

  /// The key file that every sample vault has.
  public static let key: UInt8 = 7
  /// The other key file of a full one.
  public static let otherKey: UInt8 = 8
  /// The token of the account `lestat`, and what stands in it nowhere in the file.
  public static let token = "EAAlestatsecretsecretsecret"

  public static func key(_ byte: UInt8) -> Key {
    var bytes = [UInt8](repeating: byte, count: 32)
    return .keyFile(Secret(wiping: &bytes))
  }

  public static func secret(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }

  public func options(looking: Bool = false) -> Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = heads
    options.isLooking = looking
    return options
  }

  // MARK: Making

  /// Makes an empty one.
  public func create(
    passphrase: String? = nil, anchor: Vault.AnchorRule = .adopt, anchorPath: String? = nil,
    recovery: Bool = false
  ) throws(VaultError) -> Session {
    var options = Vault.CreationOptions()
    options.session = self.options()
    options.makesRecoveryCode = recovery
    options.anchor = anchor
    options.anchorPath = anchorPath
    // The least that a new passphrase may cost, so that tests do not wait.
    options.cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    var bytes = [UInt8](repeating: Self.key, count: 32)
    let phrase = passphrase.map { Self.secret($0) }
    let created = try Vault.create(
      at: path, passphrase: phrase, keyFile: Secret(wiping: &bytes), options: options)
    return created.session
  }

  /// Makes one with at least two rows in every table.
  public func createFull() throws(VaultError) {
    let session = try create(recovery: true)
    var other = [UInt8](repeating: Self.otherKey, count: 32)
    _ = try session.addKeyFile(Secret(wiping: &other))
    _ = try session.addClient(
      type: "facebook", clientID: "1001", secret: Self.secret("client secret one"), name: "one")
    _ = try session.addClient(
      type: "x", clientID: "2002", secret: Self.secret("client secret two"), name: "two")
    try session.addProvider(#"{"id": "mine", "extends": "facebook", "name": "Mine"}"#)
    try session.addProvider(#"{"id": "yours", "extends": "x", "name": "Yours"}"#)
    try Self.addLestat(session)
    try Self.addArmand(session, token: "XXarmandsecret")
    _ = try session.addApp("123", name: "First")
    _ = try session.addApp("456", name: "Second")
    _ = try session.grant(
      Decision(app: "123", permissions: ["publish_actions"], account: "lestat"))
    _ = try session.grant(Decision(app: "456", permissions: ["tweet.read"], account: "armand"))
    _ = try session.deny(Decision(app: "456", permissions: ["email"], account: "lestat"))
    ask(session, app: "123", type: "x", ["tweet.write"])
    ask(session, app: "456", type: "x", ["like.read"])
    _ = try session.token(app: "123", permissions: ["publish_actions"], strictly: true)
    try session.flush()
  }

  public static func addLestat(_ session: borrowing Session) throws(VaultError) {
    let answer =
      #"{"access_token":"\#(token)","token_type":"bearer","expires_in":5183999}"#
    _ = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat"), credential: .response(secret(answer)))
  }

  /// Adds him, or signs him in again.
  public static func addArmand(_ session: borrowing Session, token: String) throws(VaultError) {
    let answer =
      #"{"access_token":"\#(token)","refresh_token":"XXrefresh","token_type":"bearer","#
      + #""expires_in":7200,"scope":"tweet.read tweet.write users.read offline.access"}"#
    _ = try session.addAccount(
      NewAccount(type: "x", username: "armand", userID: "42"),
      credential: .response(secret(answer)))
  }

  /// Nobody answers it, so it stays.
  private func ask(
    _ session: borrowing Session, app: String, type: String, _ permissions: [String]
  ) {
    let request = AccessRequest(app: app, type: type, permissions: permissions)
    _ = try? session.requestAccess(request, asker: .nobody)
  }

  // MARK: Opening

  public func unlock(looking: Bool = false, key: UInt8 = SampleVault.key) throws(VaultError)
    -> Session
  {
    try Vault.open(at: path).unlock(with: Self.key(key), options: options(looking: looking))
  }

  public func unlock(passphrase: String) throws(VaultError) -> Session {
    try Vault.open(at: path).unlock(
      with: .passphrase(Self.secret(passphrase)), options: options())
  }

  /// What unlocking it as ever says, and nil where it opens.
  public func refusal() -> VaultError? {
    do throws(VaultError) {
      _ = try unlock()
      return nil
    } catch {
      return error
    }
  }

  /// What a check of the whole vault says, and nil where it finds nothing.
  public func verification() -> VaultError? {
    do throws(VaultError) {
      _ = try unlock(looking: true).verify()
      return nil
    } catch {
      return error
    }
  }
}
