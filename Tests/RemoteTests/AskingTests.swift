import AccountVault
import Accounts
import HTTPTypes
import Listener
import Providers
import TestSupport
import Testing

@Suite struct `A question about a token` {
  /// Facebook's addresses on this machine, where `email` is granted and `user_photos` declined.
  private func provider() throws -> TestProvider {
    try TestProvider("facebook") { request, _ in
      switch request.path {
      case "/me": .json(#"{"id":"100","name":"Lestat"}"#)
      case "/permissions":
        .json(
          #"{"data":[{"permission":"email","status":"granted"},{"permission":"user_photos","status":"declined"}]}"#
        )
      default: .text("", status: 404)
      }
    }
  }

  private func account(_ session: borrowing Session, _ provider: TestProvider) throws -> Account {
    try provider.add(to: session)
    let account = try session.account(provider.type, token: "EAA1")
    try session.grants("123", "email", "user_photos", on: account)
    return account
  }

  @Test func `is sent with the token, and says whose it is and what was granted`() async throws {
    let provider = try provider()
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let (access, _) = try session.access(to: account, clientID: "", over: place.network())
    let definition = try session.provider(provider.type)
    #expect(try await place.network().identity(of: access, definition).userID == "100")
    let granted = try #require(try await place.network().granted(to: access, definition))
    #expect(granted.granted == ["email"] && granted.declined == ["user_photos"])
    let requests = provider.server.requests
    #expect(requests.map(\.path) == ["/me", "/permissions"])
    #expect(requests.allSatisfy { $0.header("Authorization") == "Bearer EAA1" })
  }

  @Test func `asked anew takes back what is gone at the provider`() async throws {
    let provider = try provider()
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let taken = try await session.reread(account, clientID: "", over: place.network())
    #expect(taken?.effect == .narrowed)
    #expect(
      try session.states("123", on: account) == ["email": .granted, "user_photos": .revoked])
  }

  @Test func `settles a refusal for a permission by what is granted now`() async throws {
    let provider = try provider()
    let place = try Place()
    let session = try place.create()
    let account = try account(session, provider)
    let (access, credential) = try session.access(
      to: account, clientID: "", over: place.network())
    let refusal = facebookError(200, status: 403)
    let taken = try await session.settle(
      try session.meaning(refusal, of: provider.type), body: refusal, for: account, by: access,
      generation: credential.generation, permissions: ["user_photos"], over: place.network())
    #expect(taken.effect == .narrowed)
    #expect(provider.server.requests.map(\.path) == ["/permissions"])
    #expect(try session.states("123", on: account)["email"] == .granted)
  }
}
