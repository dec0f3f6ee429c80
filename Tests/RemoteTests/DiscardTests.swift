import AccountVault
import Accounts
import Providers
import Sodium
import TestSupport
import Testing
import Time

@Suite struct `A token of somebody else` {
  private let place: Place

  init() throws { place = try Place() }

  private func discard(
    _ session: borrowing Session, for account: Account, userID: String? = "200"
  ) throws -> RevocationNotice? {
    let token = SharedSecret.text("A200")
    let refresh = SharedSecret.text("R200")
    let secret = CredentialSecret(
      accessToken: token.bytes.copy(), refreshToken: refresh.bytes.copy())
    let credential = Credential(
      clientID: "c1", kind: .oauth2, tokenType: "bearer", generation: 1,
      obtainedAt: place.clock.now, expiry: .at(place.clock.now + 3600), source: .signIn,
      hasRefreshToken: true)
    return try session.discard(secret, credential, for: account, userID: userID)
  }

  private func provider(
    _ session: borrowing Session, _ base: String = "x", more: String = ""
  ) throws -> TestProvider {
    let provider = try TestProvider(base, more: more) { _, _ in .text("") }
    try provider.add(to: session)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text("s1"))
    return provider
  }

  @Test(arguments: ["", #","revocation_reach":"grant""#])
  func `is taken back, and the account's own stays`(more: String) async throws {
    let session = try place.create()
    let provider = try provider(session, more: more)
    let account = try session.account(provider.type, token: "A1")
    #expect(try discard(session, for: account)?.isPending == true)
    let pending = try #require(try session.pendingRevocations().first)
    #expect(pending.cause == .wrongUser && pending.userID == "200")
    #expect(try await session.sendRevocations(over: place.network()).map(\.state) == [.sent])
    #expect(provider.server.requests.map { $0.field("token") }.first == "R200")
    #expect(provider.server.requests.allSatisfy { $0.field("token") != "A1" })
    #expect(try session.state(of: account) == .valid)
    #expect(try session.entries(.revocationSent).first?.detail("cause") == "wrong_user")
  }

  @Test(arguments: ["200", nil])
  func `stays where another account has a credential of the client`(userID: String?) throws {
    let session = try place.create()
    let provider = try provider(session)
    let account = try session.account(provider.type, token: "A1")
    _ = try session.account(provider.type, "armand", id: "200", token: "A2")
    #expect(try discard(session, for: account, userID: userID) == nil)
    #expect(try session.pendingRevocations().isEmpty)
  }

  @Test func `stays where that account came in before the provider could be told`() async throws {
    let session = try place.create()
    let provider = try provider(session)
    let account = try session.account(provider.type, token: "A1")
    #expect(try discard(session, for: account)?.isPending == true)
    let other = try session.account(provider.type, "armand", id: "200", token: "A2")
    let outcomes = try await session.sendRevocations(over: place.network())
    #expect(outcomes.map(\.state) == [.superseded])
    #expect(provider.server.requests.isEmpty)
    #expect(try session.state(of: other) == .valid)
  }

  @Test(arguments: ["facebook", "weibo", "github"])
  func `stays where the provider takes back the whole app`(base: String) throws {
    let session = try place.create()
    let provider = try provider(session, base)
    let account = try session.account(provider.type, token: "A1")
    #expect(try discard(session, for: account) == nil)
    #expect(try session.pendingRevocations().isEmpty)
  }
}
