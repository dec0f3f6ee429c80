import AccountVault
import AccountVaultNetwork
import Faults
import HTTPTypes
import Ledger
import Synchronization
import Testing
import Time

/// Outcomes as an asynchronous sequence.
@Suite struct SequenceTests {
  /// Time passes by itself, until the task is cancelled.
  private func network(_ place: Place, _ transport: any Transport) -> Network {
    var network = place.network(transport)
    let wait = place.clock.wait
    network.wait = { until in
      await Task.yield()
      return Task.isCancelled ? false : await wait(until)
    }
    return network
  }

  private func pool(_ place: Place, accounts: [String]) throws -> SessionPool {
    let session = try place.create()
    try session.addOwn()
    for name in accounts {
      try session.addAccount(
        name, type: "own",
        #"{"access_token":"A1","token_type":"bearer","expires_in":3600,"refresh_token":"\#(name)R1"}"#
      )
    }
    try session.flush()
    return SessionPool(try Vault.open(at: place.path), session)
  }

  /// Each account's family by the letter that its tokens begin with.
  private func transport(_ families: [RotatingProvider]) -> ScriptedTransport {
    ScriptedTransport { sent, _ in
      let token = sent.fields["refresh_token"] ?? ""
      let family = families.first { $0.current.first == token.first } ?? families[0]
      return family.reply(sent)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `what becomes due is renewed for as long as somebody iterates`() async throws {
    let place = try Place()
    let pool = try pool(place, accounts: ["a", "b"])
    let families = [RotatingProvider("aR1"), RotatingProvider("bR1")]
    let network = network(place, transport(families))
    var seen: [String: [Int64]] = [:]
    for try await renewal in pool.renewals(over: network) {
      #expect(renewal.outcome == .renewed)
      seen[renewal.account.username, default: []].append(renewal.generation)
      if seen.values.map(\.count).reduce(0, +) == 8 { break }
    }
    #expect(seen == ["a": [2, 3, 4, 5], "b": [2, 3, 4, 5]])
    #expect(families.allSatisfy { !$0.isRevoked && $0.uses.values.allSatisfy { $0 == 1 } })
  }

  @Test(.timeLimit(.minutes(10)))
  func `what becomes due in a while is renewed ahead of it, and not again and again`()
    async throws
  {
    let place = try Place()
    let pool = try pool(place, accounts: ["a"])
    let family = RotatingProvider("aR1")
    let start = place.clock.now
    for try await renewal in pool.renewals(over: network(place, transport([family])), within: 2000)
    {
      if renewal.generation == 4 { break }
      #expect(renewal.generation < 4)
    }
    // An hour's token is due 600 to 300 seconds before its end; 2000 seconds before that, looked at
    // each minute, is every 1000 to 1360 seconds.
    #expect(place.clock.now - start >= 3 * 1000)
    #expect(place.clock.now - start <= 3 * 1360)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a task that is cancelled ends it once what was sent is written`() async throws {
    struct Gate: Transport {
      let hasArrived = Flag()
      let isOpen = Flag()

      func send(
        _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
      ) async throws(HTTPFailure) -> HTTPResponse {
        hasArrived.raise()
        while !isOpen.isRaised {
          if Task.isCancelled {
            throw HTTPFailure(.cancelled, "cancelled", mayHaveBeenSent: true)
          }
          await Task.yield()
        }
        return HTTPResponse(
          status: 200,
          body: .text(#"{"access_token":"B","expires_in":3600,"refresh_token":"S"}"#))
      }
    }
    let place = try Place()
    let pool = try pool(place, accounts: ["a"])
    let gate = Gate()
    let network = network(place, gate)
    let reader = Task { () throws(VaultError) -> Int in
      var count = 0
      for try await _ in pool.renewals(over: network) { count += 1 }
      return count
    }
    while !gate.hasArrived.isRaised { await Task.yield() }
    reader.cancel()
    gate.isOpen.raise()
    #expect(try await reader.value <= 1)
    let generation = try pool.withSession { (session) throws(VaultError) in
      let account = try session.account("own:a")
      return try session.standing(of: account).credentials[0].credential.generation
    }
    #expect(generation == 2)
    // Nobody renews any more: time stands still.
    let boot = place.clock.boot
    for _ in 0..<1000 { await Task.yield() }
    #expect(place.clock.boot == boot)
  }

  @Test func `what concerns no provider is thrown`() async throws {
    let place = try Place()
    do { _ = try place.create() }
    var options = place.unlocking
    options.isLooking = true
    let session = try Vault.open(at: place.path).unlock(
      with: .keyFile(.key()), options: options)
    let pool = SessionPool(try Vault.open(at: place.path), session)
    let network = network(place, ScriptedTransport { _, _ in .json("{}") })
    await #expect(throws: VaultError.self) {
      for try await _ in pool.renewals(over: network) {}
    }
  }

  /// B62: a call completes once, also where there is nothing that could be renewed.
  @Test(.timeLimit(.minutes(10)))
  func `a thousand calls at once have a thousand answers`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn(renewal: #"{"method":"none"}"#)
    let account = try session.addAccount()
    try session.flush()
    let pool = SessionPool(try Vault.open(at: place.path), session)
    let transport = ScriptedTransport { _, _ in .json("{}") }
    // Waiting for each other must take no time from the token.
    let real = Network.system(version: "0")
    let network = Network(
      transport: transport, signatures: .libcrypto, wait: real.wait, random: SetRandom().next)
    let answers = await withTaskGroup(of: Renewal.Outcome?.self) { group in
      for number in 0..<1000 {
        group.addTask {
          // Every second one names what is not there.
          let client = number % 2 == 0 ? "c1" : "none"
          return try? await pool.withSession { (session) async throws(VaultError) in
            try await session.renew(account, clientID: client, over: network, .request).outcome
          }
        }
      }
      var answers: [Renewal.Outcome?] = []
      for await answer in group { answers.append(answer) }
      return answers
    }
    #expect(answers.count == 1000)
    #expect(answers.count { $0 == .notDue } == 500)
    #expect(answers.count { $0 == nil } == 500)
    #expect(transport.count == 0)
  }
}

/// Something that happened, for other tasks to see.
final class Flag: Sendable {
  private let state = Mutex(false)

  var isRaised: Bool { state.withLock { $0 } }
  func raise() { state.withLock { $0 = true } }
}
