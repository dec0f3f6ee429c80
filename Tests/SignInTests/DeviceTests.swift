import AccountVault
import Faults
import Listener
import Providers
import TestSupport
import Testing

@Suite struct `A sign-in with a code on another device` {
  let place: Place

  init() throws { place = try Place() }

  private func request(_ type: String, _ permissions: [String] = []) -> SignInRequest {
    var request = SignInRequest(.new(NewAccount(type: type, username: "lestat")))
    request.permissions = permissions
    request.way = .device
    return request
  }

  private func begins(_ provider: ScriptedProvider, address: String = "verification_uri") {
    provider.on(
      "device",
      .json(
        #"{"device_code":"dc-1","user_code":"WDJB-MJHT","\#(address)":"https://example.com/device","expires_in":900,"interval":5}"#
      ))
  }

  @Test(arguments: [
    // RFC 8628 as Microsoft, Google and GitHub speak it.
    ("microsoft", "verification_uri", 400, "openid"), ("google", "verification_url", 428, "email"),
    ("github", "verification_uri", 200, "read:user"),
  ])
  func `asks at its interval, more slowly where it is told to, until the person says yes`(
    _ base: String, _ address: String, _ pending: Int, _ permission: String
  ) async throws {
    let provider = try ScriptedProvider(base)
    let session = try place.create()
    try session.add(provider)
    begins(provider, address: address)
    provider.on("token") { _, number in
      switch number {
      case 0, 1: .json(#"{"error":"authorization_pending"}"#, status: pending)
      case 2: .json(#"{"error":"slow_down"}"#, status: pending == 428 ? 403 : pending)
      case 3: .json(#"{"error":"authorization_pending"}"#, status: pending)
      default:
        .json(#"{"access_token":"at","token_type":"Bearer","scope":"\#(permission)"}"#)
      }
    }
    provider.on("userinfo", .json(#"{"id":"7","sub":"7"}"#))
    let person = Person()
    let outcome = try await session.signIn(
      request(provider.id, [permission]), over: .test(place.wall, jumps: true),
      at: person.place(listens: false))
    #expect(outcome.account.userID == "7")
    // 5, 5, 5, then ten each.
    #expect(place.wall.waited == 35)
    let prompt = try #require(person.prompts.first)
    #expect(prompt.way == .device)
    #expect(prompt.userCode == "WDJB-MJHT")
    #expect(prompt.address == "https://example.com/device")
    let begun = try #require(provider.requests("device").first)
    #expect(begun.field("client_id") == "client-1")
    #expect(begun.field("scope")?.contains(permission) == true)
    for poll in provider.requests("token") {
      #expect(poll.field("grant_type") == "urn:ietf:params:oauth:grant-type:device_code")
      #expect(poll.field("device_code") == "dc-1")
    }
    #expect(try session.credential(of: outcome.account)?.source == .signIn)
  }

  @Test func `knows Facebook's own form`() async throws {
    let provider = try ScriptedProvider("facebook")
    let session = try place.create()
    try session.add(provider, client: "2000", secret: "client-token")
    provider.on(
      "device",
      .json(
        #"{"code":"dc","user_code":"A1NWZ9","verification_uri":"https://www.facebook.com/device","expires_in":420,"interval":5}"#
      ))
    provider.on("device_status") { _, number in
      switch number {
      case 0:
        .json(
          #"{"error":{"message":"m","code":31,"error_subcode":1349174}}"#, status: 400)
      case 1:
        .json(
          #"{"error":{"message":"m","code":31,"error_subcode":1349172}}"#, status: 400)
      default:
        .json(
          #"{"access_token":"EAA","data_access_expiration_time":1807776000,"expires_in":5183996}"#)
      }
    }
    provider.on("userinfo", .json(#"{"id":"100","name":"Lestat"}"#))
    provider.on(
      "permissions",
      .json(
        #"{"data":[{"permission":"email","status":"granted"},{"permission":"user_photos","status":"declined"}]}"#
      ))
    let outcome = try await session.signIn(
      request(provider.id, ["email", "user_photos"]), over: .test(place.wall, jumps: true),
      at: Person().place(listens: false))
    #expect(outcome.granted == ["email"])
    #expect(outcome.declined == ["user_photos"])
    #expect(place.wall.waited == 20)
    #expect(provider.requests("device").first?.field("access_token") == "2000|client-token")
    #expect(provider.requests("device").first?.field("scope") == "email,user_photos")
    #expect(provider.requests("device_status").last?.field("code") == "dc")
    let credential = try #require(try session.credential(of: outcome.account))
    #expect(credential.dataAccessUntil == Timestamp(seconds: 1_807_776_000))
  }

  @Test(arguments: [
    (#"{"error":"access_denied"}"#, VaultError.Code.denied),
    (#"{"error":"authorization_declined"}"#, .denied), (#"{"error":"expired_token"}"#, .signIn),
    (#"{"error":"bad_verification_code"}"#, .signIn), (#"{"error":"invalid_client"}"#, .config),
  ])
  func `ends where the provider ends it, and nothing is written`(
    _ body: String, _ code: VaultError.Code
  ) async throws {
    let provider = try ScriptedProvider("microsoft")
    let session = try place.create()
    try session.add(provider)
    let before = try place.bytes()
    begins(provider)
    provider.on("token", .json(body, status: 400))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        request(provider.id), over: .test(place.wall, jumps: true), at: Person().place())
    }
    #expect(error.code == code, "\(error)")
    #expect(provider.requests("token").count == 1)
    #expect(try place.bytes() == before)
  }

  @Test func `stops when its time is over, and doubles the interval where no answer comes`()
    async throws
  {
    let provider = try ScriptedProvider("microsoft")
    let session = try place.create()
    try session.add(provider)
    begins(provider)
    provider.on("token", .drop)
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        request(provider.id), over: .test(place.wall, jumps: true), at: Person().place())
    }
    #expect(error.code == .tryAgain)
    // 5 + 10 + 20 + 40 + 80 = 155; the next would be past the 300 seconds of a sign-in.
    #expect(provider.requests("token").count == 5)
    // The answers that did not come took some of the time.
    #expect((240...301).contains(place.wall.waited))
  }

  @Test func `is refused where the provider has none`() async throws {
    let provider = try ScriptedProvider("x")
    let session = try place.create()
    try session.add(provider)
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        request(provider.id), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .usage)
    #expect(error.message.contains("no device sign-in"))
  }
}
