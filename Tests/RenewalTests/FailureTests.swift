import AccountVault
import HTTPTypes
import Ledger
import Testing
import Time

/// What is not a word of the provider's own table never ends a credential.
@Suite struct FailureTests {
  private let day: Int64 = 86_400

  /// B40: one alarm for the client, and no account is touched.
  @Test func `a refused client stops itself and no account`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    for number in 0..<100 { try session.addAccount("a\(number)") }
    place.clock.advance(3500)
    let good = BooleanSwitch()
    let transport = ScriptedTransport { _, number in
      good.isOn
        ? .json(
          #"{"access_token":"N\#(number)","expires_in":3600,"refresh_token":"M\#(number)"}"#)
        : .json(
          #"{"error":"invalid_client"}"#, 401, [("WWW-Authenticate", #"Basic realm="x""#)])
    }
    let network = place.network(transport)
    var outcomes: [Renewal] = []
    let summary = try await session.renewDue(over: network) { outcomes.append($0) }
    #expect(summary.failed == 100)
    #expect(outcomes.allSatisfy { $0.errorClass == "config" && $0.generation == 1 })
    #expect(transport.count <= 8)
    let alarms = try session.entries(.failed).filter { $0.accountID == nil }
    #expect(alarms.count == 1)
    #expect(alarms.first?.detail("client") == "own:c1")
    #expect(alarms.first?.evidence?.code == "invalid_client")
    for account in try session.accountList() {
      let mark = try session.credential(of: account).mark
      #expect(mark == .none)
    }
    // It goes on by itself once the provider takes the client again, with a probe of one.
    let before = transport.count
    place.clock.advance(8 * 3600)
    good.turnOn()
    let after = try await session.renewDue(over: network)
    #expect(after.renewed == 100)
    #expect(transport.count == before + 100)
    #expect(try session.entries(.failed).filter { $0.accountID == nil }.count == 1)
  }

  @Test func `another secret of the client ends the stop at once`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    try session.addAccount()
    place.clock.advance(3500)
    let transport = ScriptedTransport { sent, _ in
      sent.fields["client_secret"] == "new"
        ? .json(#"{"access_token":"A2","expires_in":3600,"refresh_token":"R2"}"#)
        : .json(#"{"error":"unauthorized_client"}"#, 400)
    }
    let network = place.network(transport)
    #expect(try await session.renewDue(over: network).failed == 1)
    try session.removeClient("own:c1")
    _ = try session.addClient(type: "own", clientID: "c1", secret: .text("new"))
    place.clock.advance(6 * 3600)
    #expect(try await session.renewDue(over: network).renewed == 1)
  }

  /// B41: an answer that nobody knows grows its delay, is remembered, and rejects nothing.
  @Test func `an unknown answer grows its delay over restarts and needs a person after days`()
    async throws
  {
    let place = try Place()
    var session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in
      .json(
        #"{"error":"invalid_request","error_description":"The token request is invalid."}"#, 400)
    }
    let network = place.network(transport)
    place.clock.advance(3600)
    let end = place.clock.now + 10 * day
    var looks = 0
    while place.clock.now < end {
      _ = try await session.renewDue(over: network)
      looks += 1
      place.clock.advance(900)
      // A restart forgets nothing.
      if looks % 100 == 0 { session = try place.open() }
    }
    #expect(transport.count <= 40)
    #expect(transport.count >= 5)
    #expect(try session.credential(of: account).mark == .none)
    let explained = try session.explain(account.id.text)
    #expect(explained.next.contains("a person should look"))
    #expect(try session.entries(.failed).last?.evidence?.class == "config")
    // No alarm for the client: it may be this one token's fault.
    #expect(try session.entries(.failed).allSatisfy { $0.accountID != nil })
    let before = transport.count
    let named = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(named.outcome == .failed)
    #expect(transport.count == before + 1)
    #expect(try session.tokens(of: account, over: network) == "A1")
  }

  /// B43: the time that a provider names is kept, by the second, for all accounts of the client and for
  /// the owner; what is no time is the engine's own delay.
  @Test(
    arguments: [
      ("120", 120), ("Wed, 21 Oct 2026 07:28:00 GMT", 600),
      ("Wednesday, 21-Oct-26 07:28:00 GMT", 600), ("99999999999", 31 * 86_400),
    ] as [(String, Int64)])
  func `a named time is kept to the second`(value: String, wait: Int64) async throws {
    // 2026-10-21T07:18:00Z
    let place = try Place(SetClock(1_792_567_080 - 3500))
    let session = try place.create()
    try session.addOwn()
    let first = try session.addAccount("first")
    let second = try session.addAccount("second")
    place.clock.advance(3500)
    let transport = ScriptedTransport { _, number in
      number == 0
        ? .json("", 429, [("Retry-After", value)])
        : .json(#"{"access_token":"A2","expires_in":3600,"refresh_token":"R2"}"#)
    }
    let network = place.network(transport)
    let sent = try await session.renew(first, clientID: "c1", over: network, .owner)
    #expect(sent.outcome == .failed)
    #expect(sent.errorClass == "throttled")
    // The owner and the other account wait as well.
    for account in [first, second] {
      let held = try await session.renew(account, clientID: "c1", over: network, .owner)
      #expect(held.outcome == .failed)
      #expect(held.nextAttemptAt == place.clock.now + wait)
    }
    place.clock.advance(wait - 1)
    _ = try await session.renew(second, clientID: "c1", over: network, .owner)
    #expect(transport.count == 1)
    place.clock.advance(1)
    #expect(
      try await session.renew(second, clientID: "c1", over: network, .owner).outcome == .renewed)
  }

  @Test(arguments: ["0", "-1", "1e3", "0x10", ""])
  func `what names no time leaves the delay to the engine`(value: String) async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    place.clock.advance(3500)
    let transport = ScriptedTransport { _, _ in .json("", 429, [("Retry-After", value)]) }
    let network = place.network(transport)
    let sent = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(sent.outcome == .failed)
    let next = try #require(sent.nextAttemptAt)
    #expect(next > place.clock.now && next <= place.clock.now + 3600)
    // The owner is bound by no delay but a provider's.
    _ = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(transport.count == 2)
    _ = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(transport.count == 2)
  }

  @Test(arguments: [500, 502, 503, 408])
  func `a server in trouble rejects nothing`(status: Int) async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in
      .json(#"{"error":"invalid_grant"}"#, status)
    }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .failed)
    #expect(renewal.errorClass == "transient")
    #expect(try session.credential(of: account).mark == .none)
  }

  /// A request that may have arrived leaves it open whether the token was spent.
  @Test func `a reply that never came leaves the credential uncertain, and one try settles it`()
    async throws
  {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, number in
      if number > 0 { return provider.reply(sent) }
      _ = provider.answer(sent.fields["refresh_token"] ?? "")
      return .broken(.timeout, mayHaveBeenSent: true)
    }
    let network = place.network(transport)
    let lost = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(lost.outcome == .failed)
    #expect(try session.state(of: account) == .uncertain)
    // The access token is as good as before.
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    #expect(try session.token(app: "123").secret.shown == "A1")
    let settled = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(settled.outcome == .rejected)
    #expect(settled.reason == "a renewal that was cut off lost the refresh token")
  }

  @Test func `a connection that never stood leaves nothing uncertain`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in .broken(.connect, mayHaveBeenSent: false) }
    let renewal = try await session.renew(
      account, clientID: "c1", over: place.network(transport), .owner)
    #expect(renewal.outcome == .failed)
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `an answer for another user is not kept`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in
      .json(
        #"{"access_token":"A2","expires_in":3600,"refresh_token":"R2","user_id":"somebody"}"#)
    }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .failed)
    #expect(try session.tokens(of: account, over: network) == "A1")
  }

  @Test(arguments: ["", "<html>busy</html>", "{", #"{"ok":true}"#, #"{"access_token":""}"#])
  func `a success that holds no token changes nothing`(body: String) async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in .json(body) }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .failed)
    #expect(try session.tokens(of: account, over: network) == "A1")
    #expect(try session.entries(.rejected).isEmpty)
  }
}
