import Foundation
import AccountVault
import Accounts
import HTTPTypes
import Ledger
import Sodium
import Store
import Testing
import Time

/// What a process that died in the middle leaves behind, and what is made of it.
@Suite struct InterruptedTests {
  /// Begins a renewal and lets it be cut off: the intent stays open, the lock is free.
  private func cutOff(_ place: Place, _ account: Account) async throws {
    let session = try place.open()
    let network = place.network(ScriptedTransport { _, _ in .json("{}") })
    try session.leaveOpen(account, clientID: "c1", over: network)
  }

  /// B05: the answer came and was not kept. One supervised try; what the provider refuses then was lost.
  @Test func `an open intent is uncertain, is tried once, and says what was lost`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    // The provider rotated for the process that died.
    _ = provider.answer("R1")
    try await cutOff(place, account)
    // Whoever looks sees it before anything settles it, in another session too.
    #expect(try session.state(of: account) == .uncertain)
    #expect(try place.open().state(of: account) == .uncertain)
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    place.clock.advance(1)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(renewal.outcome == .rejected)
    #expect(renewal.reason == "a renewal that was cut off lost the refresh token")
    #expect(transport.count == 1)
    let started = try session.entries(.renewalStarted)
    #expect(started.count == 2)
    #expect(started[1].reason == "the previous attempt was interrupted")
    #expect(started[1].detail("attempt") == "2")
    #expect(try session.entries(.rejected).first?.reason == renewal.reason)
    // The engine and apps send nothing more; a person signs in, and it is well again.
    _ = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(transport.count == 1)
    _ = try session.addAccount(
      NewAccount(type: "own", username: "lestat", userID: "id-lestat"),
      credential: .response(.text(AccountText.usual)))
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `a provider with a grace window gives the token to the second try`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    try await cutOff(place, account)
    let transport = ScriptedTransport { _, _ in
      .json(#"{"access_token":"A2","expires_in":3600,"refresh_token":"R2"}"#)
    }
    let network = place.network(transport)
    // The dead process's request may still be on its way: it is waited for.
    let before = place.clock.boot
    let renewal = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(place.clock.boot - before >= 5)
    #expect(renewal.outcome == .renewed)
    #expect(try session.state(of: account) == .valid)
    #expect(try session.entries(.renewed).first?.detail("recovered") == "true")
  }

  @Test func `two cut-off tries send nothing more, until the owner says so`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    try await cutOff(place, account)
    place.clock.advance(10)
    try await cutOff(place, account)
    place.clock.advance(10)
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    let engine = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(engine.outcome == .rejected)
    #expect(transport.count == 0)
    #expect(try session.state(of: account) == .rejected)
    let owner = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(owner.outcome == .renewed)
    #expect(try session.state(of: account) == .valid)
  }

  /// B94: a restored refresh token is not spent without a yes.
  @Test func `a restored credential waits for the owner`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    try session.backUp(to: place.directory("backup"))
    for _ in 0..<4 {
      _ = try await session.renew(account, clientID: "c1", over: network, .owner)
    }
    let restored = try Vault.restore(
      place.directory("backup"), to: place.directory("restored.vault"),
      with: .keyFile(.key()), options: place.unlocking)
    #expect(try restored.state(of: account) == .stale)
    place.clock.advance(7200)
    let sent = transport.count
    #expect(try await restored.renewDue(over: network).failed == 1)
    var all = RenewalScope()
    all.all = true
    #expect(try await restored.renewDue(all, over: network).failed == 1)
    _ = try await restored.renew(account, clientID: "c1", over: network, .request)
    #expect(transport.count == sent)
    #expect(!provider.isRevoked)
    let entry = try #require(try restored.entries(.restored).first)
    #expect(entry.detail("old_size") != nil)
    // The explicit yes: it is the owner's to risk.
    let named = try await restored.renew(account, clientID: "c1", over: network, .owner)
    #expect(named.outcome == .rejected)
    #expect(transport.count == sent + 1)
  }

  /// B04: the lock dies with its holder, and no content of its file is believed.
  @Test func `a lock file that was left behind holds nobody up`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    try Data("pid 1, locked for ever".utf8).write(to: URL(filePath: place.path + ".lock"))
    let provider = RotatingProvider()
    let network = place.network(ScriptedTransport { sent, _ in provider.reply(sent) })
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .owner).outcome == .renewed)
    let findings = Vault.examine(place.path, options: place.unlocking)
    #expect(findings.allSatisfy { $0.state != .error })
    try session.backUp(to: place.directory("copy"))
  }
}
