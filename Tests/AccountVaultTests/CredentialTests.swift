import AccountVault
import Foundation
import Testing

@Suite struct `A credential` {
  private func states(_ session: borrowing Session, _ account: Account) throws
    -> [CredentialState]
  {
    try session.standing(of: account).credentials.map(\.state)
  }

  @Test func `is due at the margin and dead at the very second of its end`() throws {
    let place = try Place()
    let session = try place.create()
    // Two hours, a margin of ten minutes.
    let account = try session.addX()
    #expect(try states(session, account) == [.valid])
    place.clock.advance(7200 - 601)
    #expect(try states(session, account) == [.valid])
    place.clock.advance(1)
    #expect(try states(session, account) == [.expiring])
    place.clock.advance(599)
    #expect(try states(session, account) == [.expiring])
    place.clock.advance(1)
    #expect(try states(session, account) == [.expired])
  }

  @Test func `of five minutes under a margin of ten is not always due`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.addX(expiresIn: 300)
    for _ in 0..<224 {
      #expect(try states(session, account) == [.valid])
      place.clock.advance(1)
    }
    place.clock.advance(1)
    #expect(try states(session, account) == [.expiring])
  }

  @Test func `is neither good for years nor dead when the clock was wrong`() throws {
    let place = try Place(SetClock(10))
    let session = try place.create()
    let account = try session.addX()
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"]))
    let credential = try session.standing(of: account).credentials[0].credential
    #expect(credential.expiry == .at(Timestamp(seconds: 7210)))
    // The clock is put right: what was obtained in 1970 has ended, and can be renewed.
    place.clock.now = Timestamp(seconds: 1_800_000_000)
    #expect(try states(session, account) == [.expired])
    let error = refusal { () throws(VaultError) in try session.token(app: "123") }
    #expect(error.code == .tryAgain && error.reason == .expired)
    _ = try session.addX(token: "second")
    #expect(try states(session, account) == [.valid])
    // Set back by a day: it is used, and due.
    place.clock.advance(-86_400)
    #expect(try states(session, account) == [.expiring])
    #expect(try session.tokenText(["tweet.read"]) == "second")
    // One more sign-in settles it, whatever lies in the future.
    _ = try session.addX(token: "third")
    #expect(try states(session, account) == [.valid])
    for standing in try session.standing(of: account).credentials {
      if case .at(let end) = standing.credential.expiry {
        #expect(end >= standing.credential.obtainedAt)
      }
    }
  }

  @Test func `ends at the same second in every zone`() async throws {
    // Each zone is a process of its own: the C library reads it once.
    await #expect(processExitsWith: .success) { try checkZone("America/Los_Angeles") }
    await #expect(processExitsWith: .success) { try checkZone("UTC") }
    await #expect(processExitsWith: .success) { try checkZone("Asia/Tokyo") }
    await #expect(processExitsWith: .success) { try checkZone("Pacific/Kiritimati") }
  }

  @Test func `with what the provider did not say stays usable`() throws {
    let place = try Place()
    let session = try place.create()
    let account = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat"), credential: .bearer(.text("bare")))
    let credential = try session.standing(of: account).credentials[0]
    #expect(credential.credential.expiry == .unknown)
    #expect(credential.clientID == nil)
    place.clock.advance(10 * 365 * 86_400)
    #expect(try states(session, account) == [.valid])
  }

  @Test(arguments: [
    (#""#, true, true), (#","scope":"""#, false, false), (#","scope":"email""#, true, false),
  ])
  func `says by its scopes what it can do, and by silence nothing`(
    _ scope: String, _ canRead: Bool, _ canPublish: Bool
  ) throws {
    let session = try Place().create()
    _ = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat"),
      credential: .response(.text(#"{"access_token":"t","expires_in":5184000\#(scope)}"#)))
    _ = try session.grant(Decision(app: "123", permissions: ["email", "publish_actions"]))
    for (permission, can) in [("email", canRead), ("publish_actions", canPublish)] {
      if can {
        #expect(try session.tokenText([permission]) == "t")
      } else {
        let error = refusal { () throws(VaultError) in
          try session.token(app: "123", permissions: [permission])
        }
        #expect(error.code == .revoked && error.reason == .missingScope)
        #expect(error.message.contains(permission))
      }
    }
  }

  @Test func `that lost a scope takes the grants along that rested on it`() throws {
    let session = try Place().create()
    let account = try session.addX(scope: "tweet.read tweet.write offline.access")
    _ = try session.grant(
      Decision(app: "123", permissions: ["tweet.read", "tweet.write"], audience: .everyone))
    _ = try session.addX(token: "two", scope: "tweet.read offline.access like.read")
    #expect(try session.states() == ["tweet.read": .granted, "tweet.write": .revoked])
    let entry = try #require(try session.entries(.narrowed).first)
    #expect(entry.app == "123" && entry.permissions == ["tweet.write"])
    #expect(entry.actor == "provider" && entry.reason == "on the site")
    #expect(try session.entries(.signedIn).last?.detail("scopes_added") == "like.read")
    let error = refusal { () throws(VaultError) in
      try session.token(app: "123", permissions: ["tweet.write"])
    }
    #expect(error.code == .revoked)
    // Without an app that used it, the loss is told all the same.
    _ = try session.addX(token: "three", scope: "tweet.read offline.access")
    #expect(try session.entries(.narrowed).last?.permissions == ["like.read"])
    #expect(try session.entries(.narrowed).last?.app == nil)
    // Silence is no loss.
    _ = try session.addX(token: "four")
    #expect(try session.entries(.narrowed).count == 2)
    #expect(try session.standing(of: account).credentials[0].credential.generation == 4)
    _ = try session.verify()
  }

  @Test func `is one for each client, and an app is handed its own client's`() throws {
    let session = try Place().create()
    _ = try session.addClient(type: "facebook", clientID: "first")
    _ = try session.addClient(type: "facebook", clientID: "second")
    for client in ["first", "second"] {
      _ = try session.addAccount(
        NewAccount(type: "facebook", username: "lestat", userID: "1", clientID: client),
        credential: .response(.text(#"{"access_token":"of-\#(client)","expires_in":5184000}"#)))
    }
    _ = try session.addApp("own", name: "Own", clients: ["facebook:second"])
    _ = try session.grant(Decision(app: "own", permissions: ["email"]))
    _ = try session.grant(Decision(app: "other", permissions: ["email"]))
    #expect(try session.tokenText(app: "own", ["email"]) == "of-second")
    #expect(try session.tokenText(app: "other", ["email"]) == "of-first")
    let account = try session.account("lestat")
    #expect(
      try session.standing(of: account).credentials.map(\.credential.clientID) == [
        "first", "second",
      ])
  }
}

private func checkZone(_ zone: String) throws {
  setenv("TZ", zone, 1)
  tzset()
  let place = try Place()
  let session = try place.create()
  let account = try session.addX(expiresIn: 14_400)
  let credential = try session.standing(of: account).credentials[0].credential
  #expect(credential.expiry == .at(Timestamp(seconds: 1_800_014_400)))
  #expect(credential.obtainedAt.seconds == 1_800_000_000)
  #expect(credential.obtainedAt.description == "2027-01-15T08:00:00Z")
  place.clock.advance(14_400 - 601)
  #expect(try session.standing(of: account).credentials[0].state == .valid)
  place.clock.advance(601)
  #expect(try session.standing(of: account).credentials[0].state == .expired)
}
