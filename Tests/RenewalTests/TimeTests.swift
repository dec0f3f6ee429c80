import AccountVault
import Accounts
import Foundation
import Synchronization
import Testing
import Time

/// The wall clock decides about ends, the machine's about waiting; no test here waits.
@Suite(.serialized) struct TimeTests {
  private let day: Int64 = 86_400

  /// B74: the margin is never more than a quarter of the life.
  @Test func `a token of five minutes is renewed once, at three quarters of its life`() async throws
  {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount(
      "lestat", type: "own",
      #"{"access_token":"A1","token_type":"bearer","expires_in":300,"refresh_token":"R1"}"#)
    let provider = RotatingProvider(expiresIn: 300)
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    for _ in 0..<224 {
      _ = try await session.renew(account, clientID: "c1", over: network, .due)
      place.clock.advance(1)
    }
    #expect(transport.count == 0)
    for _ in 0..<75 {
      _ = try await session.renew(account, clientID: "c1", over: network, .due)
      place.clock.advance(1)
    }
    #expect(transport.count == 1)
  }

  /// B71: what was made in the same second is spread, and a jump of the zone changes nothing.
  @Test func `five hundred accounts of one second are spread over the margin`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn(
      renewal: #"{"method":"refresh_token","margin_seconds":3600,"rotation":"single_use"}"#)
    for number in 0..<500 {
      try session.addAccount(
        "a\(number)", type: "own",
        #"{"access_token":"A","token_type":"bearer","expires_in":28800,"refresh_token":"R\#(number)"}"#
      )
    }
    let made = place.clock.now
    let network = place.network(
      ScriptedTransport { sent, number in
        .json(
          #"{"access_token":"B","expires_in":28800,"refresh_token":"S\#(number)"}"#)
      })
    var counts: [Int] = []
    place.clock.now = made + 25_200 - 60
    for _ in 0..<32 {
      counts.append(try await session.renewDue(over: network).renewed)
      place.clock.advance(60)
    }
    #expect(counts[0] == 0)
    #expect(counts.reduce(0, +) == 500)
    #expect((counts.max() ?? 0) < 50)
  }

  /// B70: no zone is ever asked.
  @Test func `four zones decide alike`() async throws {
    var seen: Set<String> = []
    let before = ProcessInfo.processInfo.environment["TZ"]
    defer {
      if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
      tzset()
    }
    for zone in ["America/Los_Angeles", "UTC", "Asia/Tokyo", "Pacific/Kiritimati"] {
      setenv("TZ", zone, 1)
      tzset()
      let place = try Place()
      let session = try place.create()
      try session.addOwn()
      let account = try session.addAccount(
        "lestat", type: "own",
        #"{"access_token":"A1","token_type":"bearer","expires_in":14400,"refresh_token":"R1"}"#)
      let credential = try session.credential(of: account)
      var due: [Int64] = []
      let network = place.network(ScriptedTransport { _, _ in .json("", 503) })
      for _ in 0..<16 {
        let outcome = try await session.renew(account, clientID: "c1", over: network, .due).outcome
        due.append(outcome == .notDue ? 0 : 1)
        place.clock.advance(1000)
      }
      // The jitter is of the vault's key: only the margin's edges are the same.
      #expect(due.prefix(13).allSatisfy { $0 == 0 })
      #expect(due.contains(1))
      seen.insert("\(credential.bytes)")
    }
    #expect(seen.count == 1)
  }

  /// B73: a clock that was wrong blocks nothing for longer than a try.
  @Test func `a clock of 1970, then right, then a day back, neither storms nor blocks`()
    async throws
  {
    let place = try Place(SetClock(5000))
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    // The time comes from the network.
    place.clock.now = Timestamp(seconds: 1_800_000_000)
    #expect(try await session.renewDue(over: network).renewed == 1)
    let right = try session.credential(of: account)
    #expect(right.obtainedAt == place.clock.now)
    // A day back: the token's end is not believed, one renewal finds out, and no more than one.
    place.clock.now = Timestamp(seconds: 1_800_000_000 - day)
    for _ in 0..<10 {
      _ = try await session.renewDue(over: network)
      place.clock.advance(30)
    }
    #expect(transport.count == 2)
    let again = try session.credential(of: account)
    #expect(again.obtainedAt < right.obtainedAt)
    #expect(try #require(again.expiry.time) >= again.obtainedAt)
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `a wait that a wrong clock noted does not count`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let isWell = BooleanSwitch()
    let transport = ScriptedTransport { _, _ in
      isWell.isOn
        ? .json(#"{"access_token":"A2","expires_in":3600,"refresh_token":"R2"}"#)
        : .json("", 503)
    }
    let network = place.network(transport)
    let right = place.clock.now + 3500
    place.clock.now = right + 1000 * day
    _ = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(transport.count == 1)
    place.clock.now = right
    isWell.turnOn()
    #expect(try await session.renewDue(over: network).renewed == 1)
  }

  /// A year of an engine that sleeps, jumps and restarts: each token is renewed in its time, none twice.
  @Test func `a year with suspends, jumps and restarts has neither storm nor gap`() async throws {
    let place = try Place()
    var session = try place.create()
    try session.addOwn()
    var accounts: [Account] = []
    var providers: [String: RotatingProvider] = [:]
    for number in 0..<10 {
      let first = "F\(number)-R1"
      accounts.append(
        try session.addAccount(
          "a\(number)", type: "own",
          #"{"access_token":"A","token_type":"bearer","expires_in":43200,"refresh_token":"\#(first)"}"#
        ))
      providers["F\(number)"] = RotatingProvider(first, expiresIn: 43_200)
    }
    let known = providers
    let random = SetRandom(7)
    let sentAt = Mutex<[String: [Int64]]>([:])
    let clock = place.clock
    let transport = ScriptedTransport { sent, _ in
      let token = sent.fields["refresh_token"] ?? ""
      for (family, provider) in known where token.hasPrefix(family + "-") {
        sentAt.withLock { $0[family, default: []].append(clock.boot) }
        return provider.reply(sent)
      }
      return .json(#"{"error":"invalid_grant"}"#, 400)
    }
    let network = place.network(transport, random)
    let end = place.clock.boot + 365 * day
    var rounds = 0
    while place.clock.boot < end {
      _ = try await session.renewDue(over: network)
      rounds += 1
      switch rounds % 97 {
      case 13: place.clock.advance(8 * 3600)  // suspended overnight
      case 41: place.clock.now = place.clock.now + 1800  // the wall clock is set ahead
      case 42: place.clock.now = place.clock.now - 1800
      case 71: session = try place.open()
      default: place.clock.advance(600)
      }
    }
    for account in accounts {
      #expect(try session.credential(of: account).mark == .none)
    }
    #expect(known.values.allSatisfy { !$0.isRevoked })
    for times in sentAt.withLock({ $0.values }) {
      // 12 hours of life, renewed shortly before the end: about two a day.
      #expect((700...800).contains(times.count), "\(times.count)")
      for (earlier, later) in zip(times, times.dropFirst()) { #expect(later - earlier >= 60) }
    }
  }

  @Test func `the engine that runs for ever wakes for what comes, and ends when it is told`()
    async throws
  {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    var network = place.network(transport)
    let clock = place.clock
    let limit = clock.boot + 20 * 3600
    let wait = clock.wait
    network.wait = { until in
      guard clock.boot < limit else { return false }
      return await wait(until)
    }
    var looks = 0
    let summary = try await session.renewForever(over: network) { _, next in
      if next != nil { looks += 1 }
    }
    // Each lives for an hour: one in every fifty-odd minutes.
    #expect((20...24).contains(summary.renewed), "\(summary.renewed)")
    #expect(looks > 20)
    #expect(!provider.isRevoked)
  }
}
