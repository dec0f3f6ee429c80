import AccountVault
import Foundation
import Synchronization
import TestSupport
import Testing

/// A clock that stands still until it is set.
final class SetClock: Sendable {
  private let seconds: Mutex<Int64>

  init(_ seconds: Int64 = 1_800_000_000) { self.seconds = Mutex(seconds) }

  var now: Timestamp {
    get { Timestamp(seconds: seconds.withLock { $0 }) }
    set { seconds.withLock { $0 = newValue.seconds } }
  }

  func advance(_ by: Int64) { seconds.withLock { $0 += by } }

  var clock: Clock {
    Clock(
      now: { Timestamp(seconds: self.seconds.withLock { $0 }) },
      sinceBoot: { self.seconds.withLock { $0 } * 1_000_000_000 })
  }
}

/// A place with a vault in it, opened by a key file.
struct Place {
  static let keyByte: UInt8 = 7

  let directory: TemporaryDirectory
  let clock: SetClock
  var anchor = Vault.AnchorRule.adopt

  init(_ clock: SetClock = SetClock()) throws {
    directory = try TemporaryDirectory()
    self.clock = clock
  }

  var path: String { directory("accounts.vault") }
  var heads: String { directory("state") }

  var unlocking: Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = heads
    options.clock = clock.clock
    return options
  }

  var creation: Vault.CreationOptions {
    var options = Vault.CreationOptions()
    options.session = unlocking
    options.anchor = anchor
    options.makesRecoveryCode = false
    options.cost = .cheap
    return options
  }

  /// Makes the vault, with a key file alone.
  func create() throws -> Session {
    try Vault.create(
      at: path, passphrase: nil, keyFile: .key(), options: creation
    ).takeSession()
  }

  func open(_ path: String? = nil, looking: Bool = false) throws -> Session {
    var options = unlocking
    options.isLooking = looking
    return try Vault.open(at: path ?? self.path).unlock(with: .keyFile(.key()), options: options)
  }

  /// The bytes of the vault, its log included.
  func bytes() throws -> Data {
    var all = try Data(contentsOf: URL(filePath: path))
    all.append((try? Data(contentsOf: URL(filePath: path + "-wal"))) ?? Data())
    return all
  }

  func fileBytes() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  /// Copies the vault as it lies there, under another name or over itself.
  func copy(_ from: String, to: String) throws {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: to + suffix)
      if FileManager.default.fileExists(atPath: from + suffix) {
        try FileManager.default.copyItem(atPath: from + suffix, toPath: to + suffix)
      }
    }
  }
}

extension KeyDerivationCost {
  /// The cheapest that is allowed.
  static let cheap = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
}

extension Secret {
  static func key(_ byte: UInt8 = Place.keyByte) -> Secret {
    var bytes = [UInt8](repeating: byte, count: 32)
    return Secret(wiping: &bytes)
  }

  static func text(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }

  /// Only a test may do this.
  var shown: String {
    withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }
}

extension Session {
  /// A Facebook account with a token that is good for sixty days.
  @discardableResult
  func addFacebook(_ name: String = "lestat", id: String? = nil, token: String = "EAA-token")
    throws -> Account
  {
    try addAccount(
      NewAccount(type: "facebook", username: name, userID: id),
      credential: .response(
        .text(#"{"access_token":"\#(token)","token_type":"bearer","expires_in":5184000}"#)))
  }

  @discardableResult
  func addTwitter(_ name: String, id: String, token: String = "1-t") throws -> Account {
    try addAccount(
      NewAccount(type: "twitter"),
      credential: .response(
        .text("oauth_token=\(token)&oauth_token_secret=s&user_id=\(id)&screen_name=\(name)")))
  }

  /// An X account: renewable, two hours.
  @discardableResult
  func addX(
    _ name: String = "lestat", id: String = "9", token: String = "xt", refresh: String? = "xr",
    expiresIn: Int = 7200, scope: String? = nil
  ) throws -> Account {
    var body = #"{"access_token":"\#(token)","token_type":"bearer","expires_in":\#(expiresIn)"#
    if let refresh { body += #","refresh_token":"\#(refresh)""# }
    if let scope { body += #","scope":"\#(scope)""# }
    return try addAccount(
      NewAccount(type: "x", username: name, userID: id), credential: .response(.text(body + "}")))
  }

  func tokenText(
    app: String = "123", account: String? = nil, _ permissions: [String] = [],
    strictly: Bool = false
  ) throws -> String {
    try token(app: app, account: account, permissions: permissions, strictly: strictly).secret
      .shown
  }

  func entries(_ event: Event? = nil) throws -> [Entry] {
    var query = HistoryQuery()
    query.event = event
    var found: [Entry] = []
    try history(query) { found.append($0) }
    return found
  }

  func states(app: String = "123", account: String? = nil) throws -> [String: PermissionState] {
    var states: [String: PermissionState] = [:]
    for line in try access(app: app, account: account) { states[line.permission] = line.state }
    return states
  }
}

extension Entry {
  func detail(_ name: String) -> String? { details.first { $0.name == name }?.value }
}

/// The error that `body` throws; the test fails where it throws none.
func refusal<R: ~Copyable>(
  _ location: SourceLocation = #_sourceLocation, _ body: () throws(VaultError) -> R
) -> VaultError {
  do throws(VaultError) {
    _ = try body()
  } catch {
    return error
  }
  Issue.record("nothing was refused", sourceLocation: location)
  return VaultError(.failed, "nothing was refused")
}

/// An asker with its answers ready; it notes what it was asked.
final class Person {
  var questions: [AccessQuestion] = []
  var answers: [AccessAnswer]
  var chosen: ([Account]) -> Account? = { _ in nil }
  /// Runs while the question is being shown.
  var during: () throws(VaultError) -> Void = { () throws(VaultError) in }

  init(_ answers: AccessAnswer...) { self.answers = answers }

  var asker: Asker {
    Asker(
      choose: { (accounts) throws(VaultError) in self.chosen(accounts) },
      answer: { (question) throws(VaultError) in
        self.questions.append(question)
        try self.during()
        return self.answers.isEmpty ? .nobody : self.answers.removeFirst()
      })
  }
}
