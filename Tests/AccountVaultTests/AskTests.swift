import AccountVault
import Foundation
import Testing
import Time

@Suite struct `An ask` {
  private func request(
    _ permissions: [String], type: String = "facebook", group: Ask.Group? = nil,
    audience: Audience? = nil, account: String? = nil
  ) -> AccessRequest {
    AccessRequest(
      app: "123", type: type, permissions: permissions, group: group, audience: audience,
      account: account)
  }

  @Test func `is put to the person, and the answer is remembered`() throws {
    let session = try Place().create()
    let account = try session.addFacebook()
    let person = Person(.grant(["email"]))
    let outcome = try session.requestAccess(request(["email"]), asker: person.asker)
    #expect(outcome.decision == .granted && outcome.granted == ["email"])
    #expect(person.questions.map(\.account) == [account])
    #expect(person.questions[0].providerName == "Facebook")
    // What is granted is not asked again.
    let again = try session.requestAccess(request(["email"]), asker: Person().asker)
    #expect(again.decision == .granted)
    #expect(
      try session.entries().map(\.event) == [
        .vaultCreated, .accountAdded, .appAdded, .accessRequested, .granted,
      ])
    #expect(try session.entries(.accessRequested).map(\.actor) == ["app:123"])
    #expect(try session.asks().isEmpty)
    _ = try session.verify()
  }

  @Test func `is not put again once the person took the permission back`() throws {
    let session = try Place().create()
    _ = try session.addFacebook()
    _ = try session.requestAccess(request(["email"]), asker: Person(.grant(["email"])).asker)
    _ = try session.revoke(Decision(app: "123", permissions: []))
    let person = Person(.grant(["email"]))
    let error = #expect(throws: VaultError.self) {
      _ = try session.requestAccess(request(["email"]), asker: person.asker)
    }
    #expect(error?.code == .denied)
    #expect(person.questions.isEmpty)
  }

  @Test func `is put again once the grant has run out`() throws {
    let place = try Place()
    let session = try place.create()
    _ = try session.addFacebook()
    var decision = Decision(app: "123", permissions: ["email"])
    decision.until = place.clock.now + 60
    _ = try session.grant(decision)
    place.clock.advance(60)
    let person = Person(.grant(["email"]))
    let outcome = try session.requestAccess(request(["email"]), asker: person.asker)
    #expect(outcome.decision == .granted)
    #expect(person.questions.count == 1)
    _ = try session.verify()
  }

  @Test func `to publish is refused in three ways, each with the command that would do`() throws {
    let session = try Place().create()
    try session.addFacebook()
    func refused(_ asked: AccessRequest) -> VaultError {
      refusal { () throws(VaultError) in
        try session.requestAccess(asked, asker: Person(.grant(asked.permissions)).asker)
      }
    }
    let first = refused(request(["publish_actions"], audience: .friends))
    #expect(first.code == .usage)
    #expect(
      first.hint == "vault request-access --app 123 --type facebook --perms email")
    let mixed = refused(request(["email", "publish_actions"], audience: .friends))
    #expect(mixed.code == .usage)
    #expect(
      mixed.hint
        == "vault request-access --app 123 --type facebook --perms email,publish_actions"
        + " --group readwrite --audience friends")
    _ = try session.requestAccess(
      request(["email"]), asker: Person(.grant(["email"])).asker)
    let audience = refused(request(["publish_actions"]))
    #expect(audience.code == .usage)
    #expect(
      audience.hint
        == "vault request-access --app 123 --type facebook --perms publish_actions"
        + " --audience only_me")
    #expect(Set([first.message, mixed.message, audience.message]).count == 3)
    #expect(
      try session.entries(.accessRequested).compactMap(\.reason) == [
        "refused: read_first", "refused: read_and_write_mixed", "refused: audience_missing",
      ])
    // And the command works.
    let outcome = try session.requestAccess(
      request(["publish_actions"], audience: .friends),
      asker: Person(.grant(["publish_actions"])).asker)
    #expect(outcome.decision == .granted)
    #expect(
      try session.access(app: "123", permissions: ["publish_actions"])[0].standing?.audience
        == .friends)
  }

  @Test func `of bad options is refused with its entry and nothing else`() throws {
    let session = try Place().create()
    try session.addTwitter("t", id: "1")
    let options = refusal { () throws(VaultError) in
      try session.requestAccess(
        request(["read"], type: "twitter", audience: .friends), asker: .nobody)
    }
    #expect(options.code == .usage)
    let empty = refusal { () throws(VaultError) in
      try session.requestAccess(
        AccessRequest(app: "", type: "twitter", permissions: ["read"]), asker: .nobody)
    }
    #expect(empty.code == .usage)
    let unknown = refusal { () throws(VaultError) in
      try session.requestAccess(request(["read"], type: "com.example.none"), asker: .nobody)
    }
    #expect(unknown.code == .notFound)
    #expect(
      try session.entries(.accessRequested).map(\.reason) == ["refused: audience_not_taken"])
    #expect(try session.apps().isEmpty)
    #expect(try session.asks().isEmpty)
  }

  @Test func `against the rules on and on does not fill the ledger`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let long = String(repeating: "x", count: 100_000)
    for _ in 0..<50 {
      let error = refusal { () throws(VaultError) in
        try session.requestAccess(
          request(Array(repeating: "", count: 2) + [long]), asker: .nobody)
      }
      #expect(error.code == .usage)
      #expect(error.message.utf8.count < 1000)
    }
    // A name that there is not was never asked for.
    #expect(try session.entries(.accessRequested).isEmpty)
    for _ in 0..<50 {
      let error = refusal { () throws(VaultError) in
        try session.requestAccess(request(["publish_actions"]), asker: .nobody)
      }
      #expect(error.code == .usage)
    }
    try session.flush()
    let asked = try session.entries(.accessRequested)
    #expect(asked.map { $0.detail("count") } == [nil, "49"])
    #expect(asked.allSatisfy { $0.actor == "app:123" && $0.accountID == nil })
    #expect(try place.bytes().count < 400_000)
    _ = try session.verify()
  }

  @Test func `for reading and writing is two questions in order`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let person = Person(.grant(["email", "user_likes"]), .grant(["publish_actions"]))
    let outcome = try session.requestAccess(
      request(["publish_actions", "user_likes"], group: .readwrite, audience: .friends),
      asker: person.asker)
    #expect(
      person.questions.map { $0.permissions.map(\.name) } == [
        ["email", "user_likes"], ["publish_actions"],
      ])
    #expect(person.questions.map(\.group) == [.read, .write])
    #expect(person.questions.map(\.added) == ["email", nil])
    #expect(person.questions.map(\.audience) == [nil, .friends])
    #expect(outcome.granted == ["email", "user_likes", "publish_actions"])
    #expect(try session.entries(.granted).count == 2)
  }

  @Test func `for writing is not put to a person who said no to the reading`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let person = Person(.deny, .grant(["publish_actions"]))
    let outcome = try session.requestAccess(
      request(["email", "publish_actions"], group: .readwrite, audience: .friends),
      asker: person.asker)
    #expect(person.questions.count == 1)
    #expect(outcome.decision == .denied)
    #expect(outcome.declined == ["email"])
    #expect(try session.states() == ["email": .denied])
  }

  @Test func `may be answered with yes to some of it`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let outcome = try session.requestAccess(
      request(["email", "user_likes", "user_photos"]),
      asker: Person(.grant(["email", "user_photos", "not_asked"])).asker)
    #expect(outcome.decision == .granted)
    #expect(outcome.granted == ["email", "user_photos"])
    #expect(outcome.declined == ["user_likes"])
    // What was declined is not asked again.
    let person = Person(.grant(["user_likes"]))
    let error = refusal { () throws(VaultError) in
      try session.requestAccess(request(["user_likes"]), asker: person.asker)
    }
    #expect(error.code == .denied)
    #expect(person.questions.isEmpty)
    #expect(error.hint?.hasPrefix("vault grant --app 123 --perms user_likes") == true)
    _ = try session.verify()
  }

  @Test func `with no account is no decision`() throws {
    let session = try Place().create()
    let outcome = try session.requestAccess(request(["email"]), asker: .nobody)
    #expect(outcome.decision == .noAccount && outcome.account == nil)
    #expect(try session.entries().map(\.event) == [.vaultCreated])
    try session.addFacebook()
    let person = Person(.grant(["email"]))
    #expect(
      try session.requestAccess(request(["email"]), asker: person.asker).decision == .granted)
    #expect(person.questions.count == 1)
    #expect(try session.entries(.denied).isEmpty)
  }

  @Test func `that nobody answers stays pending until it is granted`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.addFacebook()
    for _ in 0..<3 {
      let error = refusal { () throws(VaultError) in
        try session.requestAccess(request(["email", "user_likes"]), asker: .nobody)
      }
      #expect(error.code == .neverAsked)
      #expect(
        error.hint
          == "vault grant --app 123 --perms email,user_likes --account \(account.id.text)")
    }
    // The same ask stands there once.
    let asks = try session.asks()
    #expect(asks.count == 1)
    #expect(asks[0].permissions == ["email", "user_likes"])
    #expect(asks[0].deadline == place.clock.now + 7 * 86_400)
    #expect(asks[0].asker == nil)
    // Answered one after the other.
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    #expect(try session.asks().count == 1)
    _ = try session.deny(Decision(app: "123", permissions: ["user_likes"]))
    #expect(try session.asks().isEmpty)
    #expect(try session.states() == ["email": .granted, "user_likes": .denied])
    #expect(try session.entries(.askInterrupted).isEmpty)
  }

  @Test func `that waits already is not written again, and only so many wait`() throws {
    let session = try Place().create()
    _ = try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    for _ in 1...3 {
      #expect(throws: VaultError.self) {
        _ = try session.requestAccess(request(["user_likes"]), asker: .nobody)
      }
    }
    #expect(try session.asks().count == 1)
    #expect(try session.entries(.accessRequested).count == 1)
    let names = try session.provider("facebook").permissions(in: .read).prefix(40)
    var refusals: [VaultError.Code] = []
    for name in names where name != "email" && name != "user_likes" {
      do {
        _ = try session.requestAccess(request([name]), asker: .nobody)
      } catch {
        refusals.append(error.code)
      }
    }
    #expect(refusals.last == .tryAgain)
    #expect(try session.asks().count == 32)
  }

  @Test func `that nobody answers ends at its deadline and is no no`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email"]), asker: .nobody)
    }
    place.clock.advance(7 * 86_400 - 1)
    #expect(try session.asks().count == 1)
    place.clock.advance(1)
    #expect(try session.asks().isEmpty)
    #expect(try session.entries(.askInterrupted).map(\.reason) == ["its deadline came"])
    #expect(try session.states() == [:])
    #expect(
      try session.requestAccess(request(["email"]), asker: Person(.grant(["email"])).asker)
        .decision == .granted)
  }

  @Test func `that was cut off is put again`() throws {
    let session = try Place().create()
    try session.addFacebook()
    let person = Person(.deny)
    person.during = { () throws(VaultError) in
      #expect(try session.asks().count == 1)
      throw VaultError(.failed, "the terminal went away")
    }
    let error = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email"]), asker: person.asker)
    }
    #expect(error.message == "the terminal went away")
    #expect(try session.entries(.askInterrupted).count == 1)
    #expect(try session.entries(.denied).isEmpty)
    #expect(try session.asks().isEmpty)
    let again = Person(.grant(["email"]))
    _ = try session.requestAccess(request(["email"]), asker: again.asker)
    #expect(again.questions.count == 1)
  }

  @Test func `whose process was killed is interrupted, and the next one asks`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
    }
    let path = place.path
    let heads = place.heads
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, heads = heads as String] in
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = SetClock().clock
      let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      let person = Person()
      person.during = { () throws(VaultError) in kill(getpid(), SIGKILL) }
      var asker = person.asker
      asker.process = Asker.thisProcess
      _ = try session.requestAccess(
        AccessRequest(app: "123", type: "facebook", permissions: ["email"]), asker: asker)
    }
    let session = try place.open()
    #expect(try session.entries(.accessRequested).count == 1)
    let person = Person(.grant(["email"]))
    _ = try session.requestAccess(request(["email"]), asker: person.asker)
    #expect(person.questions.count == 1)
    #expect(
      try session.entries().suffix(4).map(\.event) == [
        .accessRequested, .askInterrupted, .accessRequested, .granted,
      ])
    #expect(try session.entries(.askInterrupted)[0].reason == "the process that asked is gone")
    _ = try session.verify()
  }

  @Test func `of a process that lives is not ended by another`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    let person = Person(.grant(["email"]))
    person.during = { () throws(VaultError) in
      let other = try Vault.open(at: place.path).unlock(
        with: .keyFile(.key()), options: place.unlocking)
      #expect(try other.asks().count == 1)
    }
    var asker = person.asker
    asker.process = Asker.thisProcess
    #expect(
      try session.requestAccess(request(["email"]), asker: asker).decision == .granted)
    #expect(try session.entries(.askInterrupted).isEmpty)
  }

  @Test func `with several accounts has one chosen, or says which there are`() throws {
    let session = try Place().create()
    let a = try session.addFacebook("a")
    let b = try session.addFacebook("b")
    let error = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email"]), asker: .nobody)
    }
    #expect(error.code == .ambiguous && error.candidates.count == 2)
    let person = Person(.grant(["email"]))
    person.chosen = { accounts in accounts.first { $0.id == b.id } }
    let outcome = try session.requestAccess(request(["email"]), asker: person.asker)
    #expect(outcome.account?.id == b.id)
    // Granted on one: that one it is.
    #expect(
      try session.requestAccess(request(["email"]), asker: .nobody).account?.id == b.id)
    // Named: that one is asked about.
    let named = try session.requestAccess(
      request(["email"], account: "a"), asker: Person(.deny).asker)
    #expect(named.account?.id == a.id && named.decision == .denied)
    _ = try session.deny(Decision(app: "123", permissions: ["email"], account: "b"))
    // Denied on all: denied.
    let denied = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email"]), asker: .nobody)
    }
    #expect(denied.code == .denied)
  }

  @Test func `finds the one granted account among many`() throws {
    let session = try Place().create()
    for number in 0..<40 { try session.addFacebook("user-\(number)") }
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "user-17"))
    #expect(
      try session.requestAccess(request(["email"]), asker: .nobody).account?.username
        == "user-17")
    let error = refusal { () throws(VaultError) in
      try session.requestAccess(request(["user_likes"]), asker: .nobody)
    }
    #expect(error.code == .ambiguous && error.candidates.count == 20)
  }

  @Test func `about an account of another type is refused`() throws {
    let session = try Place().create()
    try session.addTwitter("t", id: "1")
    let error = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email"], account: "t"), asker: .nobody)
    }
    #expect(error.code == .usage)
  }

  @Test func `for the extended is put alone and shown as such`() throws {
    let session = try Place().create()
    try session.addFacebook()
    _ = try session.requestAccess(request(["email"]), asker: Person(.grant(["email"])).asker)
    let together = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email", "read_mailbox"]), asker: .nobody)
    }
    #expect(together.code == .usage)
    let person = Person(.grant(["read_mailbox"]))
    _ = try session.requestAccess(request(["read_mailbox"]), asker: person.asker)
    #expect(person.questions.map(\.group) == [.extended])
    let retired = refusal { () throws(VaultError) in
      try session.requestAccess(request(["email", "offline_access"]), asker: .nobody)
    }
    #expect(retired.code == .usage)
    #expect(
      retired.hint == "vault request-access --app 123 --type facebook --perms email")
  }
}
