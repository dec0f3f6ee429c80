import AccountVault
import AccountVaultNetwork
import Accounts
import Faults
import Foundation
import HTTP
import HTTPTypes
import Ledger
import Listener
import Providers
import Synchronization
import TestSupport
import Testing
import Time

/// A vault, a server that plays a provider, and a network of real sockets between them.
final class Stage: Sendable {
  let place: Place
  let server: ScriptedServer
  let network: Network
  /// What was waited for, in seconds; nobody waits really.
  let waits: Waits
  private let script: Script

  final class Waits: Sendable {
    let seconds = Mutex<[Int64]>([])
    var all: [Int64] { seconds.withLock { $0 } }
  }

  typealias Answer = @Sendable (HTTPServer.Request) -> HTTPServer.Response?

  private final class Script: Sendable {
    /// By the beginning of the path, the longest first.
    let answers = Mutex<[String: Answer]>([:])
  }

  init(limits: HTTPServer.Limits = HTTPServer.Limits()) throws {
    let script = Script()
    let waits = Waits()
    let place = try Place(SetClock(Int64(Date().timeIntervalSince1970)))
    self.script = script
    self.waits = waits
    self.place = place
    server = try ScriptedServer(limits: limits) { request, _ in
      let answers = script.answers.withLock { $0 }
      for (path, answer) in answers.sorted(by: { $0.key.count > $1.key.count })
      where request.path.hasPrefix(path) {
        if let response = answer(request) { return response }
      }
      return .text("nothing is here", status: 404)
    }
    network = Network(
      transport: HTTPClient(version: "0"), signatures: .libcrypto, clock: place.clock.clock,
      wait: { until in
        let now = place.clock.clock.sinceBoot()
        let seconds = (until - now) / 1_000_000_000
        waits.seconds.withLock { $0.append(seconds) }
        place.clock.advance(seconds)
        return true
      }, random: { $0.lowerBound })
  }

  func on(_ path: String, _ answer: @escaping Answer) {
    script.answers.withLock { $0[path] = answer }
  }

  func on(_ path: String, _ response: HTTPServer.Response) { on(path) { _ in response } }

  /// The answers one after the other; the last stays.
  func on(_ path: String, inTurn responses: [HTTPServer.Response]) {
    let turn = Turn()
    on(path) { _ in responses[min(turn.next(), responses.count - 1)] }
  }

  private final class Turn: Sendable {
    private let number = Mutex(0)

    func next() -> Int {
      number.withLock { number in
        defer { number += 1 }
        return number
      }
    }
  }

  func url(_ path: String) -> String { server.url + path }

  /// The requests whose path begins so.
  func requests(_ path: String) -> [HTTPServer.Request] {
    server.requests.filter { $0.path.hasPrefix(path) }
  }

  /// The definition of a built-in whose addresses are the server's.
  func definition(_ id: String, _ members: String = "") throws -> String {
    let built = try #require(Provider.builtIn(id))
    var endpoints: [String] = []
    for name in EndpointName.allCases {
      let isOpen = built.openVariables.isEmpty ? built.endpoint(name) != nil : true
      endpoints.append(
        #""\#(name.rawValue)": \#(isOpen ? "\"\(server.url)/\(name.rawValue)\"" : "null")"#)
    }
    let variables =
      built.openVariables.isEmpty ? "" : #""variables": {"server": "127.0.0.1"}, "#
    return """
      {"id": "\(id)-here", "extends": "\(id)", \(variables)"api_hosts": ["127.0.0.1"],
       "endpoints": {\(endpoints.joined(separator: ", "))}\(members.isEmpty ? "" : ", " + members)}
      """
  }
}

extension HTTPServer.Request {
  /// The fields of an `OAuth` authorization header, decoded.
  var oauth: [String: String] {
    guard let value = header("Authorization"), value.hasPrefix("OAuth ") else { return [:] }
    var fields: [String: String] = [:]
    for pair in value.dropFirst(6).components(separatedBy: ", ") {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      fields[parts[0]] = parts[1].dropFirst().dropLast().removingPercentEncoding
    }
    return fields
  }
}

extension Session {
  /// An account of a provider that the stage plays, with a client, a token, and an app that may do all
  /// that is named.
  @discardableResult
  func addPlayed(
    _ type: String, _ name: String = "lestat", id: String = "7", token: String = "at",
    response members: String = "", permissions: [String], app: String = "123"
  ) throws -> Account {
    let provider = try provider(type)
    let body =
      provider.protocolName == "oauth1"
      ? "oauth_token=\(token)&oauth_token_secret=ts&user_id=\(id)&screen_name=\(name)"
      : #"{"access_token":"\#(token)"\#(members)}"#
    if try !clients().contains(where: { $0.type == type }) {
      _ = try addClient(type: type, clientID: "client", secret: .text("client-secret"))
    }
    let account = try addAccount(
      NewAccount(type: type, username: name, userID: id), credential: .response(.text(body)))
    _ = try grant(Decision(app: app, permissions: permissions, account: account.id.text))
    return account
  }

  /// An X account of the stage, and an app that may read and write.
  @discardableResult
  func playX(_ stage: Stage, scope: String? = nil, expiresIn: Int = 7200) throws -> Account {
    _ = try addProvider(stage.definition("x"))
    let scopes = scope.map { #","scope":"\#($0)""# } ?? ""
    return try addPlayed(
      "x-here", token: "token-at-first",
      response:
        #","token_type":"bearer","expires_in":\#(expiresIn),"refresh_token":"rt1"\#(scopes)"#,
      permissions: ["tweet.read", "tweet.write"])
  }

  /// An account of a built-in that the stage plays.
  @discardableResult
  func play(
    _ stage: Stage, _ id: String, permissions: [String], response: String = "",
    _ members: String = ""
  ) throws -> Account {
    _ = try addProvider(stage.definition(id, members))
    return try addPlayed("\(id)-here", response: response, permissions: permissions)
  }

  func entries(_ event: Event? = nil) throws -> [Entry] {
    var query = HistoryQuery()
    query.event = event
    var found: [Entry] = []
    try history(query) { found.append($0) }
    return found
  }

  func state(_ account: Account) throws -> CredentialState {
    try #require(try standing(of: account).credentials.first?.state)
  }

  func standing(_ account: Account, _ permission: String, app: String = "123") throws
    -> PermissionState
  {
    try #require(
      try access(app: app, account: account.id.text, permissions: [permission]).first?.state)
  }
}

/// The error that `body` throws; the test fails where it throws none.
func refusal<R>(
  _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> R
) async -> VaultError {
  do {
    _ = try await body()
  } catch let error as VaultError {
    return error
  } catch {
    Issue.record("\(error)", sourceLocation: location)
  }
  Issue.record("nothing was refused", sourceLocation: location)
  return VaultError(.failed, "nothing was refused")
}
