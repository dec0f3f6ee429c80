import AccountVault
import Foundation
import HTTP
import HTTPTypes
import Listener
import Providers
import TestSupport
import Testing
import Time

@Suite struct `A revocation` {
  private let refreshing = #","refresh_token":"R1""#

  @Test func `of RFC 7009 sends the refresh token first, then the access token, as the client`()
    async throws
  {
    let provider = try TestProvider("x") { _, _ in .text("") }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    let account = try session.account(provider.type, token: "A1", more: refreshing)
    let removal = try session.remove(account)
    #expect(removal.revocations.map(\.isPending) == [true])
    #expect(try session.pendingRevocations().map(\.cause) == [.accountRemoved])
    let outcomes = try await session.sendRevocations(over: place.network())
    #expect(outcomes.map(\.state) == [.sent])
    let requests = provider.server.requests
    #expect(requests.map { $0.field("token") } == ["R1", "A1"])
    #expect(requests.map { $0.field("token_type_hint") } == ["refresh_token", "access_token"])
    #expect(requests.allSatisfy { $0.header("Authorization") == "Basic YzE6czE=" })
    #expect(try session.pendingRevocations().isEmpty)
    let entry = try #require(try session.entries(.revocationSent).first)
    #expect(entry.accountID == account.id.text && entry.evidence?.status == 200)
    #expect(entry.detail("client") == "c1" && entry.detail("cause") == "account_removed")
    #expect(try session.entries(.accountRemoved)[0].detail("revocations_pending") == "1")
    // Nothing is sent twice.
    #expect(try await session.sendRevocations(over: place.network(), isForced: true).isEmpty)
    #expect(provider.server.requests.count == 2)
    _ = try session.verify()
  }

  @Test
  func `B98: that is not taken yet is kept, waits as long as the provider says, and is sent once`()
    async throws
  {
    let provider = try TestProvider("x") { _, number in
      number == 0
        ? HTTPServer.Response(503, headers: [("Retry-After", "900")], body: []) : .text("")
    }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    let account = try session.account(provider.type, token: "A1")
    try session.grants("123", "tweet.read", on: account)
    try session.remove(account)
    // Here it counts at once, whatever the provider says.
    #expect(throws: VaultError.self) { _ = try session.token(app: "123") }
    let first = try await session.sendRevocations(over: place.network())
    #expect(first.map(\.state) == [.later])
    #expect(first[0].nextAttemptAt == place.clock.now + Int64(900))
    #expect(first[0].evidence?.status == 503)
    let waiting = try session.pendingRevocations()
    #expect(waiting.map(\.attempts) == [1] && waiting[0].lastClass == "transient")
    // Not before that time, even where somebody insists.
    place.clock.advance(899)
    #expect(try await session.sendRevocations(over: place.network(), isForced: true).isEmpty)
    place.clock.advance(1)
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    #expect(provider.server.requests.count == 2)
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `B98: fails with growing waits, is overdue after six, and given up after thirty days`()
    async throws
  {
    let provider = try TestProvider("x") { _, _ in .text("", status: 500) }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    try session.remove(try session.account(provider.type, token: "A1", more: refreshing))
    provider.server.stop()
    var waits: [Int64] = []
    for _ in 0..<12 {
      let outcome = try #require(try await session.sendRevocations(over: place.network()).first)
      #expect(outcome.state == .later)
      let wait = try #require(outcome.nextAttemptAt).seconds - place.clock.now.seconds
      waits.append(wait)
      #expect(outcome.revocation.isOverdue == (waits.count >= 6))
      place.clock.advance(wait)
    }
    #expect(
      waits == [60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600, 21600, 21600])
    #expect(try session.entries(.failed).isEmpty)
    place.clock.advance(30 * 86_400)
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.givenUp])
    #expect(try session.pendingRevocations().isEmpty)
    let entry = try #require(try session.entries(.failed).first)
    #expect(entry.reason == "X (OAuth 2.0) could not be told for 30 days")
  }

  @Test
  func `B98: of a kind that the provider does not take back is forgotten, and the ledger says so`()
    async throws
  {
    let provider = try TestProvider("x") { _, _ in
      .json(#"{"error":"unsupported_token_type"}"#, status: 400)
    }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    try session.remove(try session.account(provider.type, token: "A1", more: refreshing))
    let outcomes = try await session.sendRevocations(over: place.network())
    #expect(outcomes.map(\.state) == [.givenUp])
    #expect(provider.server.requests.count == 2)
    #expect(try session.pendingRevocations().isEmpty)
    let entry = try #require(try session.entries(.failed).first)
    #expect(entry.evidence?.code == "unsupported_token_type" && entry.evidence?.status == 400)
    #expect(entry.reason?.contains("takes no token of this kind back") == true)
  }

  @Test(arguments: [
    ("true", true), (#"{"success":true}"#, true), (#"{"success":false}"#, false),
    ("<html>welcome</html>", false), ("", false),
  ])
  func `of Facebook deletes the permissions with the token itself`(body: String, isDone: Bool)
    async throws
  {
    let provider = try TestProvider("facebook") { _, _ in .json(body) }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    try session.remove(try session.account(provider.type, token: "EAA1"))
    let outcomes = try await session.sendRevocations(over: place.network())
    #expect(outcomes.map(\.state) == [isDone ? .sent : .later])
    let request = try #require(provider.server.requests.first)
    #expect(request.method == "DELETE" && request.path == "/revoke")
    #expect(request.header("Authorization") == "Bearer EAA1")
  }

  @Test(arguments: [
    (#"{"result":"true"}"#, true), (#"{"result":true}"#, true), (#"{"result":"false"}"#, false),
  ])
  func `of Weibo carries the token as a parameter`(body: String, isDone: Bool) async throws {
    let provider = try TestProvider("weibo") { _, _ in .json(body) }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    try session.remove(try session.account(provider.type, token: "2.00"))
    let outcomes = try await session.sendRevocations(over: place.network())
    #expect(outcomes.map(\.state) == [isDone ? .sent : .later])
    #expect(provider.server.requests.first?.field("access_token") == "2.00")
  }

  @Test func `of OAuth 1.0a is signed with the token that it ends`() async throws {
    let provider = try TestProvider("twitter") { _, _ in .json(#"{"access_token":"7-at"}"#) }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "ck", secret: .text("cs"))
    let account = try session.addAccount(
      NewAccount(type: provider.type),
      credential: .response(
        .text("oauth_token=7-at&oauth_token_secret=as&user_id=7&screen_name=made_up")))
    try session.remove(account)
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    let request = try #require(provider.server.requests.first)
    #expect(request.method == "POST")
    let header = try #require(request.header("Authorization"))
    #expect(header.hasPrefix("OAuth ") && header.contains(#"oauth_token="7-at""#))
  }

  @Test(arguments: [204, 404, 422])
  func `of GitHub names the token in JSON, as the client`(status: Int) async throws {
    let provider = try TestProvider("github") { _, _ in .text("", status: status) }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "Iv1.a/b", secret: .text("s1"))
    try session.remove(try session.account(provider.type, token: #"gho_\"x\\"#))
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    let request = try #require(provider.server.requests.first)
    #expect(request.method == "DELETE" && request.path == "/applications/Iv1.a%2Fb/token")
    #expect(request.text == #"{"access_token":"gho_\"x\\"}"#)
    #expect(request.header("Authorization")?.hasPrefix("Basic ") == true)
  }

  @Test func `is nothing where the provider takes none back, and the owner is told`() throws {
    let session = try Place().create()
    let account = try session.account("microsoft", id: "100")
    let notices = try session.remove(account).revocations
    #expect(notices.map(\.obstacle) == ["Microsoft takes no token back"])
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `is not needed for a token that is dead already`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.account()
    try session.take(facebookError(190, 460), for: account)
    #expect(try session.remove(account).revocations.isEmpty)
    let other = try session.account(id: "101")
    place.clock.advance(5_184_000)
    #expect(try session.remove(other).revocations.isEmpty)
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `is still sent by a client that was removed meanwhile`() async throws {
    let provider = try TestProvider("x") { _, _ in .text("") }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    try session.remove(try session.account(provider.type, token: "A1"))
    try session.removeClient("\(provider.type):c1")
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    #expect(provider.server.requests[0].header("Authorization") == "Basic YzE6czE=")
  }

  @Test func `never ends a later sign-in, where a provider ends all with one token`() async throws {
    let provider = try TestProvider("facebook") { _, _ in .json("true") }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    try session.remove(try session.account(provider.type, token: "EAA1"))
    let again = try session.account(provider.type, token: "EAA2")
    let outcomes = try await session.sendRevocations(over: place.network())
    #expect(outcomes.map(\.state) == [.superseded])
    #expect(provider.server.requests.isEmpty)
    #expect(try session.state(of: again) == .valid)
    #expect(try session.entries(.failed).count == 1)
  }

  @Test func `is of the one app that used a client of its own, when all is taken from it`()
    async throws
  {
    let provider = try TestProvider("x") { _, _ in .text("") }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "shared", secret: .text("s0"))
    _ = try session.addClient(type: provider.type, clientID: "own", secret: .text("s1"))
    let account = try session.account(provider.type, token: "A0", client: "shared")
    _ = try session.account(provider.type, token: "A1", client: "own")
    _ = try session.addApp("bot", name: "Bot", clients: ["\(provider.type):own"])
    try session.grants("bot", "tweet.read", "tweet.write", on: account)
    try session.grants("123", "tweet.read", on: account)
    let part = try session.revoke(
      Decision(app: "bot", permissions: ["tweet.write"], account: account.id.text))
    #expect(part.droppedClient == nil && part.revocation == nil)
    let all = try session.revoke(
      Decision(app: "bot", permissions: [], account: account.id.text))
    #expect(all.droppedClient == "own" && all.revocation?.isPending == true)
    #expect(
      try session.standing(of: account).credentials.map { $0.credential.clientID } == ["shared"])
    #expect(try session.entries(.revoked).last?.detail("credential_dropped") == "own")
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    #expect(provider.server.requests.map { $0.field("token") } == ["A1"])
    // The other app's is nobody's own.
    let other = try session.revoke(
      Decision(app: "123", permissions: [], account: account.id.text))
    #expect(other.droppedClient == nil)
    _ = try session.verify()
  }

  @Test func `B11: takes one account's secrets along and leaves the other's`() throws {
    let place = try Place()
    let session = try place.create()
    let facebook = try session.account("facebook", id: "100", token: "EAA-canary")
    let weibo = try session.account("weibo", "lestat", id: "100", token: "2.00-weibo")
    try session.grants("123", "email", on: weibo)
    try session.remove(facebook)
    #expect(try session.state(of: weibo) == .valid)
    #expect(try session.states("123", on: weibo) == ["email": .granted])
    #expect(try session.account("facebook:100", missing: true))
    #expect(try session.pendingRevocations().map(\.type) == ["facebook"])
    let bytes = try Data(contentsOf: URL(filePath: place.path))
    #expect(bytes.range(of: Data("EAA-canary".utf8)) == nil)
  }

  @Test func `is sent by one of two processes`() async throws {
    let provider = try TestProvider("x") { _, _ in .text("") }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    try session.remove(try session.account(provider.type, token: "A1"))
    let network = place.network {
      Interposed($0) { _ in
        let other = try place.open()
        let outcomes = try await other.sendRevocations(over: place.network())
        #expect(outcomes.isEmpty)
      }
    }
    #expect(try await session.sendRevocations(over: network).map(\.state) == [.sent])
    #expect(provider.server.requests.count == 1)
  }

  @Test func `survives a kill between the answer and its record, and is sent again`() async throws {
    let provider = try TestProvider("x") { _, _ in .text("") }
    let place = try Place()
    do {
      let session = try place.create()
      try provider.add(to: session)
      _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
      try session.remove(try session.account(provider.type, token: "A1"))
    }
    let path = place.path
    let heads = place.heads
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, heads = heads as String] in
      let place = Place.Reopened(path: path, heads: heads)
      let session = try place.open()
      let client = HTTPClient(version: "0", environment: HTTPEnvironment { _ in nil })
      let network = Network(
        transport: Interposed(client, after: true) { _ in _ = kill(getpid(), SIGKILL) },
        signatures: .libcrypto, clock: SetClock().clock, wait: { _ in true },
        random: { $0.upperBound })
      _ = try await session.sendRevocations(over: network)
    }
    #expect(provider.server.requests.count == 1)
    let session = try place.open()
    #expect(try session.pendingRevocations().map(\.attempts) == [1])
    #expect(try await session.sendRevocations(over: place.network()).isEmpty)
    place.clock.advance(60)
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    #expect(provider.server.requests.count == 2)
    #expect(try session.pendingRevocations().isEmpty)
    _ = try session.verify()
  }
}

/// Does something before a request is sent, or after its reply came.
struct Interposed: Transport {
  let transport: any Transport
  let isAfter: Bool
  let act: @Sendable (HTTPRequest) async throws -> Void

  init(
    _ transport: any Transport, after: Bool = false,
    _ act: @escaping @Sendable (HTTPRequest) async throws -> Void
  ) {
    self.transport = transport
    isAfter = after
    self.act = act
  }

  func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    if !isAfter { await run(request) }
    let response = try await transport.send(request, to: receiver)
    if isAfter { await run(request) }
    return response
  }

  private func run(_ request: HTTPRequest) async {
    do { try await act(request) } catch { Issue.record("\(error)") }
  }
}

extension Session {
  /// Whether no account is called so.
  func account(_ text: String, missing: Bool) throws -> Bool {
    do throws(VaultError) {
      _ = try account(text)
      return false
    } catch {
      return error.code == .notFound
    }
  }
}
