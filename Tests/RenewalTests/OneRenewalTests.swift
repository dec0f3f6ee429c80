import AccountVault
import HTTPTypes
import Ledger
import Testing
import Time

@Suite struct OneRenewalTests {
  @Test func `a due credential is renewed, and both halves of it are in the ledger`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .due).outcome == .notDue)
    #expect(transport.count == 0)
    place.clock.advance(3400)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(renewal.outcome == .renewed)
    #expect(renewal.generation == 2)
    #expect(try session.tokens(of: account, over: network) == "A2")
    let request = try #require(transport.requests.first)
    #expect(request.method == "POST")
    #expect(request.fields["grant_type"] == "refresh_token")
    #expect(request.fields["refresh_token"] == "R1")
    #expect(request.fields["client_secret"] == "client-secret")
    let started = try #require(try session.entries(.renewalStarted).first)
    #expect(started.actor == "engine")
    #expect(started.detail("generation") == "1")
    #expect(started.detail("token_hash")?.count == 64)
    let renewed = try #require(try session.entries(.renewed).first)
    #expect(renewed.number == started.number + 1)
    #expect(renewed.detail("generation") == "2")
    #expect(renewed.detail("refresh_token") == "replaced")
    #expect(renewed.evidence?.status == 200)
    #expect(renewed.evidence?.bodyHash?.count == 64)
    _ = try session.verify()
  }

  @Test func `the owner renews before the time, an app only what it needs`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .owner).outcome == .renewed)
    // One renewal a minute binds the engine and the apps, not the owner.
    let app = try await session.renew(account, clientID: "c1", over: network, .request)
    #expect(app.outcome == .notDue)
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .owner).outcome == .renewed)
    #expect(transport.count == 2)
    place.clock.advance(61)
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .request).outcome == .renewed
    )
    #expect(try session.entries(.renewalStarted).map(\.actor).contains("owner"))
  }

  /// B08: a member that is missing, null or empty keeps the present refresh token.
  @Test func `an answer without a refresh token keeps the old one`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let members = ["", #","refresh_token":null"#, #","refresh_token":"""#, ""]
    let transport = ScriptedTransport { _, number in
      .json(
        #"{"access_token":"B\#(number)","token_type":"Bearer","expires_in":3599\#(members[number])}"#
      )
    }
    let network = place.network(transport)
    for _ in members {
      let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
      #expect(renewal.outcome == .renewed)
    }
    #expect(transport.requests.map { $0.fields["refresh_token"] } == ["R1", "R1", "R1", "R1"])
    #expect(try session.entries(.renewed).allSatisfy { $0.detail("refresh_token") == "kept" })
  }

  /// B07: nothing is done between the answer and its commit, and whose token it is is asked only after.
  @Test func `an answer is saved before anything else is asked of the provider`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    // Everything but the token's address is out of order.
    let transport = ScriptedTransport { sent, _ in
      sent.url.hasSuffix("/token") ? provider.reply(sent) : .json("", 500)
    }
    let network = place.network(transport)
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .owner).outcome == .renewed)
    #expect(transport.requests.map(\.url) == ["https://auth.example/token"])
    let entries = try session.entries()
    #expect(entries.suffix(2).map(\.event) == [.renewalStarted, .renewed])
    #expect(try place.open().tokens(of: account, over: network) == "A2")
    // What was saved is what is sent next.
    #expect(
      try await session.renew(account, clientID: "c1", over: network, .owner).outcome == .renewed)
    #expect(transport.requests.last?.fields["refresh_token"] == "R2")
    #expect(!provider.isRevoked)
  }

  /// B10: a new token never inherits the old one's end.
  @Test func `an answer without an expiry has none, and a hundred uses cause one request`()
    async throws
  {
    let place = try Place()
    let session = try place.create()
    try session.addOwn(more: #","response":{"missing_expiry":"unknown"}"#)
    let account = try session.addAccount()
    place.clock.advance(3610)
    let transport = ScriptedTransport { _, _ in
      .json(#"{"access_token":"A2","token_type":"bearer","refresh_token":"R2"}"#)
    }
    let network = place.network(transport)
    for _ in 0..<100 {
      _ = try await session.renew(account, clientID: "c1", over: network, .request)
    }
    #expect(transport.count == 1)
    #expect(try session.credential(of: account).expiry == .unknown)
    #expect(try session.state(of: account) == .valid)
  }

  /// B02: what an older try brings never overwrites what is newer.
  @Test func `an answer that comes after another credential changes nothing`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let path = place.path
    let options = place.unlocking
    let transport = ScriptedTransport { _, _ in
      // While the request is under way a person signs in again.
      let other = try! Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      _ = try! other.addAccount(
        NewAccount(type: "own", username: "lestat", userID: "id-lestat"),
        credential: .response(
          .text(
            #"{"access_token":"N","token_type":"bearer","expires_in":3600,"refresh_token":"RN"}"#)))
      return .json(#"{"error":"invalid_grant"}"#, 400)
    }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.generation == 2)
    #expect(try session.tokens(of: account, over: network) == "N")
    #expect(try session.state(of: account) == .valid)
    let failed = try #require(try session.entries(.failed).first)
    #expect(failed.reason == "superseded by generation 2")
    #expect(failed.evidence?.code == "invalid_grant")
  }

  @Test func `a token that comes for an account that is gone is taken back at the provider`()
    async throws
  {
    let place = try Place()
    let session = try place.create()
    try session.addOwn(
      more: #","revocation":"rfc7009""#)
    let account = try session.addAccount()
    let path = place.path
    let options = place.unlocking
    let transport = ScriptedTransport { sent, _ in
      guard sent.url.hasSuffix("/token") else { return .json("{}") }
      // While the request is under way the owner removes the account.
      let other = try! Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      _ = try! other.remove(try! other.account("own:lestat"))
      return .json(#"{"access_token":"A2","expires_in":3600,"refresh_token":"R2"}"#)
    }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .failed)
    #expect(renewal.reason == "the account was removed meanwhile")
    let failed = try #require(try session.entries(.failed).first)
    #expect(failed.reason == "superseded: the account was removed meanwhile")
    // The old pair and the new one.
    let pending = try session.pendingRevocations()
    #expect(pending.map(\.generation).sorted() == [1, 2])
    #expect(pending.allSatisfy { $0.cause == .accountRemoved })
    _ = try await session.sendRevocations(over: network)
    let tokens = transport.requests.dropFirst().compactMap { $0.fields["token"] }
    #expect(Set(tokens) == ["R1", "A1", "R2", "A2"])
    _ = try session.verify()
  }

  /// B46: a refusal of an older token says nothing of the newer one.
  @Test func `a refusal of an older token ends nothing`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in provider.reply(sent) }
    let network = place.network(transport)
    _ = try await session.renew(account, clientID: "c1", over: network, .owner)
    for _ in 0..<20 {
      let renewal = try await session.renew(
        account, clientID: "c1", over: network, .expired(Evidence(status: 401)), refused: 1)
      #expect(renewal.generation == 2)
    }
    #expect(transport.count == 1)
    #expect(try session.state(of: account) == .valid)
  }

  /// B47: credentials follow no redirect.
  @Test(arguments: [301, 302, 307, 308])
  func `a redirect from the token endpoint is the client's trouble`(status: Int) async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in
      .json("", status, [("Location", "http://other.example/secret/path?x=1")])
    }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .failed)
    #expect(renewal.errorClass == "config")
    #expect(renewal.reason?.contains("redirects to http://other.example,") == true)
    #expect(transport.count == 1)
    #expect(try session.tokens(of: account, over: network) == "A1")
    #expect(try session.state(of: account) == .valid)
  }

  @Test func `a refusal for good marks the credential and keeps the grants`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in .json(#"{"error":"invalid_grant"}"#, 400) }
    let network = place.network(transport)
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .rejected)
    #expect(renewal.errorClass == "invalid")
    #expect(renewal.nextAttemptAt == nil)
    #expect(try session.state(of: account) == .rejected)
    #expect(try session.access(app: "123").map(\.state) == [.granted])
    // It is persisted, and nothing is sent for it again, by nobody.
    let again = try place.open()
    for cause in [RenewalCause.due, .request, .owner] {
      #expect(
        try await again.renew(account, clientID: "c1", over: network, cause).outcome == .rejected)
    }
    #expect(transport.count == 1)
  }

  @Test func `a revocation takes the apps' grants along`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn(
      more: #","errors":[{"at":"renewal","code":"app_removed","class":"revoked"}]"#)
    let account = try session.addAccount()
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    let transport = ScriptedTransport { _, _ in .json(#"{"error":"app_removed"}"#, 400) }
    let network = place.network(transport)
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .rejected)
    #expect(renewal.errorClass == "revoked")
    #expect(try session.access(app: "123").map(\.state) == [.revoked])
    #expect(try session.entries(.rejected).count == 1)
    #expect(try session.entries(.lostOnSite).first?.evidence?.code == "app_removed")
  }

  @Test func `fewer scopes narrow, and take back what they no longer cover`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount(
      "lestat", type: "own",
      #"{"access_token":"A1","expires_in":3600,"refresh_token":"R1","scope":"tweet.read tweet.write"}"#
    )
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.write"]))
    let transport = ScriptedTransport { _, _ in
      .json(
        #"{"access_token":"A2","expires_in":3600,"refresh_token":"R2","scope":"tweet.read"}"#)
    }
    let network = place.network(transport)
    _ = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(try session.credential(of: account).scopes == ["tweet.read"])
    let narrowed = try #require(try session.entries(.narrowed).first)
    #expect(narrowed.permissions == ["tweet.write"])
    #expect(narrowed.app == "123")
  }

  /// B62: what cannot be renewed is answered at once.
  @Test func `what has no credential or no client is answered at once`() async throws {
    let place = try Place()
    let session = try place.create()
    try session.addOwn()
    let account = try session.addAccount()
    let empty = try session.addAccount(
      NewAccount(type: "own", username: "none", userID: "0"), credential: .none)
    let transport = ScriptedTransport { _, _ in .json("{}", 500) }
    let network = place.network(transport)
    await #expect(throws: VaultError.self) {
      _ = try await session.renew(empty, clientID: "c1", over: network, .owner)
    }
    try session.removeClient("own:c1")
    let renewal = try await session.renew(account, clientID: "c1", over: network, .owner)
    #expect(renewal.outcome == .failed)
    #expect(renewal.errorClass == "config")
    #expect(transport.count == 0)
  }
}
