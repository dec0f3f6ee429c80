import AccountVault
import Accounts
import Faults
import Foundation
import Sodium
import TestSupport
import Testing

@Suite struct `A message that the app was taken away` {
  private let place: Place

  init() throws { place = try Place() }

  /// Signs as Facebook does.
  private func signed(_ payload: String, secret: String = "s1") -> String {
    let body = base64(Data(payload.utf8))
    let tag = HMACSHA256.authenticate(
      Array(body.utf8), key: SharedSecret.text(secret).bytes)
    return base64(Data(tag.bytes)) + "." + body
  }

  private func base64(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  private func payload(
    user: String = #""100""#, algorithm: String = "HMAC-SHA256", issued: Int64 = 1_800_000_000
  ) -> String {
    #"{"algorithm":"\#(algorithm)","issued_at":\#(issued),"user_id":\#(user)}"#
  }

  /// User 100 with credentials of two clients, and an app that uses the first.
  private func account(_ session: borrowing Session) throws -> Account {
    _ = try session.addClient(type: "facebook", clientID: "first", secret: .text("s1"))
    _ = try session.addClient(type: "facebook", clientID: "second", secret: .text("s2"))
    let account = try session.account(client: "first")
    _ = try session.account(token: "EAA-second", client: "second")
    try session.grants("123", "email", on: account)
    return account
  }

  private func refusal(_ session: borrowing Session, _ text: String) throws -> VaultError? {
    do throws(VaultError) {
      try session.takeDeauthorization(text)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [#""100""#, "100"])
  func `loses that client's credential and the grants through it`(user: String) throws {
    let session = try place.create()
    let account = try account(session)
    let text = signed(payload(user: user))
    let taken = try session.takeDeauthorization(text)
    #expect(taken.map(\.account) == [account.id] && taken.map(\.clientID) == ["first"])
    #expect(taken.map(\.effect) == ["lost_on_site"])
    #expect(try session.states("123", on: account) == ["email": .revoked])
    let states = Dictionary(
      uniqueKeysWithValues: try session.standing(of: account).credentials.map {
        ($0.credential.clientID, $0.state)
      })
    #expect(states == ["first": .rejected, "second": .valid])
    let entry = try #require(try session.entries(.lostOnSite).first)
    #expect(entry.actor == "provider" && entry.evidence?.class == "revoked")
    #expect(
      entry.evidence?.bodyHash
        == SHA256.digest(Array(text.utf8)).bytes.map { String(format: "%02x", $0) }.joined())
    let before = try session.entries().count
    #expect(try session.takeDeauthorization(text).map(\.effect) == ["known"])
    #expect(try session.entries().count == before)
    _ = try session.verify()
  }

  @Test func `is refused where no client's secret made it, and changes nothing`() throws {
    let session = try place.create()
    let account = try account(session)
    let before = try session.entries().count
    let right = signed(payload())
    let parts = right.split(separator: ".")
    let other = base64(Data(payload(user: #""101""#).utf8))
    for wrong in [
      signed(payload(), secret: "s3"), "\(parts[0]).\(other)", ".\(parts[1])", "\(parts[1])", "",
      right + "A", right + ".", String(right.dropFirst()),
    ] {
      #expect(try refusal(session, wrong)?.code == .denied, "\(wrong)")
    }
    #expect(try refusal(session, String(repeating: "a", count: 65_537))?.code == .denied)
    #expect(try session.states("123", on: account) == ["email": .granted])
    #expect(try session.entries().count == before)
  }

  @Test func `is refused with another algorithm, without a user or a time, or from the future`()
    throws
  {
    let session = try place.create()
    let account = try account(session)
    for (text, why) in [
      (payload(algorithm: "none"), "another algorithm"),
      (payload(algorithm: "HMAC-SHA1"), "another algorithm"),
      (#"{"issued_at":1800000000,"user_id":"100"}"#, "another algorithm"),
      (payload(user: #""""#), "no user"), (payload(user: "null"), "no user"),
      (#"{"algorithm":"HMAC-SHA256","user_id":"100"}"#, "when it was issued"),
      (payload(issued: 1_800_000_301), "in the future"),
    ] {
      let error = try refusal(session, signed(text))
      #expect(error?.code == .denied && error?.message.contains(why) == true, "\(text)")
    }
    #expect(try session.states("123", on: account) == ["email": .granted])
  }

  @Test func `of a user who is not here is not found`() throws {
    let session = try place.create()
    let account = try account(session)
    #expect(try refusal(session, signed(payload(user: #""200""#)))?.code == .notFound)
    #expect(try session.states("123", on: account) == ["email": .granted])
  }

  @Test func `that is older than the sign-in changes nothing`() throws {
    let session = try place.create()
    let account = try account(session)
    let text = signed(payload(issued: 1_799_999_999))
    #expect(try session.takeDeauthorization(text).map(\.effect) == ["superseded"])
    #expect(try session.states("123", on: account) == ["email": .granted])
    // Kept by somebody and sent again, after the person came back.
    let mine = signed(payload())
    #expect(try session.takeDeauthorization(mine).map(\.effect) == ["lost_on_site"])
    place.clock.advance(1)
    _ = try session.account(token: "EAA-again", client: "first")
    #expect(try session.takeDeauthorization(mine).map(\.effect) == ["superseded"])
    #expect(try session.standing(of: account).credentials.allSatisfy { $0.state == .valid })
  }

  @Test(arguments: SharedVector.all(["facebook.signed_request"]))
  func `is read as the published example, which names nobody`(_ vector: SharedVector) throws {
    let session = try place.create()
    guard case .object(let inputs) = vector.inputs, case .text(let secret) = inputs["app_secret"],
      case .text(let text) = inputs["signed_request"]
    else {
      Issue.record("the vector has no text")
      return
    }
    #expect(try refusal(session, text)?.message.contains("a wrong signature") == true)
    _ = try session.addClient(type: "facebook", clientID: "first", secret: .text(secret))
    #expect(try refusal(session, text)?.message.contains("it names no user") == true)
  }
}
