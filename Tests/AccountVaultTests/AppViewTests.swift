import AccountVault
import Faults
import Foundation
import Testing
import Time

@Suite struct `An app sees` {
  /// Two accounts; app 123 holds `email` on the first, and nothing on the other.
  private func twoAccounts(_ session: borrowing Session) throws -> (mine: Account, other: Account) {
    let mine = try session.addFacebook()
    let other = try session.addFacebook("other.person")
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: mine.id.text))
    return (mine, other)
  }

  @Test func `one refusal for an account that is not there and one on which it holds nothing`()
    throws
  {
    let session = try Place().create()
    let (mine, other) = try twoAccounts(session)
    var told: Set<String> = []
    for name in [
      other.id.text, String(other.id.text.prefix(8)), "facebook:other.person", "other.person",
      "facebook:nobody.there", "nobody.there", String(repeating: "a", count: 26), "aaaaaaaa",
    ] {
      let error = refusal { () throws(VaultError) in
        _ = try session.token(
          app: "123", account: name, permissions: ["email"], seenBy: .app)
      }
      told.insert("\(error.code) \(error.message) \(error.hint ?? "-") \(error.candidates)")
    }
    #expect(told.count == 1, "\(told)")
    // They are of one kind: the first is written, and the rest counted.
    let refused = try session.entries(.useRefused)
    #expect(refused.count == 1)
    #expect(refused[0].accountID == nil)
    #expect(refused[0].permissions == ["email"])
    #expect(
      try session.token(app: "123", account: mine.username, permissions: ["email"], seenBy: .app)
        .account == mine.id)
    // The owner is told which it was.
    let owner = refusal { () throws(VaultError) in
      _ = try session.token(app: "123", account: other.id.text, permissions: ["email"])
    }
    #expect(owner.message.contains("other.person"))
  }

  @Test func `no account that it was never granted, where it names none`() throws {
    let session = try Place().create()
    _ = try session.addFacebook()
    _ = try session.addApp("123", name: "One")
    let error = refusal { () throws(VaultError) in
      _ = try session.token(app: "123", permissions: ["email"], seenBy: .app)
    }
    #expect(error.code == .neverAsked)
    #expect(!error.message.contains("lestat") && error.hint?.contains("--account") == false)
    #expect(
      refusal { () throws(VaultError) in
        _ = try session.access(app: "123", permissions: ["email"], seenBy: .app)
      } == error)
    #expect(try session.access(app: "123", seenBy: .app).isEmpty)
  }

  @Test func `of several accounts those alone on which it holds something`() throws {
    let session = try Place().create()
    let (mine, _) = try twoAccounts(session)
    let third = try session.addFacebook("third.person")
    _ = try session.grant(
      Decision(app: "123", permissions: ["email"], account: third.id.text))
    let error = refusal { () throws(VaultError) in
      _ = try session.token(app: "123", permissions: ["email"], seenBy: .app)
    }
    #expect(error.code == .ambiguous)
    #expect(
      Set(error.candidates.map { String($0.prefix(26)) }) == [mine.id.text, third.id.text])
  }

  @Test func `its asks wait alike, whatever account they are about`() throws {
    let session = try Place().create()
    let (mine, other) = try twoAccounts(session)
    var outcomes: Set<String> = []
    for name in [other.id.text, "other.person", "facebook:nobody", "nobody.there", nil] {
      var request = AccessRequest(app: "7", type: "facebook", permissions: ["email"])
      request.account = name
      if try session.apps().allSatisfy({ $0.id != "7" }) { _ = try session.addApp("7", name: "7") }
      let outcome = try session.ask(request)
      outcomes.insert(
        "\(outcome.decision) \(outcome.account?.label ?? "-") \(outcome.type) \(outcome.granted)")
    }
    #expect(outcomes == ["pending - facebook []"])
    // What the person then reads of them.
    #expect(Set(try session.asks().map(\.account)) == [other.id, nil])
    #expect(try session.asks().count == 2)
    // On an account that it sees, it is told.
    let held = try session.ask(
      AccessRequest(app: "123", type: "facebook", permissions: ["email"], account: mine.username))
    #expect(held.decision == .granted && held.account == mine && held.granted == ["email"])
    _ = try session.deny(
      Decision(app: "7", permissions: ["email"], account: other.id.text))
    let denied = try session.ask(
      AccessRequest(app: "7", type: "facebook", permissions: ["email"], account: other.id.text))
    #expect(denied.decision == .denied && denied.account == other && denied.declined == ["email"])
    #expect(
      try session.ask(AccessRequest(app: "7", type: "twitter", permissions: ["write"])).decision
        == .noAccount)
    _ = try session.verify()
  }

  @Test func `no more of its words in the ledger, however many permissions it makes up`() throws {
    let session = try Place().create()
    _ = try session.addApp("123", name: "One")
    for number in 0..<50 {
      _ = refusal { () throws(VaultError) in
        _ = try session.token(
          app: "123", permissions: ["p\(number)", String(repeating: "x", count: 5000)],
          seenBy: .app)
      }
    }
    let refused = try session.entries(.useRefused)
    #expect(refused.count == 1)
    #expect(refused[0].permissions.map(\.utf8.count).max() ?? 0 < 200)
  }
}
