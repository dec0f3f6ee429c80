import AccountVault
import Foundation
import Glibc
import Testing
import Time

@Suite struct `A token` {
  @Test func `is recorded before it is handed out, with what it was for`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    let token = try session.token(app: "123", permissions: ["email"])
    #expect(token.secret.shown == "EAA-token")
    #expect(token.account == account.id)
    #expect(token.tokenType == "bearer")
    let entry = try #require(try session.entries(.tokenUsed).first)
    #expect(entry.app == "123" && entry.permissions == ["email"])
    #expect(entry.accountID == account.id.text && entry.accountLabel == "facebook:lestat")
    #expect(entry.detail("generation") == "1")
    #expect(!"\(entry)".contains("EAA"))
  }

  @Test func `of OAuth 1.0a comes with the secret that signs`() throws {
    let session = try Place().create()
    try session.addTwitter("lestat", id: "1", token: "1-t")
    _ = try session.grant(Decision(app: "123", permissions: ["read"]))
    let token = try session.token(app: "123")
    var secret: String?
    token.withTokenSecret { secret = $0.shown }
    #expect(token.secret.shown == "1-t" && secret == "s")
    #expect(token.tokenType == "oauth1")
  }

  @Test func `is refused for a reason that is recorded`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.addApp("123", name: "Badger")
    var refused: [VaultError.Code] = []
    func refuse() {
      refused.append(
        refusal { () throws(VaultError) in
          try session.token(app: "123", permissions: ["email"])
        }.code)
    }
    refuse()
    _ = try session.deny(Decision(app: "123", permissions: ["email"]))
    refuse()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    _ = try session.revoke(Decision(app: "123", permissions: ["email"]))
    refuse()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    place.clock.advance(5_184_000)
    refuse()
    #expect(refused == [.neverAsked, .denied, .revoked, .signIn])
    #expect(
      try session.entries(.useRefused).map(\.reason) == [
        "never_asked", "denied", "revoked", "sign_in",
      ])
    #expect(try session.entries(.tokenUsed).isEmpty)
  }

  @Test func `asked for by names that nobody knows leaves the file as it was`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook("a")
    try session.addFacebook("b")
    _ = try session.addApp("123", name: "Badger")
    try session.flush()
    let before = try place.bytes()
    func code(_ app: String, _ account: String?, _ names: [String]) -> VaultError.Code {
      refusal { () throws(VaultError) in
        try session.token(app: app, account: account, permissions: names)
      }.code
    }
    #expect(code("456", nil, ["email"]) == .notFound)
    #expect(code("no id", nil, ["email"]) == .usage)
    #expect(code("123", "c", ["email"]) == .notFound)
    #expect(code("123", "a", ["none"]) == .usage)
    #expect(code("123", nil, ["email"]) == .neverAsked)
    #expect(try place.bytes() == before)
  }

  @Test func `that expired is renewable or not, and never handed out`() throws {
    let place = try Place()
    let session = try place.create()
    let renewable = try session.addX("a", id: "1")
    let bare = try session.addX("b", id: "2", refresh: nil)
    let limited = try session.addAccount(
      NewAccount(type: "x", username: "c", userID: "3"),
      credential: .response(
        .text(
          #"{"access_token":"t","expires_in":7200,"refresh_token":"r","#
            + #""refresh_token_expires_in":9000}"#)))
    for account in [renewable, bare, limited] {
      _ = try session.grant(
        Decision(app: "123", permissions: ["tweet.read"], account: account.id.text))
    }
    func error(_ account: Account) -> VaultError {
      refusal { () throws(VaultError) in try session.token(app: "123", account: account.id.text) }
    }
    place.clock.advance(7200)
    #expect(error(renewable).code == .tryAgain && error(renewable).reason == .expired)
    #expect(error(bare).code == .signIn && error(bare).reason == .expired)
    #expect(error(limited).code == .tryAgain)
    place.clock.advance(1800)
    // Its refresh token has ended too.
    #expect(error(limited).code == .signIn)
    #expect(error(renewable).code == .tryAgain)
  }

  @Test func `is of the one account that the app holds this on`() throws {
    let session = try Place().create()
    try session.addFacebook("a", token: "of-a")
    try session.addFacebook("b", token: "of-b")
    try session.addTwitter("c", id: "3", token: "of-c")
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "b"))
    #expect(try session.tokenText(["email"]) == "of-b")
    #expect(try session.tokenText() == "of-b")
    _ = try session.grant(Decision(app: "123", permissions: ["read"]))
    #expect(try session.tokenText(["read"]) == "of-c")
    let any = refusal { () throws(VaultError) in try session.token(app: "123") }
    #expect(any.code == .ambiguous && any.candidates.count == 2)
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "a"))
    let several = refusal { () throws(VaultError) in
      try session.token(app: "123", permissions: ["email"])
    }
    #expect(several.code == .ambiguous)
    #expect(try session.tokenText(account: "a", ["email"]) == "of-a")
  }

  @Test func `leaves only after its entry could be written`() async throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook(token: "EAA-held-back")
      _ = try session.grant(Decision(app: "123", permissions: ["email"]))
      _ = try session.grant(Decision(app: "456", permissions: ["email"]))
    }
    await #expect(processExitsWith: .success) {
      [path = place.path as String, heads = place.heads as String] in
      signal(SIGXFSZ, SIG_IGN)
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = SetClock().clock
      let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      #expect(try session.tokenText(app: "456") == "EAA-held-back")
      let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(1), &limit)
      limit.rlim_cur = rlim_t(try #require(log))
      setrlimit(__rlimit_resource_t(1), &limit)
      for _ in 0..<2 {
        let error = refusal { () throws(VaultError) in
          try session.token(app: "123", permissions: ["email"])
        }
        #expect(error.code == .io && error.reason == .diskFull)
      }
      // Its first entry says "any number until then", so this one needs no other.
      #expect(try session.tokenText(app: "456") == "EAA-held-back")
      let strict = refusal { () throws(VaultError) in
        try session.token(app: "456", strictly: true)
      }
      #expect(strict.reason == .diskFull)
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(1), &limit)
      #expect(try session.tokenText(app: "123", ["email"]) == "EAA-held-back")
      #expect(try session.entries(.tokenUsed).map(\.app) == ["456", "123"])
    }
    let session = try place.open()
    #expect(try session.entries(.tokenUsed).map { $0.detail("count") } == [nil, nil, "1"])
    _ = try session.verify()
  }

  @Test func `used often has its first use recorded and the rest counted`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email", "user_likes"]))
    for _ in 0..<10 { _ = try session.tokenText(["email"]) }
    _ = try session.tokenText(["user_likes"])
    var used = try session.entries(.tokenUsed)
    #expect(used.map(\.permissions) == [["email"], ["user_likes"]])
    #expect(used[0].detail("any_number_until") == (place.clock.now + 60).description)
    // The end of the window.
    place.clock.advance(60)
    _ = try session.tokenText(["email"])
    used = try session.entries(.tokenUsed)
    #expect(used.map { $0.detail("count") } == [nil, nil, "9", nil])
    #expect(used[2].permissions == ["email"])
    _ = try session.tokenText(["email"])
    _ = try session.tokenText(["email"])
    try session.flush()
    #expect(try session.entries(.tokenUsed).last?.detail("count") == "2")
    // Nothing is counted twice.
    try session.flush()
    #expect(try session.entries(.tokenUsed).count == 5)
    _ = try session.verify()
  }

  @Test func `used once more when the session ends is counted`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
      _ = try session.grant(Decision(app: "123", permissions: ["email"]))
      for _ in 0..<3 { _ = try session.tokenText(["email"]) }
    }
    let session = try place.open()
    #expect(try session.entries(.tokenUsed).map { $0.detail("count") } == [nil, "2"])
  }

  @Test func `is refused at once where another process took the grant back`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    _ = try session.tokenText(["email"])
    _ = try session.tokenText(["email"])
    let other = try place.open()
    _ = try other.revoke(Decision(app: "123", permissions: ["email"]))
    let error = refusal { () throws(VaultError) in
      try session.token(app: "123", permissions: ["email"])
    }
    #expect(error.code == .revoked)
    // A new grant is another one, with an entry of its own.
    _ = try other.grant(Decision(app: "123", permissions: ["email"]))
    _ = try session.tokenText(["email"])
    #expect(
      try session.entries(.tokenUsed).filter { $0.detail("count") == nil }.count == 2)
  }

  @Test func `of a new generation is not the old window's`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addX(token: "one")
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    #expect(try session.tokenText() == "one")
    try session.addX(token: "two")
    #expect(try session.tokenText() == "two")
    #expect(try session.entries(.tokenUsed).map { $0.detail("generation") } == ["1", "2"])
  }

  @Test func `asked for strictly has an entry each`() throws {
    let session = try Place().create()
    try session.addFacebook()
    _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    for _ in 0..<3 { _ = try session.tokenText(["email"], strictly: true) }
    _ = try session.tokenText(["email"])
    #expect(try session.entries(.tokenUsed).count == 4)
    #expect(
      try session.entries(.tokenUsed).map { $0.detail("any_number_until") != nil } == [
        false, false, false, true,
      ])
  }

  @Test func `refused a thousand times does not fill the ledger`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook()
    _ = try session.addApp("123", name: "Badger")
    for _ in 0..<1000 {
      #expect(
        refusal { () throws(VaultError) in
          try session.token(app: "123", permissions: ["email"])
        }.code == .neverAsked)
    }
    try session.flush()
    let refused = try session.entries(.useRefused)
    #expect(refused.map { $0.detail("count") } == [nil, "999"])
  }

  @Test func `is not handed out by a session that only looks`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
      _ = try session.grant(Decision(app: "123", permissions: ["email"]))
    }
    let session = try place.open(looking: true)
    let error = refusal { () throws(VaultError) in try session.token(app: "123") }
    #expect(error.code == .usage)
    #expect(try session.entries(.tokenUsed).isEmpty)
  }
}
