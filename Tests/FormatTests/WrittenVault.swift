import AccountVault
import Foundation
import Synchronization
import TestSupport

/// A vault with something of everything that a file can hold, written by the library.
struct WrittenVault {
  static let token = "EAAB-token-of-lestat"

  let directory: TemporaryDirectory
  private let seconds = SetSeconds()

  var path: String { directory("accounts.vault") }
  var keyFile: String { directory("key") }
  var heads: String { directory("state") }
  var head: String { get throws { "\(heads)/\(try Vault.open(at: path).id).head" } }

  var options: Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = heads
    options.clock = seconds.clock
    return options
  }

  init() throws {
    directory = try TemporaryDirectory()
    try Data((0..<32).map { UInt8($0) }).write(to: URL(filePath: keyFile))
  }

  private func key() throws -> Secret {
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: keyFile)))
    return Secret(wiping: &bytes)
  }

  /// Makes the vault and puts little into it.
  func create(passphrase: String? = nil) throws -> String? {
    var creation = Vault.CreationOptions()
    creation.session = options
    creation.cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    var created = try Vault.create(
      at: path, passphrase: passphrase.map { secret($0) }, keyFile: try key(), options: creation)
    var code: String?
    if let shown = created.recoveryCode.take() { code = text(shown) }
    _ = try created.session.addAccount(
      NewAccount(type: "facebook", username: "lestat.ali"),
      credential: .response(
        secret(#"{"access_token":"\#(Self.token)","token_type":"bearer","expires_in":5184000}"#)))
    _ = try created.session.grant(Decision(app: "123", permissions: ["publish_actions"]))
    try created.session.flush()
    return code
  }

  func open(_ path: String? = nil) throws -> Session {
    try Vault.open(at: path ?? self.path).unlock(with: .keyFile(try key()), options: options)
  }

  /// Does everything that leaves another kind of byte in the file.
  func fill() throws {
    let session = try open()
    _ = try session.addClient(
      type: "x", clientID: "c1", secret: secret("client secret"), name: "Naïve ☕ client",
      redirect: "http://127.0.0.1/callback")
    _ = try session.addClient(type: "facebook", clientID: "77:1")
    let x = try session.addAccount(
      NewAccount(type: "x", username: "lestat", userID: "9007199254740993"),
      credential: .response(
        secret(
          #"{"access_token":"at","refresh_token":"rt","token_type":"bearer","expires_in":7200,"#
            + #""scope":"tweet.read users.read offline.access"}"#)))
    _ = try session.addAccount(
      NewAccount(type: "twitter", description: "the old one"),
      credential: .response(
        secret("oauth_token=1-t&oauth_token_secret=ts&user_id=12&screen_name=lestat")))
    _ = try session.addAccount(NewAccount(type: "weibo", username: "莱斯特"), credential: .none)
    _ = try session.rename(x, to: "lestat.renamed")
    _ = try session.addApp(
      "mailer", name: "Mailer", clients: ["x:c1"], signOnly: true, uids: [1000, 1001])
    _ = try session.addProvider(
      #"{"id":"own","name":"Own","extends":"x","api_hosts":["api.own.example"]}"#)
    _ = try session.deny(
      Decision(app: "123", permissions: ["email"], account: "lestat.ali", reason: "no mail"))
    _ = try session.grant(
      Decision(
        app: "mailer", permissions: ["email", "user_likes"], account: "lestat.ali",
        until: Timestamp(seconds: seconds.value + 60)))
    _ = try session.revoke(Decision(app: "mailer", permissions: ["user_likes"]))
    _ = try session.token(app: "123", permissions: ["publish_actions"])
    _ = try? session.token(app: "123", permissions: ["email"])
    seconds.advance(3600)
    // The lapse of `email` is put into the ledger before this is decided.
    _ = try session.grant(
      Decision(app: "mailer", permissions: ["user_birthday"], account: "lestat.ali"))
    _ = try? session.requestAccess(
      AccessRequest(app: "asking", type: "facebook", permissions: ["email"]), asker: .nobody)
    let gone = try session.addAccount(
      NewAccount(type: "facebook", username: "gone"), credential: .none)
    _ = try session.remove(gone)
    // Its token waits to be revoked, with the secret of a client that is gone too.
    _ = try session.addClient(type: "reddit", clientID: "rc", secret: secret("reddit secret"))
    let told = try session.addAccount(
      NewAccount(type: "reddit", username: "told"),
      credential: .response(
        secret(
          #"{"access_token":"ra","refresh_token":"rr","token_type":"bearer","expires_in":3600}"#)))
    _ = try session.remove(told)
    try session.removeClient("reddit:rc")
    _ = try session.rotateKey(
      with: .keyFile(try key()), cost: KeyDerivationCost(memoryBytes: 19 << 20, operations: 1))
    try session.flush()
  }

  func secret(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }

  /// Only a test may do this.
  func text(_ secret: borrowing Secret) -> String {
    secret.withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }
}

/// A clock that goes when it is told to.
final class SetSeconds: Sendable {
  private let seconds = Mutex<Int64>(1_800_000_000)

  var value: Int64 { seconds.withLock { $0 } }
  func advance(_ by: Int64) { seconds.withLock { $0 += by } }

  var clock: Clock {
    Clock(
      now: { Timestamp(seconds: self.value) }, sinceBoot: { self.value * 1_000_000_000 })
  }
}
