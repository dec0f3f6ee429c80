import AccountVault
import Accounts
import HTTPTypes
import Ledger
import Testing
import Time

/// Renewals at a server whose token endpoint only its own document names.
@Suite struct DiscoveryTests {
  private static let document = #"""
    {"issuer":"https://auth.example","authorization_endpoint":"https://auth.example/authorize",
     "token_endpoint":"https://auth.example/found/token","response_types_supported":["code"]}
    """#

  private func add(_ session: borrowing Session, _ more: String = "") throws {
    try session.addProvider(
      """
      {"id":"own","name":"Own","protocol":"oauth2","issuer":"https://auth.example",
       "api_hosts":["api.example"],"client_auth":"post",
       "renewal":{"method":"refresh_token","margin_seconds":600,"rotation":"single_use"},
       "permissions":{"profile":{"group":"read","basic":true}}\(more)}
      """)
    _ = try session.addClient(type: "own", clientID: "c1", secret: .text("client-secret"))
  }

  @Test func `the document is asked for once, and the renewals go where it says`() async throws {
    let place = try Place()
    let session = try place.create()
    try add(session)
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, _ in
      switch sent.url {
      case "https://auth.example/.well-known/oauth-authorization-server": .json(Self.document)
      case "https://auth.example/found/token": provider.reply(sent)
      default: .json("{}", 404)
      }
    }
    let network = place.network(transport)
    for generation in 2...3 as ClosedRange<Int64> {
      place.clock.advance(3400)
      let renewal = try await session.renew(account, clientID: "c1", over: network, .due)
      #expect(renewal.outcome == .renewed)
      #expect(renewal.generation == generation)
    }
    #expect(
      transport.requests.map(\.url) == [
        "https://auth.example/.well-known/oauth-authorization-server",
        "https://auth.example/found/token", "https://auth.example/found/token",
      ])
    // The document was asked for with nothing of the account or the client.
    let question = try #require(transport.requests.first)
    #expect(question.method == "GET")
    #expect(question.authorization == nil)
    #expect(question.fields.isEmpty)
    #expect(provider.uses == ["R1": 1, "R2": 1])
    _ = try session.verify()
  }

  @Test func `many renewals use it too`() async throws {
    let place = try Place()
    let session = try place.create()
    try add(session)
    for name in ["lestat", "armand", "louis"] { try session.addAccount(name) }
    let transport = ScriptedTransport { sent, number in
      sent.url.hasSuffix("/found/token")
        ? .json(
          #"{"access_token":"N\#(number)","token_type":"bearer","expires_in":3600,"refresh_token":"M\#(number)"}"#
        ) : .json(Self.document)
    }
    place.clock.advance(3400)
    let summary = try await session.renewDue(over: place.network(transport))
    #expect(summary.renewed == 3)
    #expect(transport.requests.filter { $0.method == "POST" }.count == 3)
  }

  @Test(arguments: [
    ScriptedTransport.Answer.json("{}", 503),
    .json("{}", 429, [("Retry-After", "60")]),
    .broken(.timeout, mayHaveBeenSent: true),
  ])
  func `a document that cannot be had fails the renewal for now, and spends nothing`(
    _ answer: ScriptedTransport.Answer
  ) async throws {
    let place = try Place()
    let session = try place.create()
    try add(session)
    let account = try session.addAccount()
    let provider = RotatingProvider()
    let transport = ScriptedTransport { sent, number in
      if sent.url.hasSuffix("/found/token") { return provider.reply(sent) }
      return number < 2 ? answer : .json(Self.document)
    }
    let network = place.network(transport)
    place.clock.advance(3400)
    let failed = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(failed.outcome == .failed)
    #expect(failed.errorClass == "transient")
    #expect(failed.generation == 1)
    #expect(provider.uses.isEmpty)
    let credential = try session.credential(of: account)
    #expect(credential.mark == .none)
    let entry = try #require(try session.entries(.failed).last)
    #expect(entry.reason?.contains("addresses") == true)
    // The same token is good for the next try, once all waits are over.
    place.clock.advance(120)
    let renewed = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(renewed.outcome == .renewed)
    #expect(provider.uses == ["R1": 1])
    #expect(!provider.isRevoked)
    #expect(try session.entries(.renewed).last?.detail("recovered") == nil)
  }

  @Test func `a document that names a foreign host gets neither token nor secret`() async throws {
    let place = try Place()
    let session = try place.create()
    try add(session)
    let account = try session.addAccount()
    let transport = ScriptedTransport { _, _ in
      .json(Self.document.replacing("auth.example/found", with: "elsewhere.example"))
    }
    let network = place.network(transport)
    place.clock.advance(3400)
    let failed = try await session.renew(account, clientID: "c1", over: network, .due)
    #expect(failed.outcome == .failed)
    #expect(failed.errorClass == "config")
    #expect(failed.reason?.contains("elsewhere.example") == true)
    #expect(!transport.requests.contains { $0.url.contains("elsewhere.example") })
    #expect(try session.credential(of: account).mark == .none)
  }
}
