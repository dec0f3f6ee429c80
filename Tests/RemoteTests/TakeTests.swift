import AccountVault
import HTTPTypes
import Providers
import Testing

@Suite struct `What a provider says of a credential` {
  @Test func `B29: an app removed on the site loses the credential and every grant through it`()
    throws
  {
    let place = try Place()
    let session = try place.create()
    _ = try session.addClient(type: "facebook", clientID: "first", secret: .text("s"))
    _ = try session.addClient(type: "facebook", clientID: "second", secret: .text("s"))
    let account = try session.account(client: "first")
    _ = try session.account(token: "EAA-second", client: "second")
    _ = try session.addApp("123", name: "Badger")
    _ = try session.addApp("124", name: "Same client")
    _ = try session.addApp(
      "other", name: "Other",
      clients: ["facebook:second"])
    try session.grants("123", "publish_actions", "email", on: account)
    try session.grants("124", "email", on: account)
    try session.grants("other", "publish_actions", on: account)
    _ = try session.deny(
      Decision(app: "123", permissions: ["user_photos"], account: account.id.text))
    let before = try session.entries().count

    let refusal = facebookError(190, 458)
    #expect(try session.take(refusal, for: account, client: "first") == .lostOnSite)
    #expect(
      try session.states("123", on: account)
        == ["publish_actions": .revoked, "email": .revoked, "user_photos": .denied])
    #expect(try session.states("124", on: account) == ["email": .revoked])
    #expect(try session.states("other", on: account) == ["publish_actions": .granted])
    let states = Dictionary(
      uniqueKeysWithValues: try session.standing(of: account).credentials.map {
        ($0.credential.clientID, $0.state)
      })
    #expect(states == ["first": .rejected, "second": .valid])
    let lost = try session.entries(.lostOnSite)
    #expect(lost.map(\.app) == ["123", "124"])
    #expect(lost.allSatisfy { $0.reason == "on the site" && $0.actor == "provider" })
    let evidence = try #require(lost[0].evidence)
    #expect(evidence.status == 400 && evidence.code == "190" && evidence.subcode == "458")
    #expect(evidence.class == "revoked" && evidence.bodyHash?.count == 64)
    let rejected = try session.entries(.rejected)
    #expect(rejected.count == 1 && rejected[0].evidence == evidence)
    #expect(rejected[0].detail("client") == "first" && rejected[0].detail("generation") == "1")
    // The same again is no news.
    let after = try session.entries().count
    #expect(after == before + 3)
    #expect(try session.take(refusal, for: account, client: "first") == .known)
    #expect(try session.entries().count == after)
    // It stays so in another process, and the ledger explains it.
    _ = consume session
    let again = try place.open()
    #expect(try again.states("124", on: account) == ["email": .revoked])
    _ = try again.verify()
  }

  @Test func `B28: a changed password rejects the credential and keeps the grants`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.account()
    try session.grants("123", "email", on: account)
    #expect(try session.take(facebookError(190, 460), for: account) == .rejected)
    #expect(try session.state(of: account) == .rejected)
    #expect(try session.states("123", on: account) == ["email": .granted])
    #expect(throws: VaultError.self) { _ = try session.token(app: "123") }
    #expect(try session.take(facebookError(190, 467), for: account) == .known)
    #expect(try session.entries(.rejected).count == 1)
    // The app may be taken away later, when the token is dead already.
    #expect(try session.take(facebookError(190, 458), for: account) == .lostOnSite)
    #expect(try session.entries(.rejected).count == 1)
    #expect(try session.states("123", on: account) == ["email": .revoked])
    // A new sign-in brings the credential back, and not the grant.
    _ = try session.account(token: "EAA-new")
    #expect(try session.state(of: account) == .valid)
    #expect(try session.states("123", on: account) == ["email": .revoked])
  }

  @Test func `B46: an answer to an older token never marks a newer one`() throws {
    let session = try Place().create()
    let account = try session.account()
    try session.grants("123", "email", on: account)
    for generation in Int64(1)...100 {
      _ = try session.account(token: "EAA-\(generation)")
      for refusal in [facebookError(190, 458), facebookError(190, 460), facebookError(200)] {
        let effect = try session.take(
          refusal, for: account, generation: generation, permissions: ["email"],
          granted: Granted(granted: []))
        #expect(effect == .superseded)
      }
    }
    #expect(try session.state(of: account) == .valid)
    #expect(try session.states("123", on: account) == ["email": .granted])
    #expect(try session.entries(.rejected).isEmpty)
    #expect(try session.take(facebookError(190, 460), for: account, generation: 101) == .rejected)
  }

  @Test func `B32: a missing permission is revoked after a re-read, and the token stays`() throws {
    let session = try Place().create()
    let account = try session.account()
    try session.grants("123", "publish_actions", "email", on: account)
    // The re-read shows that all is there: some object was out of reach, no permission.
    let all = Granted(granted: ["email", "publish_actions"])
    #expect(
      try session.take(facebookError(200, status: 403), for: account, granted: all) == .nothing)
    #expect(
      try session.states("123", on: account) == ["publish_actions": .granted, "email": .granted])
    let less = Granted(granted: ["email"], declined: ["publish_actions"])
    #expect(
      try session.take(facebookError(200, status: 403), for: account, granted: less) == .narrowed)
    #expect(
      try session.states("123", on: account) == ["publish_actions": .revoked, "email": .granted])
    #expect(try session.state(of: account) == .valid)
    let entry = try #require(try session.entries(.narrowed).first)
    #expect(entry.permissions == ["publish_actions"] && entry.app == "123")
    #expect(entry.reason == "on the site" && entry.evidence?.code == "200")
    #expect(try session.entries(.renewalStarted).isEmpty)
    #expect(
      try session.take(facebookError(200, status: 403), for: account, granted: less) == .nothing)
    #expect(try session.entries(.narrowed).count == 1)
  }

  @Test func `is believed without a re-read only where it is said by a code or a challenge`() throws
  {
    let session = try Place().create()
    let account = try session.account("x", more: #","scope":"tweet.read users.read dm.read""#)
    try session.grants("123", "tweet.read", "dm.read", on: account)
    // A bare 403 may be about anything.
    #expect(
      try session.take(HTTPResponse(403), for: account, permissions: ["dm.read"]) == .nothing)
    let challenge = HTTPResponse(
      403, "", ("WWW-Authenticate", #"Bearer error="insufficient_scope", scope="dm.read""#))
    #expect(try session.take(challenge, for: account) == .narrowed)
    #expect(
      try session.states("123", on: account) == ["tweet.read": .granted, "dm.read": .revoked])
    #expect(
      try session.standing(of: account).credentials[0].credential.scopes
        == ["tweet.read", "users.read"])
    #expect(try session.take(challenge, for: account) == .known)
  }

  @Test
  func `B61: is shown as confirmed while it is there, and as lost with evidence when it is gone`()
    throws
  {
    let place = try Place()
    let session = try place.create()
    let account = try session.account()
    try session.grants("123", "read_stream", on: account)
    func standing() throws -> PermissionStanding? {
      try session.access(app: "123", account: account.id.text).first?.standing
    }
    #expect(try standing()?.confirmedAt == nil)
    let there = HTTPResponse(200, #"{"data":[{"permission":"read_stream","status":"granted"}]}"#)
    #expect(
      try session.take(
        Granted(granted: ["read_stream"]), body: there, for: account, clientID: "", generation: 1
      ).effect == .nothing)
    #expect(try standing()?.confirmedAt == place.clock.now)
    place.clock.advance(2 * 86_400)
    let gone = HTTPResponse(200, #"{"data":[]}"#)
    #expect(
      try session.take(
        Granted(granted: []), body: gone, for: account, clientID: "", generation: 1
      ).effect == .narrowed)
    #expect(try standing()?.decision == .revoked)
    let entry = try #require(try session.entries(.narrowed).first)
    #expect(entry.time == place.clock.now)
    #expect(entry.evidence?.status == 200 && entry.evidence?.bodyHash?.count == 64)
    _ = try session.verify()
  }

  @Test func `may show more than was known, which no app is granted by`() throws {
    let session = try Place().create()
    let account = try session.account("x", more: #","scope":"tweet.read""#)
    try session.grants("123", "tweet.read", on: account)
    let wider = Granted(granted: ["tweet.read", "tweet.write"])
    #expect(
      try session.take(wider, for: account, clientID: "", generation: 1).effect == .widened)
    #expect(
      try session.standing(of: account).credentials[0].credential.scopes
        == ["tweet.read", "tweet.write"])
    let entry = try #require(try session.entries(.widened).first)
    #expect(entry.permissions == ["tweet.write"])
    #expect(try session.states("123", on: account) == ["tweet.read": .granted])
    #expect(
      try session.take(wider, for: account, clientID: "", generation: 1).effect == .nothing)
  }

  @Test func `B34: with an unknown subcode rejects nothing by itself`() throws {
    let session = try Place().create()
    let account = try session.account()
    try session.grants("123", "email", on: account)
    for subcode in [1, 451, 493, 5000, 9999] {
      // One renewal settles it.
      #expect(try session.take(facebookError(190, subcode), for: account) == .nothing)
    }
    #expect(try session.state(of: account) == .valid)
    // Nothing can renew: then it is dead, and the history stays.
    let refusal = facebookError(190, 493)
    let meaning = try session.meaning(refusal, of: "facebook", canRenew: false)
    #expect(meaning.errorClass == .expired || meaning.errorClass == .invalid)
    #expect(try session.states("123", on: account) == ["email": .granted])
  }

  @Test func `that the person must act for is noted once an hour, and marks nothing`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.account()
    try session.grants("123", "email", on: account)
    #expect(try session.take(facebookError(190, 459), for: account) == .noted)
    for _ in 0..<50 {
      #expect(try session.take(facebookError(190, 459), for: account) == .known)
    }
    #expect(try session.take(facebookError(190, 464), for: account) == .noted)
    let entries = try session.entries(.failed)
    #expect(entries.count == 2)
    #expect(entries[0].reason == "clear the checkpoint at facebook.com")
    #expect(entries[0].evidence?.class == "user_action")
    #expect(try session.state(of: account) == .valid)
    place.clock.advance(3600)
    #expect(try session.take(facebookError(190, 459), for: account) == .noted)
  }

  @Test(arguments: [
    HTTPResponse(429), HTTPResponse(503), HTTPResponse(400, #"{"error":{"code":506}}"#),
    HTTPResponse(400, #"{"error":{"code":101,"type":"OAuthException"}}"#),
    HTTPResponse(400, #"{"error":{"code":190,"error_subcode":463}}"#),
  ])
  func `that says nothing of the credential changes nothing`(response: HTTPResponse) throws {
    let session = try Place().create()
    let account = try session.account()
    try session.grants("123", "email", on: account)
    let before = try session.entries().count
    #expect(
      try session.take(
        response, for: account, permissions: ["email"], granted: Granted(granted: []))
        == .nothing)
    #expect(try session.entries().count == before)
  }
}
