import AccountVault
import HTTPTypes
import Ledger
import Testing
import Time

/// Each provider's own way to a new token, or to a person.
@Suite struct MethodTests {
  private let day: Int64 = 86_400

  private func facebook(_ place: Place, expiresIn: Int64 = 5_184_000) throws -> (
    SessionBox, Account
  ) {
    let session = try place.create()
    _ = try session.addClient(type: "facebook", clientID: "77", secret: .text("app-secret"))
    let account = try session.addAccount(
      NewAccount(type: "facebook", username: "lestat", userID: "4"),
      credential: .response(
        .text(#"{"access_token":"EAA1","token_type":"bearer","expires_in":\#(expiresIn)}"#)))
    return (SessionBox(session), account)
  }

  /// A session that a helper may hand on.
  private final class SessionBox {
    let session: Session
    init(_ session: consuming Session) { self.session = session }
  }

  @Test func `Facebook's token is exchanged before its end, older than a day, once an hour`()
    async throws
  {
    let place = try Place()
    let (box, account) = try facebook(place)
    let transport = ScriptedTransport { _, number in
      number == 0
        ? .json(#"{"error":{"code":2,"message":"busy","type":"OAuthException"}}"#, 500)
        : .json(#"{"access_token":"EAA2","token_type":"bearer","expires_in":5183944}"#)
    }
    let network = place.network(transport)
    func renew(_ cause: RenewalCause) async throws -> Renewal {
      try await box.session.renew(account, clientID: "77", over: network, cause)
    }
    place.clock.advance(3600)
    #expect(try await renew(.request).outcome == .notDue)
    place.clock.advance(day)
    #expect(try await renew(.due).outcome == .notDue)
    #expect(transport.count == 0)
    // A quarter of sixty days is the margin.
    place.clock.advance(53 * day)
    #expect(try await renew(.due).errorClass == "transient")
    place.clock.advance(1800)
    _ = try await renew(.due)
    #expect(transport.count == 1)
    place.clock.advance(1900)
    #expect(try await renew(.due).outcome == .renewed)
    let request = transport.requests[1]
    #expect(request.method == "POST")
    #expect(!request.url.contains("EAA") && !request.url.contains("secret"))
    #expect(request.fields["grant_type"] == "fb_exchange_token")
    #expect(request.fields["fb_exchange_token"] == "EAA1")
    #expect(request.fields["client_secret"] == "app-secret")
  }

  /// B28: nothing is handed out before a renewal, whatever the date says, over restarts.
  @Test func `a token that the provider called dead is not handed out before a renewal`()
    async throws
  {
    let place = try Place()
    let (box, account) = try facebook(place)
    place.clock.advance(2 * day)
    _ = try box.session.grant(Decision(app: "123", permissions: ["email"]))
    let transport = ScriptedTransport { _, number in
      number == 0
        ? .json("", 503)
        : .json(
          #"{"error":{"code":190,"error_subcode":460,"type":"OAuthException","message":"x"}}"#, 400)
    }
    let network = place.network(transport)
    let evidence = Evidence(status: 400, code: "190", subcode: "463", class: "expired")
    let first = try await box.session.renew(
      account, clientID: "77", over: network, .expired(evidence))
    #expect(first.outcome == .failed)
    #expect(try box.session.entries(.renewalStarted).first?.evidence?.subcode == "463")
    let again = try place.open()
    #expect(throws: VaultError.self) { _ = try again.token(app: "123") }
    #expect(try again.state(of: account) == .expired)
    place.clock.advance(3601)
    let second = try await again.renew(account, clientID: "77", over: network, .due)
    #expect(second.outcome == .rejected)
    #expect(throws: VaultError.self) { _ = try again.token(app: "123") }
    #expect(try again.access(app: "123").map(\.state) == [.granted])
  }

  /// B34: an unknown subcode of 190 is one renewal, then a person.
  @Test(arguments: ["", #","error_subcode":493"#, #","error_subcode":7777"#])
  func `190 with whatever subcode ends in a person after one renewal`(subcode: String)
    async throws
  {
    let place = try Place()
    let (box, account) = try facebook(place)
    place.clock.advance(2 * day)
    let transport = ScriptedTransport { _, _ in
      .json(#"{"error":{"code":190\#(subcode),"type":"OAuthException","message":"x"}}"#, 400)
    }
    let network = place.network(transport)
    let renewal = try await box.session.renew(
      account, clientID: "77", over: network, .expired(Evidence(status: 400, code: "190")))
    #expect(renewal.outcome == .rejected)
    _ = try await box.session.renew(account, clientID: "77", over: network, .request)
    #expect(transport.count == 1)
    #expect(try box.session.entries(.rejected).count == 1)
  }

  @Test func `Facebook giving the same token back is no renewal`() async throws {
    let place = try Place()
    let (box, account) = try facebook(place)
    place.clock.advance(50 * day)
    let transport = ScriptedTransport { _, _ in
      .json(#"{"access_token":"EAA1","token_type":"bearer"}"#)
    }
    let renewal = try await box.session.renew(
      account, clientID: "77", over: place.network(transport), .owner)
    #expect(renewal.outcome == .failed)
    #expect(renewal.generation == 1)
  }

  @Test func `what nothing can renew is announced ahead and never tried`() async throws {
    let place = try Place()
    let session = try place.create()
    _ = try session.addClient(type: "weibo", clientID: "w", secret: .text("s"))
    let account = try session.addAccount(
      NewAccount(type: "weibo", username: "lestat"),
      credential: .response(
        .text(#"{"access_token":"2.00","expires_in":2592000,"remind_in":"2592000","uid":"7"}"#)))
    let end = place.clock.now + 2_592_000
    let transport = ScriptedTransport { _, _ in .json("{}", 500) }
    let network = place.network(transport)
    var told: [Timestamp] = []
    var outcomes: [Renewal] = []
    for _ in 0..<(31 * 24) {
      try await session.renewDue(over: network) { renewal in
        if let by = renewal.needsPersonBy { told.append(by) }
        outcomes.append(renewal)
      }
      place.clock.advance(3600)
    }
    #expect(told == [end])
    #expect(outcomes.last?.outcome == .rejected)
    #expect(try session.entries(.expired).count == 1)
    #expect(transport.count == 0)
    #expect(try session.explain(account.id.text).next.contains("a person signs in"))
  }

  @Test func `tokens without an end are never looked at`() async throws {
    let place = try Place()
    let session = try place.create()
    _ = try session.addClient(type: "twitter", clientID: "t", secret: .text("s"))
    _ = try session.addAccount(
      NewAccount(type: "twitter"),
      credential: .response(
        .text("oauth_token=1-t&oauth_token_secret=s&user_id=1&screen_name=lestat")))
    place.clock.advance(5000 * day)
    let network = place.network(ScriptedTransport { _, _ in .json("{}", 500) })
    var count = 0
    try await session.renewDue(over: network) { _ in count += 1 }
    #expect(count == 0)
  }

  /// B26: a refresh token with a fixed end is told of ahead, and nothing is sent after it.
  @Test func `a refresh token's own end is announced, kept, and not run against`() async throws {
    let place = try Place()
    let session = try place.create()
    _ = try session.addClient(type: "linkedin", clientID: "l", secret: .text("s"))
    let account = try session.addAccount(
      NewAccount(type: "linkedin", username: "lestat", userID: "5"),
      credential: .response(
        .text(
          #"{"access_token":"A1","expires_in":5184000,"refresh_token":"R1","refresh_token_expires_in":31536000}"#
        )))
    let start = place.clock.now
    let end = start + 31_536_000
    let clock = place.clock
    let transport = ScriptedTransport { _, number in
      // Near the end the access token is cut to the same end; the refresh token is not rotated.
      let life = min(5_184_000, end.seconds - clock.now.seconds)
      return .json(#"{"access_token":"B\#(number)","expires_in":\#(life)}"#)
    }
    let network = place.network(transport)
    var told: [(Timestamp, Timestamp)] = []
    var last: Renewal?
    while place.clock.now < end + 2 * day {
      try await session.renewDue(over: network) { renewal in
        if let by = renewal.needsPersonBy { told.append((clock.now, by)) }
        last = renewal
      }
      place.clock.advance(6 * 3600)
    }
    #expect(told.count == 1)
    #expect(told.first?.1 == end)
    #expect(end - (told.first?.0 ?? end) >= 6 * day)
    #expect(last?.outcome == .rejected)
    #expect(last?.reason?.contains("the refresh token ended") == true)
    #expect(try session.credential(of: account).refreshExpiresAt == end)
    let sent = transport.count
    #expect((6...40).contains(sent), "\(sent)")
    _ = try await session.renew(account, clientID: "l", over: network, .owner)
    #expect(transport.count == sent)
  }

  @Test func `the end of data access is announced though the token lives on`() async throws {
    let place = try Place()
    let session = try place.create()
    let deadline = place.clock.now + 90 * day
    _ = try session.addAccount(
      NewAccount(type: "facebook", username: "page", userID: "9"),
      credential: .response(
        .text(
          #"{"access_token":"EAA","token_type":"bearer","expires_in":0,"data_access_expiration_time":\#(deadline.seconds)}"#
        )))
    let network = place.network(ScriptedTransport { _, _ in .json("{}", 500) })
    var told: [Timestamp] = []
    for _ in 0..<100 {
      try await session.renewDue(over: network) { renewal in
        if let by = renewal.needsPersonBy { told.append(by) }
      }
      place.clock.advance(day)
    }
    #expect(told == [deadline])
  }
}
