import AccountVault
import Foundation
import Testing

@Suite struct `Two processes` {
  @Test func `writing at once wait for each other and lose no entry`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
    }
    async let one: Void = writeMuch(place, app: "one", count: 60)
    async let two: Void = writeMuch(place, app: "two", count: 60)
    do {
      let session = try place.open()
      for number in 0..<60 {
        let decision = Decision(app: "three", permissions: ["email"])
        _ = number % 2 == 0 ? try session.grant(decision) : try session.deny(decision)
      }
    }
    _ = await (one, two)
    let session = try place.open()
    let result = try session.verify()
    #expect(result.anchored && result.stateMatches == true)
    // Made, an account, three apps; then everybody's decisions.
    #expect(result.entries == 2 + 3 + 180)
    for app in ["one", "two", "three"] {
      #expect(try session.entries().filter { $0.app == app }.count == 61)
      #expect(try session.states(app: app) == ["email": .denied])
    }
  }

  @Test func `are not kept waiting for ever by a third`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let other = try place.holdWriteLock()
    let error = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["email"]))
    }
    #expect(error.code == .tryAgain && error.reason == .busy)
    // Reading waits for nobody.
    #expect(try session.account("lestat").type == "facebook")
    try other.execute("ROLLBACK")
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
  }

  @Test func `see each other's work at once`() throws {
    let place = try Place()
    let one = try place.create()
    let two = try place.open()
    for number in 0..<20 {
      try one.addFacebook("one-\(number)")
      #expect(try two.account("one-\(number)").type == "facebook")
      try two.addFacebook("two-\(number)")
      #expect(try one.account("two-\(number)").type == "facebook")
    }
    #expect(try one.verify().anchored)
    #expect(try two.verify().anchored)
  }

  @Test func `have a definition that the other replaced`() throws {
    let place = try Place()
    let one = try place.create()
    let two = try place.open()
    try one.addProvider(#"{"id":"mine","name":"First","extends":"facebook"}"#)
    #expect(try two.provider("mine").name == "First")
    try one.addProvider(#"{"id":"mine","name":"Second","extends":"facebook"}"#)
    #expect(try two.provider("mine").name == "Second")
  }
}

/// A process of its own that grants and denies, turn about.
func writeMuch(_ place: Place, app: String, count: Int) async {
  await #expect(processExitsWith: .success) {
    [
      path = place.path as String, heads = place.heads as String, app = app as String,
      count = count as Int
    ] in
    var options = Vault.UnlockOptions()
    options.headDirectory = heads
    options.clock = SetClock().clock
    let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
    for number in 0..<count {
      let decision = Decision(app: app, permissions: ["email"])
      _ = number % 2 == 0 ? try session.grant(decision) : try session.deny(decision)
    }
  }
}
