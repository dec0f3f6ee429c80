import AccountVault
import HTTP
import HTTPTypes
import Ledger
import Listener
import Synchronization
import TestSupport
import Testing
import Time

/// Many at once, over real sockets.
@Suite struct BatchTests {
  @Test func `three hundred due of a thousand are renewed over kept connections`() async throws {
    let flying = Mutex((now: 0, most: 0))
    let server = try ScriptedServer { request, number in
      flying.withLock { flying in
        flying.now += 1
        flying.most = max(flying.most, flying.now)
      }
      defer { flying.withLock { $0.now -= 1 } }
      return .json(
        #"{"access_token":"B\#(number)","token_type":"bearer","expires_in":86400,"refresh_token":"S\#(request.field("refresh_token") ?? "")"}"#
      )
    }
    let place = try Place()
    let session = try place.create()
    try session.addOwn(token: server.url + "/token")
    try session.together { () throws(VaultError) in
      for number in 0..<1000 {
        let life = number < 300 ? 3600 : 864_000
        _ = try session.addAccount(
          NewAccount(type: "own", username: "a\(number)", userID: "\(number)"),
          credential: .response(
            .text(
              #"{"access_token":"A","token_type":"bearer","expires_in":\#(life),"refresh_token":"R\#(number)"}"#
            )))
      }
    }
    place.clock.advance(3590)
    var network = place.network(HTTPClient(version: "0"))
    network.clock = place.clock.clock
    var order: [String] = []
    let summary = try await session.renewDue(over: network) { order.append($0.account.username) }
    #expect(summary.renewed == 300)
    #expect(Set(order).count == 300)
    #expect(server.requests.count == 300)
    let tokens = Set(server.requests.compactMap { $0.field("refresh_token") })
    #expect(tokens.count == 300)
    #expect(try session.entries(.renewed).count == 300)
    #expect(try session.entries(.renewalStarted).count == 300)
    let again = try await session.renewDue(over: network)
    #expect([again.renewed, again.failed, again.rejected, again.notDue] == [0, 0, 0, 0])
    _ = try session.verify()
  }

  @Test func `no more than eight requests are under way to one host`() async throws {
    let flying = Mutex((now: 0, most: 0))
    struct Slow: Transport {
      let count: @Sendable (Int) -> Void

      func send(
        _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
      ) async throws(HTTPFailure) -> HTTPResponse {
        count(1)
        for _ in 0..<50 { await Task.yield() }
        count(-1)
        return HTTPResponse(
          status: 200, body: .text(#"{"access_token":"B","expires_in":86400,"refresh_token":"S"}"#))
      }
    }
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    for number in 0..<60 { try session.addAccount("a\(number)") }
    place.clock.advance(3590)
    let network = place.network(
      Slow { change in
        flying.withLock { flying in
          flying.now += change
          flying.most = max(flying.most, flying.now)
        }
      })
    #expect(try await session.renewDue(over: network).renewed == 60)
    let most = flying.withLock { $0.most }
    #expect(most <= 8)
  }

  @Test func `what is planned is what is done, and planning writes nothing`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let first = try session.addAccount("first")
    try session.addAccount(
      "second", type: "own",
      #"{"access_token":"A","token_type":"bearer","expires_in":86400,"refresh_token":"R"}"#)
    place.clock.advance(3590)
    let entries = try session.entries().count
    func planned(_ scope: RenewalScope) throws -> [String] {
      var names: [String] = []
      try session.plannedRenewals(scope) { planned in
        names.append("\(planned.account.username) \(planned.outcome?.rawValue ?? "-")")
      }
      return names.sorted()
    }
    #expect(try planned(RenewalScope()) == ["first -"])
    var all = RenewalScope()
    all.all = true
    #expect(try planned(all) == ["first -", "second -"])
    var day = RenewalScope()
    day.within = 86_400
    #expect(try planned(day) == ["first -", "second -"])
    #expect(try session.entries().count == entries)
    let provider = RotatingProvider()
    let network = place.network(ScriptedTransport { sent, _ in provider.reply(sent) })
    var renewed: [AccountID] = []
    try await session.renewDue(over: network) { renewed.append($0.account.id) }
    #expect(renewed == [first.id])
  }

  /// The engine takes its clock, its randomness and its transport as values.
  @Test func `the same answers at the same times give the same ledger`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    for number in 0..<5 { try session.addAccount("a\(number)") }
    try session.flush()
    let start = place.clock.now
    var ledgers: [[String]] = []
    for run in 0..<2 {
      let copy = place.directory("run\(run).vault")
      try session.backUp(to: copy + ".backup")
      let clock = SetClock(start.seconds)
      var options = place.unlocking
      options.clock = clock.clock
      options.headDirectory = place.directory("state\(run)")
      let replayed = try Vault.restore(
        copy + ".backup", to: copy, with: .keyFile(.key()), options: options)
      // The tokens are nobody else's: the copy is the vault now.
      let answers: [ScriptedTransport.Answer] = [
        .json("", 503), .json("", 429, [("Retry-After", "77")]),
        .broken(.connect, mayHaveBeenSent: false),
      ]
      let transport = ScriptedTransport { sent, number in
        number < 12
          ? answers[number % 3]
          : .json(
            #"{"access_token":"B\#(number)","expires_in":3600,"refresh_token":"S\#(number)"}"#)
      }
      let network = Network(
        transport: transport, signatures: .libcrypto, clock: clock.clock, wait: clock.wait,
        random: SetRandom(3).next)
      let accounts = try replayed.accountList()
      for _ in 0..<400 {
        for account in accounts {
          _ = try await replayed.renew(account, clientID: "c1", over: network, .owner)
        }
        clock.advance(30)
        if transport.count > 40 { break }
      }
      ledgers.append(
        try replayed.entries().filter {
          [.renewalStarted, .renewed, .failed, .rejected].contains($0.event)
        }.map { "\($0)" })
    }
    #expect(ledgers[0].count > 40)
    #expect(ledgers[0] == ledgers[1])
  }
}

extension Session {
  func accountList() throws -> [Account] {
    var accounts: [Account] = []
    try forEachAccount { account in
      accounts.append(account)
      return true
    }
    return accounts
  }
}
