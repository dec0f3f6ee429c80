import AccountVault
import Foundation
import HTTPTypes
import Providers
import Sodium
import Synchronization
import TestSupport
import Testing
import Time

/// A clock that stands still until it is set.
final class SetClock: Sendable {
  private let seconds: Mutex<Int64>

  init(_ seconds: Int64 = 1_800_000_000) { self.seconds = Mutex(seconds) }

  var now: Timestamp { Timestamp(seconds: seconds.withLock { $0 }) }

  func advance(_ by: Int64) { seconds.withLock { $0 += by } }

  var clock: Clock {
    Clock(now: { self.now }, sinceBoot: { self.now.seconds * 1_000_000_000 })
  }
}

/// A place with a vault in it, opened by a key file.
struct Place {
  let directory: TemporaryDirectory
  let clock: SetClock

  init(_ clock: SetClock = SetClock()) throws {
    directory = try TemporaryDirectory()
    self.clock = clock
  }

  var path: String { directory("accounts.vault") }
  var heads: String { directory("state") }

  private var unlocking: Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = heads
    options.clock = clock.clock
    return options
  }

  /// The same place in another process, which removes nothing at its end.
  struct Reopened {
    let path: String
    let heads: String

    func open() throws -> Session {
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = SetClock().clock
      return try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
    }
  }

  func create() throws -> Session {
    var options = Vault.CreationOptions()
    options.session = unlocking
    options.makesRecoveryCode = false
    options.cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    return try Vault.create(
      at: path, passphrase: nil, keyFile: .key(), options: options
    ).takeSession()
  }

  func open() throws -> Session {
    try Vault.open(at: path).unlock(with: .keyFile(.key()), options: unlocking)
  }
}

extension Secret {
  static func key() -> Secret {
    var bytes = [UInt8](repeating: 7, count: 32)
    return Secret(wiping: &bytes)
  }

  static func text(_ text: String) -> Secret {
    var bytes = Array(text.utf8)
    return Secret(wiping: &bytes)
  }
}

extension SharedSecret {
  static func text(_ text: String) -> SharedSecret {
    var bytes = Array(text.utf8)
    return SharedSecret(SecretBytes(wiping: &bytes))
  }
}

extension HTTPResponse {
  init(_ status: Int, _ body: String = "", _ headers: (name: String, value: String)...) {
    self.init(status: status, headers: headers, body: .text(body))
  }
}

extension Session {
  /// An account of a type with a token, and an app that was granted permissions on it.
  func account(
    _ type: String = "facebook", _ name: String = "lestat", id: String = "100",
    token: String = "EAA-token", more: String = "", client: String? = nil
  ) throws -> Account {
    try addAccount(
      NewAccount(type: type, username: name, userID: id, clientID: client),
      credential: .response(
        .text(#"{"access_token":"\#(token)","token_type":"bearer","expires_in":5184000\#(more)}"#)))
  }

  func grants(_ app: String, _ permissions: String..., on account: Account) throws {
    _ = try grant(Decision(app: app, permissions: permissions, account: account.id.text))
  }

  func entries(_ event: Event? = nil) throws -> [Entry] {
    var query = HistoryQuery()
    query.event = event
    var found: [Entry] = []
    try history(query) { found.append($0) }
    return found
  }

  func states(_ app: String, on account: Account) throws -> [String: PermissionState] {
    var states: [String: PermissionState] = [:]
    for line in try access(app: app, account: account.id.text) {
      states[line.permission] = line.state
    }
    return states
  }

  func state(of account: Account) throws -> CredentialState? {
    try standing(of: account).credentials.first?.state
  }

  /// What the catalogue says of a reply of the API.
  func meaning(
    _ response: HTTPResponse, of type: String, from endpoint: Endpoint = .api, canRenew: Bool = true
  ) throws -> Classification {
    let provider = try provider(type)
    return try #require(
      response.body.withBytes {
        ErrorCatalogue(provider).classify(
          status: response.status, headers: response.headers, body: $0, from: endpoint,
          now: Timestamp(seconds: 1_800_000_000), canRenew: canRenew)
      })
  }

  /// Takes in a reply of the API to the credential's present, or another, generation.
  @discardableResult
  func take(
    _ response: HTTPResponse, for account: Account, generation: Int64 = 1, client: String = "",
    permissions: [String] = [], granted: Granted? = nil
  ) throws -> Taken.Effect {
    try take(
      meaning(response, of: account.type), body: response, for: account, clientID: client,
      generation: generation, permissions: permissions, granted: granted
    ).effect
  }
}

/// A refusal of Facebook's API.
func facebookError(_ code: Int, _ subcode: Int? = nil, status: Int = 400) -> HTTPResponse {
  let inner = subcode.map { #","error_subcode":\#($0)"# } ?? ""
  return HTTPResponse(
    status,
    #"{"error":{"message":"made up","type":"OAuthException","code":\#(code)\#(inner),"fbtrace_id":"x"}}"#
  )
}
