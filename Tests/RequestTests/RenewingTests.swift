import AccountVault
import Accounts
import Faults
import Foundation
import Ledger
import Listener
import Providers
import Testing
import Time

/// What a request does about a credential that has ended.
@Suite struct `A request whose token ended` {
  static let renewed = HTTPServer.Response.json(
    #"{"access_token":"at-second","token_type":"bearer","expires_in":7200,"refresh_token":"rt2"}"#)
  static let ended = HTTPServer.Response.json(
    #"{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}"#,
    status: 401)

  @Test func `by its date is renewed before it is sent`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/token", Self.renewed)
    stage.on("/api", .json("{}"))
    stage.place.clock.advance(7300)
    let response = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", permissions: ["tweet.read"],
      over: stage.network)
    #expect(response.error == nil)
    #expect(stage.requests("/token").count == 1)
    #expect(stage.requests("/api").map { $0.header("Authorization") } == ["Bearer at-second"])
    #expect(try session.state(account) == .valid)
    #expect(try session.entries(.useRefused).isEmpty)
  }

  @Test func `by the provider's word is renewed once and sent once more`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/token", Self.renewed)
    stage.on("/api", inTurn: [Self.ended, .json(#"{"data":1}"#)])
    var request = SignedRequest(.post, stage.url("/api"))
    request.parameters = [.init("status", "twice the same")]
    let response = try await session.send(request, app: "123", over: stage.network)
    #expect(response.error == nil && response.body == Array(#"{"data":1}"#.utf8))
    let sent = stage.requests("/api")
    #expect(
      sent.map { $0.header("Authorization") } == ["Bearer token-at-first", "Bearer at-second"])
    #expect(sent.map(\.text) == ["status=twice%20the%20same", "status=twice%20the%20same"])
    #expect(stage.requests("/token").count == 1)
    #expect(try session.standing(of: account).credentials.first?.credential.generation == 2)
    #expect(try session.entries(.renewed).count == 1)
  }

  @Test func `again after the renewal is given up`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/token", Self.renewed)
    stage.on("/api", Self.ended)
    let response = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    #expect(response.error?.code == .tryAgain && response.status == 401)
    #expect(response.error?.message.contains("the renewed token as well") == true)
    #expect(stage.requests("/api").count == 2 && stage.requests("/token").count == 1)
    // Nothing unknown ever rejects by itself.
    #expect(try session.state(account) == .valid)
  }

  @Test func `and cannot be renewed needs a person`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/token", .json(#"{"error":"invalid_grant"}"#, status: 400))
    stage.on("/api", Self.ended)
    let response = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    #expect(response.error?.code == .signIn && response.status == 401)
    #expect(try session.state(account) == .rejected)
    #expect(try session.standing(account, "tweet.read") == .granted)
    let again = await refusal {
      try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    }
    #expect(again.code == .signIn && stage.requests("/api").count == 1)
  }

  @Test func `B46 an answer to an old token says nothing of the new one`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try session.playX(stage)
    for code in [401, 400] {
      // While the first token is refused, somebody stores the next.
      let number = code == 401 ? 2 : 3
      let place = stage.place
      let type = account.type
      stage.on("/api") { request in
        guard request.header("Authorization") != "Bearer fresh-\(number)" else {
          return .json("{}")
        }
        do {
          let other = try place.open()
          _ = try other.addAccount(
            NewAccount(type: type, username: "lestat", userID: "7"),
            credential: .response(
              .text(#"{"access_token":"fresh-\#(number)","expires_in":7200,"refresh_token":"r"}"#)))
        } catch {
          return .text("\(error)", status: 500)
        }
        return code == 401
          ? Self.ended : .json(#"{"errors":[{"code":89,"message":"m"}]}"#, status: 400)
      }
      let response = try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
      #expect(response.error == nil, "\(response.status)")
      #expect(
        try session.standing(of: account).credentials.first?.credential.generation
          == Int64(number))
      #expect(try session.state(account) == .valid)
    }
    #expect(stage.requests("/token").isEmpty)
  }

  @Test func `B31 is Facebook's whatever the status and the language`() async throws {
    for status in [400, 401, 200] {
      for message in ["Session has expired", "会话已过期"] {
        for (subcode, expected) in [("463", VaultError.Code.signIn), ("467", .signIn)] {
          let stage = try Stage()
          let session = try stage.place.create()
          _ = try session.addProvider(stage.definition("facebook"))
          let account = try session.addPlayed(
            "facebook-here", response: #","expires_in":5184000"#, permissions: ["email"])
          let body =
            #"{"error":{"message":"\#(message)","type":"OAuthException","code":190,"error_subcode":\#(subcode)}}"#
          stage.on("/api", .json(body, status: status))
          // Only what is a day old can be exchanged.
          stage.place.clock.advance(2 * 86_400)
          // After its end nothing can be exchanged.
          stage.on("/token", .json(body, status: 400))
          let response = try await session.send(
            SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
          #expect(response.error?.code == expected, "\(subcode), \(status), \(message)")
          #expect(stage.requests("/token").count == (subcode == "463" ? 1 : 0))
          #expect(try session.state(account) == .rejected)
          #expect(try session.standing(account, "email") == .granted)
        }
      }
    }
  }
}
