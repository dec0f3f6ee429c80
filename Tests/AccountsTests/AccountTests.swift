import Encoding
import Testing
import Time

@testable import Accounts

@Suite struct `An account` {
  static let time = Timestamp(seconds: 1_796_019_000)

  static func account(
    _ byte: UInt8, _ username: String, type: String = "twitter", userID: String? = nil
  ) -> Account {
    Account(
      id: AccountID(Key16([UInt8](repeating: byte, count: 16))), type: type, username: username,
      userID: userID, createdAt: time)
  }

  @Test func `keeps its former names when it is renamed`() {
    var account = `An account`.account(1, "old", userID: "1")
    let renamed = account.rename(to: "new", at: `An account`.time + 60)
    #expect(renamed)
    #expect(account.username == "new")
    #expect(account.label == "twitter:new")
    #expect(account.formerUsernames == [.init(name: "old", until: `An account`.time + 60)])
    let again = account.rename(to: "new", at: `An account`.time + 90)
    #expect(!again)
    #expect(account.formerUsernames.count == 1)
  }

  @Test func `is not found by a name that is somebody else's by now`() {
    var first = `An account`.account(1, "old", userID: "1")
    first.rename(to: "new", at: `An account`.time)
    let second = `An account`.account(2, "old", userID: "2")
    #expect(AccountReference.resolve("twitter:old", among: [first, second]) == [second])
    #expect(AccountReference.resolve("twitter:1", among: [first, second]) == [first])
    #expect(AccountReference.resolve("old", among: [first, second]) == [second])
    #expect(AccountReference.resolve("new", among: [first, second]) == [first])
  }
}

@Suite struct `An account id` {
  @Test func `is 26 characters of lower-case base32`() {
    let id = AccountID(Key16(Array(0..<16)))
    #expect(id.text == "aaaqeayeaudaocajbifqydiob4")
    #expect(AccountID("aaaqeayeaudaocajbifqydiob4") == id)
  }

  @Test(
    arguments: [
      "", "aaaqeayeaudaocajbifqydiob", "aaaqeayeaudaocajbifqydiob4a",
      "AAAQEAYEAUDAOCAJBIFQYDIOB4", "aaaqeayeaudaocajbifqydiob5", "aaaqeayeaudaocajbifqydiob1",
    ])
  func `in any other form is none`(_ text: String) {
    #expect(AccountID(text) == nil)
  }
}

@Suite struct `An account reference` {
  @Test func `may be a whole id and a username`() throws {
    let text = "aaaqeayeaudaocajbifqydiob4"
    let id = try #require(AccountID(text))
    #expect(AccountReference.candidates(text) == [.id(id), .bare(text)])
  }

  @Test(arguments: ["badger", "abcdefghijklmnopqrstuvwxy"])
  func `may be the beginning of an id and a username`(_ text: String) {
    #expect(AccountReference.candidates(text) == [.idPrefix(text), .bare(text)])
  }

  @Test(arguments: ["short", "Badger", "lestat.ali", "badger1", ":x", "x:"])
  func `may be a username alone`(_ text: String) {
    #expect(AccountReference.candidates(text) == [.bare(text)])
  }

  @Test func `may be a type and a name, and a username with a colon`() {
    #expect(
      AccountReference.candidates("mastodon:me@host:3000") == [
        .typed(type: "mastodon", name: "me@host:3000"), .bare("mastodon:me@host:3000"),
      ])
    #expect(AccountReference.candidates("").isEmpty)
  }

  @Test func `that several accounts fit gives them all`() {
    let one = `An account`.account(1, "me")
    let two = `An account`.account(2, "me", type: "facebook")
    #expect(AccountReference.resolve("me", among: [one, two]) == [one, two])
    #expect(AccountReference.resolve("facebook:me", among: [one, two]) == [two])
    #expect(AccountReference.resolve("you", among: [one, two]).isEmpty)
  }

  @Test func `is not hijacked by a username that looks like an id`() {
    let one = `An account`.account(1, "me")
    let prefix = String(one.id.text.prefix(6))
    let other = `An account`.account(2, prefix)
    let whole = `An account`.account(3, one.id.text)
    #expect(AccountReference.resolve(prefix, among: [one, whole]) == [one])
    #expect(AccountReference.resolve(prefix, among: [one, other]) == [one, other])
    #expect(AccountReference.resolve(one.id.text, among: [whole, one]) == [one])
    #expect(AccountReference.resolve(String(prefix.dropLast()), among: [one]).isEmpty)
  }
}
