import AccountVault
import Faults
import Listener
import TestSupport
import Testing

@Suite struct `A token of an app's own by Reverse Auth` {
  let place: Place
  let provider: ScriptedProvider
  static let answer =
    #"OAuth oauth_nonce="n", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1322697053", oauth_consumer_key="own", oauth_token="t", oauth_signature="s%3D", oauth_version="1.0""#

  init() throws {
    place = try Place()
    provider = try ScriptedProvider("twitter")
    provider.on("request_token", .text(Self.answer))
    provider.on(
      "reverse_auth", .form("oauth_token=7-own&oauth_token_secret=os&user_id=7&screen_name=made_up")
    )
  }

  private func account(_ session: borrowing Session, grants: Bool = true) throws -> Account {
    try session.add(provider)
    _ = try session.addClient(type: provider.id, clientID: "own", secret: .text("own-secret"))
    _ = try session.addApp("bot", name: "Bot", clients: ["twitter-test:own"])
    let account = try session.addAccount(
      NewAccount(type: provider.id),
      credential: .response(
        .text("oauth_token=7-at&oauth_token_secret=as&user_id=7&screen_name=made_up")))
    if grants {
      _ = try session.grant(
        Decision(app: "bot", permissions: ["read"], account: account.id.text))
    }
    return account
  }

  @Test func `is signed by the app first and by the account then, byte for byte`() async throws {
    let session = try place.create()
    let account = try account(session)
    let token = try await session.reverseAuthorization(
      app: "bot", account: account.id.text, over: .test(place.wall))
    let (client, hasSecret) = (token.clientID, token.hasTokenSecret)
    #expect(client == "own")
    #expect(hasSecret)
    let first = try #require(provider.requests("request_token").first)
    #expect(first.field("x_auth_mode") == "reverse_auth")
    #expect(first.header("Authorization")?.contains("oauth_consumer_key=\"own\"") == true)
    #expect(first.header("Authorization")?.contains("oauth_token=") == false)
    let second = try #require(provider.requests("reverse_auth").first)
    #expect(second.field("x_reverse_auth_target") == "own")
    #expect(second.field("x_reverse_auth_parameters") == Self.answer)
    #expect(second.header("Authorization")?.contains("oauth_consumer_key=\"client-1\"") == true)
    #expect(second.header("Authorization")?.contains("oauth_token=\"7-at\"") == true)
    #expect(try session.entries(.tokenUsed).last?.reason == "reverse authorization")
  }

  @Test func `takes the first step from an app that keeps its secret`() async throws {
    let session = try place.create()
    let account = try account(session)
    _ = try await session.reverseAuthorization(
      app: "bot", account: account.id.text,
      .prepared(clientID: "elsewhere", .text(Self.answer)), over: .test(place.wall))
    #expect(provider.requests("request_token").isEmpty)
    #expect(provider.requests("reverse_auth").first?.field("x_reverse_auth_target") == "elsewhere")
  }

  @Test func `is refused, and nothing is sent, where the app was granted nothing`() async throws {
    let session = try place.create()
    let account = try account(session, grants: false)
    var found: VaultError?
    do throws(VaultError) {
      _ = try await session.reverseAuthorization(
        app: "bot", account: account.id.text, over: .test(place.wall))
    } catch {
      found = error
    }
    #expect(found?.code == .neverAsked)
    #expect(provider.server.requests.isEmpty)
    #expect(try session.entries(.useRefused).count == 1)
  }

  @Test func `is nobody else's token`() async throws {
    let session = try place.create()
    let account = try account(session)
    provider.on("reverse_auth", .form("oauth_token=8&oauth_token_secret=os&user_id=8"))
    var found: VaultError?
    do throws(VaultError) {
      _ = try await session.reverseAuthorization(
        app: "bot", account: account.id.text, over: .test(place.wall))
    } catch {
      found = error
    }
    #expect(found?.code == .wrongUser)
  }
}
