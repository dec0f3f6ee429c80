import AccountVault
import Foundation
import Testing
import Time

@Suite struct `A grant` {
  @Test func `to write is for only_me where nobody names an audience, and says so`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let assumed = try session.grant(Decision(app: "123", permissions: ["publish_actions"]))
    #expect(assumed.audience == .onlyMe && assumed.assumedAudience)
    let named = try session.grant(
      Decision(app: "123", permissions: ["publish_actions"], audience: .friends))
    #expect(named.audience == .friends && !named.assumedAudience)
    let read = try session.grant(Decision(app: "123", permissions: ["email"]))
    #expect(read.audience == nil && !read.assumedAudience)
    // An audience is kept with what is written, not with what is read.
    let both = try session.grant(
      Decision(app: "123", permissions: ["email", "publish_stream"], audience: .everyone))
    #expect(both.permissions == ["email", "publish_stream"])
    let lines = try session.access(app: "123")
    #expect(lines.first { $0.permission == "email" }?.standing?.audience == nil)
    #expect(lines.first { $0.permission == "publish_stream" }?.standing?.audience == .everyone)
    #expect(lines.first { $0.permission == "publish_actions" }?.standing?.audience == .friends)
  }

  @Test func `takes an audience only where the provider has one and something is written`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook("f")
    try session.addTwitter("t", id: "1")
    let before = try place.bytes()
    for decision in [
      Decision(app: "123", permissions: ["email"], account: "f", audience: .friends),
      Decision(app: "123", permissions: ["write"], account: "t", audience: .friends),
    ] {
      #expect(refusal { () throws(VaultError) in try session.grant(decision) }.code == .usage)
    }
    #expect(try place.bytes() == before)
    let twitter = try session.grant(Decision(app: "123", permissions: ["write"]))
    #expect(twitter.audience == nil && !twitter.assumedAudience)
  }

  @Test func `until a time has lapsed at that second, and the next write records it`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.addFacebook()
    let until = place.clock.now + 3600
    _ = try session.grant(Decision(app: "123", permissions: ["email"], until: until))
    place.clock.advance(3599)
    #expect(try session.states() == ["email": .granted])
    #expect(try session.tokenText(["email"]) == "EAA-token")
    place.clock.advance(1)
    #expect(try session.states() == ["email": .lapsed])
    let error = refusal { () throws(VaultError) in
      try session.token(app: "123", permissions: ["email"])
    }
    #expect(error.code == .revoked)
    // The refusal is a write, so the lapse that it met is in the ledger with it, once.
    _ = try session.grant(Decision(app: "123", permissions: ["user_likes"]))
    #expect(try session.entries(.lapsed).count == 1)
    let lapse = try #require(try session.entries(.lapsed).first)
    #expect(lapse.permissions == ["email"] && lapse.app == "123")
    #expect(lapse.accountID == account.id.text)
    // A clock that is set back revives nothing.
    place.clock.advance(-600)
    #expect(try session.states()["email"] == .lapsed)
    _ = try session.verify()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    #expect(try session.states()["email"] == .granted)
    _ = try session.verify()
  }

  @Test func `that would have ended already is refused`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let before = try place.bytes()
    for until in [place.clock.now, place.clock.now - 1] {
      let error = refusal { () throws(VaultError) in
        try session.grant(Decision(app: "123", permissions: ["email"], until: until))
      }
      #expect(error.code == .usage)
    }
    #expect(try place.bytes() == before)
  }

  @Test func `of an unknown permission names its neighbours and changes nothing`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let before = try place.bytes()
    let near = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["publish_action"]))
    }
    #expect(near.code == .usage)
    #expect(near.message.contains("publish_actions"))
    for name in ["Email", "", "nothing-like-it", "email\n"] {
      let error = refusal { () throws(VaultError) in
        try session.grant(Decision(app: "123", permissions: ["email", name]))
      }
      #expect(error.code == .usage, "\(name)")
    }
    let none = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: []))
    }
    #expect(none.code == .usage)
    let retired = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["offline_access"]))
    }
    #expect(retired.code == .usage && retired.message.contains("retired"))
    #expect(try place.bytes() == before)
  }

  @Test func `goes to the one account whose type knows all the permissions`() throws {
    let place = try Place()
    let session = try place.create()
    let none = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["email"]))
    }
    #expect(none.code == .notFound)
    #expect(none.hint?.hasPrefix("vault add-account") == true)
    let facebook = try session.addFacebook("a")
    try session.addTwitter("t", id: "1")
    #expect(
      try session.grant(Decision(app: "123", permissions: ["user_likes"])).account.id
        == facebook.id)
    try session.addFacebook("b")
    let before = try place.bytes()
    let error = refusal { () throws(VaultError) in
      try session.grant(Decision(app: "123", permissions: ["user_likes"]))
    }
    #expect(error.code == .ambiguous)
    #expect(error.candidates.count == 2)
    #expect(error.candidates.allSatisfy { $0.contains("facebook:") })
    #expect(try place.bytes() == before)
  }

  @Test func `after a no is a yes, and a no after a yes is a no`() throws {
    let session = try Place().create()
    try session.addFacebook()
    _ = try session.deny(
      Decision(app: "123", permissions: ["email"], reason: "not this one"))
    #expect(try session.states() == ["email": .denied])
    #expect(
      refusal { () throws(VaultError) in try session.token(app: "123", permissions: ["email"]) }
        .code == .denied)
    _ = try session.grant(Decision(app: "123", permissions: ["email"], reason: "well then"))
    #expect(try session.states() == ["email": .granted])
    _ = try session.deny(Decision(app: "123", permissions: ["email"]))
    #expect(try session.states() == ["email": .denied])
    #expect(try session.entries(.denied).map(\.reason) == ["not this one", nil])
    #expect(try session.entries(.granted).map(\.reason) == ["well then"])
    let line = try #require(try session.access(app: "123").first)
    let last = try session.entries(.denied).last?.number
    #expect(line.standing?.entry == last)
    _ = try session.verify()
  }

  @Test func `is taken back by name, or with everything that the app holds`() throws {
    let session = try Place().create()
    try session.addFacebook()
    _ = try session.grant(
      Decision(app: "123", permissions: ["email", "user_likes", "publish_actions"]))
    _ = try session.deny(Decision(app: "123", permissions: ["user_events"]))
    let one = try session.revoke(Decision(app: "123", permissions: ["email"]))
    #expect(one.permissions == ["email"])
    let rest = try session.revoke(Decision(app: "123", permissions: []))
    #expect(rest.permissions == ["publish_actions", "user_likes"])
    #expect(
      try session.states() == [
        "email": .revoked, "user_likes": .revoked, "publish_actions": .revoked,
        "user_events": .denied,
      ])
    #expect(try session.entries(.revoked).count == 2)
    let nothing = refusal { () throws(VaultError) in
      try session.revoke(Decision(app: "123", permissions: []))
    }
    #expect(nothing.code == .notFound)
    let unknown = refusal { () throws(VaultError) in
      try session.revoke(Decision(app: "456", permissions: ["email"]))
    }
    #expect(unknown.code == .notFound)
    _ = try session.verify()
  }

  @Test func `on one of several accounts is taken back where it is held`() throws {
    let session = try Place().create()
    let a = try session.addFacebook("a")
    try session.addFacebook("b")
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "a"))
    #expect(
      try session.revoke(Decision(app: "123", permissions: ["email"])).account.id == a.id)
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "a"))
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "b"))
    let error = refusal { () throws(VaultError) in
      try session.revoke(Decision(app: "123", permissions: []))
    }
    #expect(error.code == .ambiguous)
  }

  @Test func `answers with the gravest of several states`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.grant(
      Decision(app: "123", permissions: ["user_events"], until: place.clock.now + 60))
    place.clock.advance(60)
    _ = try session.grant(
      Decision(app: "123", permissions: ["email", "user_likes", "user_photos"]))
    _ = try session.revoke(Decision(app: "123", permissions: ["user_likes"]))
    _ = try session.deny(Decision(app: "123", permissions: ["user_photos"]))
    func code(_ names: String...) -> VaultError.Code {
      refusal { () throws(VaultError) in try session.token(app: "123", permissions: names) }.code
    }
    #expect(code("email", "user_likes", "user_photos", "user_status", "user_events") == .denied)
    #expect(code("email", "user_likes", "user_status", "user_events") == .revoked)
    #expect(code("email", "user_events", "user_status") == .revoked)
    #expect(code("email", "user_status") == .neverAsked)
    #expect(try session.tokenText(["email"]) == "EAA-token")
    // Of no names, any live grant will do.
    #expect(try session.tokenText() == "EAA-token")
  }

  @Test func `shows for each permission what it is, also where nothing was decided`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["publish_actions"]))
    let lines = try session.access(app: "123", permissions: ["publish_actions", "email"])
    #expect(lines.map(\.permission) == ["publish_actions", "email"])
    #expect(lines.map(\.state) == [.granted, .never])
    #expect(lines.map(\.group) == [.write, .read])
    #expect(lines[0].standing?.since == place.clock.now)
    #expect(
      refusal { () throws(VaultError) in try session.access(app: "123", permissions: ["none"]) }
        .code == .usage)
    #expect(
      refusal { () throws(VaultError) in try session.access(app: "456") }.code == .notFound)
  }

  @Test(arguments: ["", "a b", "a/b", String(repeating: "a", count: 129), "ä", "-x;rm"])
  func `is for an app whose id is one`(_ app: String) throws {
    let session = try Place().create()
    try session.addFacebook()
    let error = refusal { () throws(VaultError) in
      try session.grant(Decision(app: app, permissions: ["email"]))
    }
    #expect(error.code == .usage)
  }
}
