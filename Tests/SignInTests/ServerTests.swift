import AccountVault
import Faults
import Foundation
import Listener
import OAuth
import TestSupport
import Testing

/// The claims of a compact JWS, unproven.
private func claims(_ jws: String?) throws -> [String: Any] {
  var part = try #require(jws).split(separator: ".")[1].replacing("-", with: "+")
    .replacing("_", with: "/")
  while part.count % 4 != 0 { part += "=" }
  let data = try #require(Data(base64Encoded: String(part)))
  return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
}

@Suite struct `A server that is told about by itself` {
  let place: Place

  init() throws { place = try Place() }

  private func request(_ type: String, _ permissions: [String] = []) -> SignInRequest {
    var request = SignInRequest(.new(NewAccount(type: type)))
    request.permissions = permissions
    return request
  }

  @Test func `gets the whole request pushed, and tokens bound to a key of their own`()
    async throws
  {
    let provider = try ScriptedProvider("bluesky")
    let session = try place.create()
    try session.add(
      provider, #","issuer":"\#(provider.server.url)""#, client: "http://localhost", secret: nil)
    let issuer = provider.server.url
    provider.on("par") { request, number in
      number == 0
        ? .json(
          #"{"error":"use_dpop_nonce"}"#, status: 400, headers: [("DPoP-Nonce", "n-1")])
        : .json(
          #"{"request_uri":"urn:ietf:params:oauth:request_uri:made-up","expires_in":60}"#,
          status: 201, headers: [("DPoP-Nonce", "n-2")])
    }
    provider.on("authorize") { [provider] _, _ in
      let pushed = provider.requests("par").last
      return .redirect(
        (pushed?.field("redirect_uri") ?? "") + "?code=c&state=\(pushed?.field("state") ?? "")"
          + "&iss=\(issuer)")
    }
    provider.on("token") { _, number in
      number == 0
        ? .json(#"{"error":"use_dpop_nonce"}"#, status: 400, headers: [("DPoP-Nonce", "n-3")])
        : .json(
          #"{"access_token":"at","token_type":"DPoP","expires_in":1800,"refresh_token":"r2","scope":"atproto transition:generic","sub":"did:plc:madeup"}"#,
          headers: [("DPoP-Nonce", "n-4")])
    }
    provider.on("userinfo", .json(#"{"did":"did:plc:madeup","handle":"lestat.example"}"#))
    let person = Person()
    let outcome = try await session.signIn(
      request(provider.id, ["transition:generic"]), over: .test(place.wall), at: person.place())
    #expect(outcome.account.userID == "did:plc:madeup")
    #expect(outcome.account.username == "lestat.example")
    // Nothing but the client and the pushed name is in the address.
    let page = try #require(provider.requests("authorize").first)
    #expect(page.queryFields.map(\.name) == ["client_id", "request_uri"])
    let pushed = try #require(provider.requests("par").last)
    for name in ["code_challenge", "state", "redirect_uri", "scope", "response_type", "client_id"] {
      #expect(pushed.field(name) != nil, "\(name)")
    }
    // Each proof is new, names its address, and carries the last nonce of the server.
    let proofs = try (provider.requests("par") + provider.requests("token")).map {
      try claims($0.header("DPoP"))
    }
    #expect(proofs.map { $0["nonce"] as? String } == [nil, "n-1", "n-2", "n-3"])
    #expect(Set(proofs.compactMap { $0["jti"] as? String }).count == 4)
    #expect(proofs.last?["htu"] as? String == issuer + "/token")
    let use = try #require(provider.requests("userinfo").first)
    #expect(use.header("Authorization") == "DPoP at")
    #expect(try claims(use.header("DPoP"))["ath"] as? String != nil)
    // The key was kept with the token: a request of the vault is proven by the same.
    let (access, credential) = try session.access(
      to: outcome.account, clientID: "http://localhost", over: .test(place.wall))
    #expect(credential.tokenType == "dpop")
    let key = try #require(access.proof)
    let header = try #require(use.header("DPoP")?.split(separator: ".").first)
    var text = header.replacing("-", with: "+").replacing("_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    let json = String(decoding: try #require(Data(base64Encoded: String(text))), as: UTF8.self)
    #expect(json.contains(try #require(key.publicKey.member("x"))))
  }

  @Test func `is refused where it gives a bearer token for a bound one`() async throws {
    let provider = try ScriptedProvider("bluesky")
    let session = try place.create()
    try session.add(
      provider, without: ["par"], #","issuer":null,"sends_issuer":false"#,
      client: "http://localhost",
      secret: nil)
    provider.consents()
    provider.on(
      "token",
      .json(
        #"{"access_token":"at","token_type":"Bearer","scope":"atproto","sub":"did:plc:madeup"}"#))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(
        request(provider.id), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .config)
    #expect(provider.requests("authorize").first?.queryField("dpop_jkt")?.utf8.count == 43)
    #expect(provider.requests("userinfo").isEmpty)
  }

  private func own(_ server: ScriptedServer, _ more: String = "") -> String {
    """
    {"id":"own","protocol":"oauth2","issuer":"\(server.url)","api_hosts":["127.0.0.1"],\
    "response":{"user_id":["user_id"]},"permissions":{"profile":{"group":"read","basic":true}}\(more)}
    """
  }

  private func metadata(_ url: String, token: String? = nil, more: String = "") -> String {
    #"{"issuer":"\#(url)","authorization_endpoint":"\#(url)/a","token_endpoint":"\#(token ?? url + "/t")","authorization_response_iss_parameter_supported":true\#(more)}"#
  }

  @Test func `tells its addresses, in either of two places, once a run`() async throws {
    for place8414 in [true, false] {
      let place = try Place()
      let session = try place.create()
      let server = try ScriptedServer { request, _ in
        let url = "http://" + (request.header("Host") ?? "")
        switch request.path {
        case "/.well-known/oauth-authorization-server" where place8414,
          "/.well-known/openid-configuration" where !place8414:
          return .json(self.metadata(url))
        case "/a":
          return .redirect(
            (request.queryField("redirect_uri") ?? "")
              + "?code=c&state=\(request.queryField("state") ?? "")&iss=\(url)")
        case "/t":
          return .json(#"{"access_token":"at","token_type":"bearer","user_id":"1"}"#)
        default: return .text("", status: 404)
        }
      }
      try session.addProvider(own(server))
      _ = try session.addClient(type: "own", clientID: "c", secret: .text("s"))
      let network = Network.test(place.wall)
      for generation: Int64 in 1...2 {
        let outcome = try await session.signIn(
          request("own"), over: network, at: Person().place())
        #expect(outcome.generation == generation)
      }
      let asked = server.requests.filter { $0.path.hasPrefix("/.well-known/") }.count
      #expect(asked == (place8414 ? 1 : 2))
    }
  }

  @Test func `is not believed where it names itself otherwise, or another host`() async throws {
    let session = try place.create()
    let other = try ScriptedServer { _, _ in .json("{}") }
    for (document, word) in [
      (metadata("https://evil.example"), "another issuer"), ("{}", "issuer"), ("<html>", "JSON"),
    ] {
      let server = try ScriptedServer { _, _ in .json(document) }
      try session.addProvider(own(server))
      if try session.clients().isEmpty {
        _ = try session.addClient(type: "own", clientID: "c", secret: .text("s"))
      }
      let error = await refusal { () async throws(VaultError) in
        try await session.signIn(request("own"), over: .test(place.wall), at: Person().place())
      }
      #expect(error.code == .config)
      #expect(error.message.contains(word), "\(error)")
    }
    // The host is named nowhere: neither by the issuer nor by the definition.
    let elsewhere = other.url
    let server = try ScriptedServer { request, _ in
      .json(self.metadata("http://" + (request.header("Host") ?? ""), token: elsewhere + "/t"))
    }
    try session.addProvider(
      own(server).replacing(#"["127.0.0.1"]"#, with: #"["api.example"]"#))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(request("own"), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .config)
    #expect(error.message.contains("names the host"))
    #expect(other.requests.isEmpty)
  }

  @Test func `follows no redirect to its document`() async throws {
    let session = try place.create()
    let other = try ScriptedServer { _, _ in .json("{}") }
    let elsewhere = other.url
    let server = try ScriptedServer { _, _ in .redirect(elsewhere + "/") }
    try session.addProvider(own(server))
    _ = try session.addClient(type: "own", clientID: "c", secret: .text("s"))
    let error = await refusal { () async throws(VaultError) in
      try await session.signIn(request("own"), over: .test(place.wall), at: Person().place())
    }
    #expect(error.code == .config)
    #expect(other.requests.isEmpty)
  }

  @Test func `gives a client to a vault that has none, where the owner says yes`() async throws {
    let provider = try ScriptedProvider("mastodon")
    let session = try place.create()
    try session.addProvider(
      try provider.definition(#","variables":{"server":"127.0.0.1"}"#))
    provider.on(
      "register",
      .json(#"{"client_id":"TWhM","client_secret":"ZEk","client_secret_expires_at":0}"#))
    provider.consents()
    provider.on(
      "token",
      .json(
        #"{"access_token":"at","token_type":"Bearer","scope":"read:accounts","created_at":1755000000}"#
      ))
    provider.on("userinfo", .json(#"{"id":"1","acct":"lestat","username":"lestat"}"#))
    for registers in [nil, false] as [Bool?] {
      let error = await refusal { () async throws(VaultError) in
        try await session.signIn(
          request(provider.id), over: .test(place.wall), at: Person().place(registers: registers))
      }
      #expect(error.code == .notFound)
      #expect(error.hint?.contains("--register") == true)
    }
    #expect(provider.server.requests.isEmpty)
    let outcome = try await session.signIn(
      request(provider.id), over: .test(place.wall), at: Person().place(registers: true))
    #expect(outcome.clientID == "TWhM")
    #expect(outcome.account.username == "lestat")
    let registered = try #require(provider.requests("register").first)
    #expect(registered.field("redirect_uris") == "http://127.0.0.1/\nurn:ietf:wg:oauth:2.0:oob")
    #expect(registered.field("scopes") == "read push write follow")
    #expect(provider.requests("authorize").first?.queryField("scope") == "read:accounts")
    #expect(provider.requests("token").first?.field("client_secret") == "ZEk")
    #expect(try session.entries(.clientAdded).count == 1)
    #expect(try session.credential(of: outcome.account)?.expiry == .never)
    // The second time it is there.
    _ = try await session.signIn(
      request(provider.id), over: .test(place.wall), at: Person().place())
    #expect(provider.requests("register").count == 1)
    // Its page can show the code as well.
    var typed = request(provider.id)
    typed.way = .pin
    let pin = typed
    _ = try await session.signIn(
      pin, over: .test(place.wall), at: Person().place(pin: "typed-code"))
    let exchange = try #require(provider.requests("token").last)
    #expect(exchange.field("code") == "typed-code")
    #expect(exchange.field("redirect_uri") == "urn:ietf:wg:oauth:2.0:oob")
  }

  @Test func `knows its client by a signed statement`() async throws {
    let provider = try ScriptedProvider("x")
    let session = try place.create()
    let path = place.directory("key.pem")
    try run(
      "/usr/bin/openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
      "-out", path)
    let pem = try String(contentsOfFile: path, encoding: .utf8)
    try session.add(provider, #","client_auth":"private_key_jwt""#, secret: pem)
    provider.consents()
    provider.on("token") { _, number in
      number == 0
        ? .json(#"{"error":"server_error"}"#, status: 503)
        : .json(#"{"access_token":"at","token_type":"bearer","user_id":"9"}"#)
    }
    provider.on("userinfo", .json(#"{"data":{"id":"9","username":"lestat"}}"#))
    _ = await refusal { () async throws(VaultError) in
      try await session.signIn(
        request(provider.id), over: .test(place.wall), at: Person().place())
    }
    _ = try await session.signIn(
      request(provider.id), over: .test(place.wall), at: Person().place())
    let statements = try provider.requests("token").map { request in
      #expect(request.header("Authorization") == nil)
      #expect(request.field("client_secret") == nil)
      return try claims(request.field("client_assertion"))
    }
    #expect(
      statements.map { $0["aud"] as? String }.allSatisfy { $0 == provider.server.url + "/token" })
    #expect(Set(statements.compactMap { $0["jti"] as? String }).count == 2)
  }

  @Test func `gets no proof key and no scope name that its definition does not know`() async throws
  {
    for (base, challenge, scope) in [
      ("facebook", nil, "scope"), ("slack", "S256", "user_scope"), ("reddit", "S256", "scope"),
    ] as [(String, String?, String)] {
      let place = try Place()
      let provider = try ScriptedProvider(base)
      let session = try place.create()
      try session.add(provider)
      provider.consents()
      provider.on("token", .json(#"{"error":"invalid_grant"}"#))
      _ = await refusal { () async throws(VaultError) in
        try await session.signIn(
          request(provider.id), over: .test(place.wall), at: Person().place())
      }
      let page = try #require(provider.requests("authorize").first)
      if provider.base != "reddit" {
        #expect(page.queryField("code_challenge_method") == challenge, "\(base)")
      }
      #expect(page.queryField(scope) != nil, "\(base)")
    }
  }

  @Test func `gives its long-lived token at once, or keeps the short-lived one good`() async throws
  {
    for (second, end) in [
      (#"{"access_token":"long","token_type":"bearer","expires_in":5183944}"#, 1_805_183_944),
      (#"{"error":{"message":"m","code":1}}"#, 1_800_005_108),
    ] as [(String, Int64)] {
      let place = try Place()
      let provider = try ScriptedProvider("facebook")
      let session = try place.create()
      try session.add(provider)
      provider.consents()
      provider.on("token") { _, number in
        number == 0
          ? .json(#"{"access_token":"short","token_type":"bearer","expires_in":5108}"#)
          : .json(second)
      }
      provider.on("userinfo", .json(#"{"id":"100","name":"Lestat"}"#))
      provider.on(
        "permissions", .json(#"{"data":[{"permission":"email","status":"granted"}]}"#))
      let outcome = try await session.signIn(
        request(provider.id), over: .test(place.wall), at: Person().place())
      let exchange = try #require(provider.requests("token").last)
      #expect(exchange.field("grant_type") == "fb_exchange_token")
      #expect(exchange.field("fb_exchange_token") == "short")
      let credential = try #require(try session.credential(of: outcome.account))
      #expect(credential.expiry == .at(Timestamp(seconds: end)))
    }
  }
}
