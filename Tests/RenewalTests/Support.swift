import AccountVault
import AccountVaultNetwork
import Foundation
import HTTPTypes
import Sodium
import Synchronization
import TestSupport
import Testing
import Time

/// Two clocks that stand still until they are set: the wall's can jump, the machine's only grows.
final class SetClock: Sendable {
  private struct Times {
    var wall: Int64
    var boot: Int64
  }

  private let times: Mutex<Times>

  init(_ seconds: Int64 = 1_800_000_000) { times = Mutex(Times(wall: seconds, boot: 1000)) }

  var now: Timestamp {
    get { Timestamp(seconds: times.withLock { $0.wall }) }
    set { times.withLock { $0.wall = newValue.seconds } }
  }

  var boot: Int64 { times.withLock { $0.boot } }

  /// Lets time pass.
  func advance(_ by: Int64) {
    times.withLock { times in
      times.wall += by
      times.boot += by
    }
  }

  var clock: Clock {
    Clock(
      now: { Timestamp(seconds: self.times.withLock { $0.wall }) },
      sinceBoot: { self.times.withLock { $0.boot } * 1_000_000_000 })
  }

  /// A wait that takes no time: the clocks go on to its end.
  var wait: @Sendable (Int64) async -> Bool {
    { until in
      self.times.withLock { times in
        let target = (until + 999_999_999) / 1_000_000_000
        if target > times.boot {
          times.wall += target - times.boot
          times.boot = target
        }
      }
      return true
    }
  }
}

/// Numbers that are the same at each run.
final class SetRandom: Sendable {
  private let state: Mutex<UInt64>

  init(_ seed: UInt64 = 42) { state = Mutex(seed) }

  var next: @Sendable (ClosedRange<Int64>) -> Int64 {
    { range in
      let word = self.state.withLock { state in
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
      }
      let width = UInt64(range.upperBound - range.lowerBound) &+ 1
      return range.lowerBound + Int64(word % width)
    }
  }
}

/// A transport that answers as the test says, and keeps what was sent. The engine takes its transport
/// as a value; what stands between it and a socket is tested where real sockets are.
final class ScriptedTransport: Transport {
  struct Sent: Sendable {
    let method: String
    let url: String
    let fields: [String: String]
    let authorization: String?
  }

  struct Answer: Sendable {
    var status = 200
    var headers: [(name: String, value: String)] = []
    var body = ""
    var failure: HTTPFailure?

    static func json(
      _ body: String, _ status: Int = 200, _ headers: [(name: String, value: String)] = []
    ) -> Answer {
      Answer(
        status: status, headers: [("Content-Type", "application/json")] + headers, body: body)
    }

    static func broken(_ kind: HTTPFailure.Kind, mayHaveBeenSent: Bool) -> Answer {
      Answer(failure: HTTPFailure(kind, "no reply (\(kind))", mayHaveBeenSent: mayHaveBeenSent))
    }
  }

  private let sent = Mutex<[Sent]>([])
  private let answer: @Sendable (Sent, Int) -> Answer

  init(_ answer: @escaping @Sendable (Sent, Int) -> Answer) { self.answer = answer }

  var requests: [Sent] { sent.withLock { $0 } }
  var count: Int { sent.withLock { $0.count } }

  func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    var fields: [String: String] = [:]
    if case .bytes(let body, _) = request.body {
      for pair in body.shown.split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        fields[String(parts[0])] = parts[1].replacing("+", with: " ").removingPercentEncoding
      }
    }
    let one = Sent(
      method: request.method, url: request.url, fields: fields,
      authorization: request.secretHeaders.first { $0.name == "Authorization" }?.value.shown)
    let number = sent.withLock { sent in
      sent.append(one)
      return sent.count - 1
    }
    let reply = answer(one, number)
    if let failure = reply.failure { throw failure }
    return HTTPResponse(status: reply.status, headers: reply.headers, body: .text(reply.body))
  }
}

/// A provider that rotates: each refresh token works once, and a second use ends the family. It counts
/// the requests for each token.
final class RotatingProvider: Sendable {
  private struct State {
    let family: String
    var current: String
    var number = 1
    var used: [String: Int] = [:]
    var isRevoked = false
    /// The token before the present one, and the answer that it got.
    var last: (token: String, body: String)?
  }

  private let state: Mutex<State>
  let expiresIn: Int
  private let hasGrace: Bool

  /// - Parameter hasGrace: Gives the same answer again to the token before the present one.
  init(_ first: String = "R1", expiresIn: Int = 3600, hasGrace: Bool = false) {
    self.hasGrace = hasGrace
    let family = first.replacing(/R1$/, with: "")
    state = Mutex(State(family: family, current: first))
    self.expiresIn = expiresIn
  }

  var isRevoked: Bool { state.withLock { $0.isRevoked } }
  var uses: [String: Int] { state.withLock { $0.used } }
  var current: String { state.withLock { $0.current } }

  /// The body for a refresh token, and its status.
  func answer(_ token: String) -> (body: String, status: Int) {
    state.withLock { state in
      state.used[token, default: 0] += 1
      if hasGrace, let last = state.last, last.token == token { return (last.body, 200) }
      guard !state.isRevoked, token == state.current else {
        state.isRevoked = true
        return (#"{"error":"invalid_grant"}"#, 400)
      }
      state.number += 1
      state.current = "\(state.family)R\(state.number)"
      let body =
        #"{"access_token":"A\#(state.number)","token_type":"bearer","expires_in":\#(expiresIn),"#
        + #""refresh_token":"\#(state.current)"}"#
      state.last = (token, body)
      return (body, 200)
    }
  }

  func reply(_ sent: ScriptedTransport.Sent) -> ScriptedTransport.Answer {
    let (body, status) = answer(sent.fields["refresh_token"] ?? "")
    return .json(body, status)
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

  var unlocking: Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = directory("state/vault")
    options.clock = clock.clock
    return options
  }

  func create() throws -> Session {
    var options = Vault.CreationOptions()
    options.session = unlocking
    options.makesRecoveryCode = false
    options.cost = KeyDerivationCost(memoryBytes: 19 << 20, operations: 1)
    return try Vault.create(at: path, passphrase: nil, keyFile: .key(), options: options)
      .takeSession()
  }

  func open(_ path: String? = nil) throws -> Session {
    try Vault.open(at: path ?? self.path).unlock(with: .keyFile(.key()), options: unlocking)
  }

  func network(_ transport: any Transport, _ random: SetRandom = SetRandom()) -> Network {
    Network(
      transport: transport, signatures: .libcrypto, clock: clock.clock, wait: clock.wait,
      random: random.next)
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

  /// Only a test may do this.
  var shown: String {
    withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }
}

extension SharedSecret {
  static func text(_ text: String) -> SharedSecret {
    var bytes = Array(text.utf8)
    return SharedSecret(SecretBytes(wiping: &bytes))
  }

  var shown: String {
    withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }
}

extension Session {
  /// A provider of the test's own with a client of it: tokens are single use, and live for an hour.
  func addOwn(
    _ id: String = "own",
    renewal: String = #"{"method":"refresh_token","margin_seconds":600,"rotation":"single_use"}"#,
    extends: String = "x", more: String = "", token: String = "https://auth.example/token"
  ) throws {
    try addProvider(
      """
      {"id":"\(id)","name":"Own","extends":"\(extends)","endpoints":{"token":"\(token)"},
       "api_hosts":["api.example"],"client_auth":"post","renewal":\(renewal)\(more)}
      """)
    _ = try addClient(type: id, clientID: "c1", secret: .text("client-secret"))
  }

  @discardableResult
  func addAccount(
    _ name: String = "lestat", type: String = "own", _ response: String = AccountText.usual
  ) throws -> Account {
    try addAccount(
      NewAccount(type: type, username: name, userID: "id-\(name)"),
      credential: .response(.text(response)))
  }

  func entries(_ event: Event? = nil) throws -> [Entry] {
    var query = HistoryQuery()
    query.event = event
    var found: [Entry] = []
    try history(query) { found.append($0) }
    return found
  }

  func state(of account: Account) throws -> CredentialState {
    try standing(of: account).credentials[0].state
  }

  func credential(of account: Account) throws -> Credential {
    try standing(of: account).credentials[0].credential
  }

  /// The access and refresh token as they are stored.
  func tokens(of account: Account, over network: Network) throws -> String {
    try access(to: account, clientID: "c1", over: network).0.accessToken.shown
  }
}

enum AccountText {
  static let usual =
    #"{"access_token":"A1","token_type":"bearer","expires_in":3600,"refresh_token":"R1"}"#
}
