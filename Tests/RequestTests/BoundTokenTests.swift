import AccountVault
import AccountVaultNetwork
import Accounts
import Crypto
import Encoding
import Faults
import Foundation
import HTTP
import HTTPTypes
import Listener
import OAuth
import Sodium
import TestSupport
import Testing
import Time

/// Requests with a token that is bound to a key (RFC 9449), which a real sign-in obtained.
@Suite(.timeLimit(.minutes(2))) struct `A request with a bound token` {
  static let token = "bound-token-canary"

  /// Signs in at the stage, which plays a server of Bluesky's, with a browser that follows every redirect.
  static func signIn(
    _ stage: Stage, _ session: borrowing Session, _ members: String = ""
  ) async throws -> Account {
    _ = try session.addProvider(
      stage.definition("bluesky", #""issuer":null,"sends_issuer":false"# + members))
    _ = try session.addClient(type: "bluesky-here", clientID: "http://localhost", secret: nil)
    stage.on("/par", .json(#"{"request_uri":"urn:here:1","expires_in":60}"#, status: 201))
    let server = stage.server
    stage.on("/authorize") { [weak server] _ in
      let pushed = server?.requests.last { $0.path == "/par" }
      let place = (pushed?.field("redirect_uri") ?? "") + "?code=c"
      return HTTPServer.Response(
        302, headers: [("Location", "\(place)&state=\(pushed?.field("state") ?? "")")])
    }
    stage.on(
      "/token",
      .json(
        #"{"access_token":"\#(token)","token_type":"DPoP","expires_in":1800,"refresh_token":"r","scope":"atproto transition:generic","sub":"did:plc:a"}"#
      ))
    stage.on("/userinfo", .json(#"{"did":"did:plc:a","handle":"lestat.example"}"#))
    // Its waits take real time, and it has no nonce in common with the stage's own.
    let wall = stage.place.clock
    let clock = Clock(now: { wall.now }, sinceBoot: { Clock.system.sinceBoot() })
    let network = Network(
      transport: HTTPClient(version: "0"), signatures: .libcrypto, clock: clock,
      wait: { until in
        let left = UInt64(max(0, until - clock.sinceBoot()))
        do { try await Task.sleep(nanoseconds: left) } catch { return false }
        return true
      }, random: { $0.lowerBound })
    let place = SignInPlace(
      listen: { (registered) throws(VaultError) in
        try .loopback(registered: registered, over: network)
      }, show: { _ in }, open: { address in Task { await follow(address) } })
    var request = SignInRequest(.new(NewAccount(type: "bluesky-here")))
    request.permissions = ["transition:generic"]
    let account = try await session.signIn(request, over: network, at: place).account
    _ = try session.grant(
      Decision(app: "123", permissions: ["transition:generic"], account: account.id.text))
    return account
  }

  private static func follow(_ address: String) async {
    let client = HTTPClient(version: "browser")
    var next: String? = address
    while let url = next {
      let response = try? await client.send(HTTPRequest("GET", url))
      next = response?.header("Location")
    }
  }

  /// The proof of a request, whose signature and form are checked.
  static func proof(
    _ request: HTTPServer.Request
  ) throws -> (proof: JSONWebSignature, key: JSONWebKey) {
    #expect(request.headers.filter { $0.name.lowercased() == "dpop" }.count == 1)
    return try DPoP.verify(try #require(request.header("DPoP"))) { key, signature, message in
      guard let x = key.member("x").flatMap(Base64.decodeURL),
        let y = key.member("y").flatMap(Base64.decodeURL),
        let key = try? P256.VerifyingKey(x: x, y: y)
      else { return false }
      return key.verify(signature, message.span.bytes)
    }
  }

  static func asks(_ nonce: String) -> HTTPServer.Response {
    .json(
      #"{"error":"use_dpop_nonce","message":"m"}"#, status: 401,
      headers: [
        ("WWW-Authenticate", #"DPoP error="use_dpop_nonce", algs="ES256""#), ("DPoP-Nonce", nonce),
      ])
  }

  @Test func `carries a new proof by the key that the token is bound to`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try await Self.signIn(stage, session)
    let (access, credential) = try session.access(
      to: account, clientID: "http://localhost", over: stage.network)
    #expect(credential.tokenType == "dpop" && access.tokenType == "dpop")
    #expect(access.accessToken.shown == Self.token)
    let key = try #require(access.proof?.publicKey.thumbprint)
    stage.on("/api", .json("{}"))
    for _ in 0..<2 {
      let response = try await session.send(
        SignedRequest(.get, stage.url("/api?q=1")), app: "123", over: stage.network)
      #expect(response.error == nil)
    }
    let sent = stage.requests("/api")
    let proofs = try sent.map { try Self.proof($0) }
    #expect(
      sent.map { $0.header("Authorization") } == Array(repeating: "DPoP " + Self.token, count: 2))
    #expect(proofs.map(\.key.thumbprint) == [key, key])
    #expect(Set(proofs.compactMap { $0.proof.claim("jti") }).count == 2)
    let hash = DPoP.hash(of: SecretBytes(copying: Array(Self.token.utf8).span.bytes))
    for (proof, _) in proofs {
      #expect(proof.claim("htm") == "GET" && proof.claim("htu") == stage.url("/api"))
      #expect(proof.claim("ath") == hash && proof.claim("nonce") == nil)
      let time = try #require(proof.number("iat"))
      #expect(abs(time - stage.place.clock.now.seconds) <= 60)
    }
  }

  @Test func `answers a demand for a nonce once, with the nonce and the same body`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try await Self.signIn(stage, session)
    stage.on(
      "/api",
      inTurn: [Self.asks("n-1"), .json("{}", headers: [("DPoP-Nonce", "n-2")]), .json("{}")])
    var request = SignedRequest(.post, stage.url("/api"))
    request.parameters = [.init("text", "a b")]
    for _ in 0..<2 {
      #expect(try await session.send(request, app: "123", over: stage.network).error == nil)
    }
    let sent = stage.requests("/api")
    let proofs = try sent.map { try Self.proof($0).proof }
    // The nonce of a success is used by the next request without being asked for.
    #expect(proofs.map { $0.claim("nonce") } == [nil, "n-1", "n-2"])
    #expect(Set(proofs.compactMap { $0.claim("jti") }).count == 3)
    #expect(sent.map(\.text) == Array(repeating: "text=a%20b", count: 3))
    #expect(sent.allSatisfy { $0.header("Authorization") == "DPoP " + Self.token })
    #expect(stage.requests("/token").count == 1)
    #expect(try session.state(account) == .valid)
  }

  @Test func `is given up where the nonce it was told to use is refused too`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    let account = try await Self.signIn(stage, session)
    stage.on("/api", inTurn: [Self.asks("n-1"), Self.asks("n-2"), .json("{}")])
    let request = SignedRequest(.get, stage.url("/api"))
    let response = try await session.send(request, app: "123", over: stage.network)
    #expect(response.error?.code == .tryAgain && response.errorClass == .transient)
    #expect(
      try stage.requests("/api").map { try Self.proof($0).proof.claim("nonce") } == [nil, "n-1"])
    #expect(stage.requests("/token").count == 1)
    #expect(try session.state(account) == .valid)
    #expect(try session.standing(account, "transition:generic") == .granted)
    #expect(try await session.send(request, app: "123", over: stage.network).error == nil)
    #expect(try Self.proof(#require(stage.requests("/api").last)).proof.claim("nonce") == "n-2")
  }

  @Test(arguments: [
    #","token_scheme":"Bearer""#, #","token_scheme":"Bearer","token_in":"query""#,
  ])
  func `is no bearer's, whatever else the definition says`(_ members: String) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try await Self.signIn(stage, session, members)
    stage.on("/api", .json("{}"))
    _ = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    let sent = try #require(stage.requests("/api").first)
    #expect(sent.header("Authorization") == "DPoP " + Self.token && sent.target == "/api")
    _ = try Self.proof(sent)
    // Of a token that came without its key nothing else is sent either: the server refuses it.
    let bare = try session.addPlayed(
      "bluesky-here", "louis", id: "did:plc:b", token: "keyless",
      response:
        #","token_type":"DPoP","expires_in":1800,"scope":"atproto transition:generic","sub":"did:plc:b""#,
      permissions: ["transition:generic"], app: "456")
    _ = try await session.send(
      SignedRequest(.get, stage.url("/api/2")), app: "456", account: bare.id.text,
      over: stage.network)
    let other = try #require(stage.requests("/api/2").first)
    #expect(other.header("Authorization") == "DPoP keyless" && other.target == "/api/2")
  }

  @Test func `is shown by a dry run without token and proof`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try await Self.signIn(stage, session)
    let count = stage.server.requests.count
    let prepared = try session.prepared(
      SignedRequest(.get, stage.url("/api?q=1")), app: "123", over: stage.network)
    #expect(prepared.method == "GET" && prepared.url == stage.url("/api?q=1"))
    func values(_ name: String) -> [String] {
      prepared.headers.filter { $0.name == name }.map(\.value)
    }
    #expect(values("Authorization") == ["DPoP …"] && values("DPoP") == ["…"])
    // A proof begins with the letters of `{"`.
    #expect(!"\(prepared)".contains(Self.token) && !"\(prepared)".contains("eyJ"))
    #expect(stage.server.requests.count == count)
  }

  @Test func `of OAuth 1.0a is shown by a dry run without token and signature`() throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.addProvider(stage.definition("twitter"))
    _ = try session.addPlayed("twitter-here", token: "7-token-canary", permissions: ["write"])
    var request = SignedRequest(.post, stage.url("/api"))
    request.parameters = [.init("status", "hello")]
    let prepared = try session.prepared(request, app: "123", over: stage.network)
    let value = try #require(prepared.headers.first { $0.name == "Authorization" }?.value)
    #expect(value.hasPrefix("OAuth "))
    var fields: [String: String] = [:]
    for field in value.dropFirst(6).components(separatedBy: ", ") {
      let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
      fields[parts[0]] = parts.count > 1 ? parts[1] : nil
    }
    #expect(fields["oauth_token"] == #""…""# && fields["oauth_signature"] == #""…""#)
    #expect(fields["oauth_consumer_key"] == #""client""#)
    #expect(fields["oauth_signature_method"] == #""HMAC-SHA1""#)
    // What is left of a signature would end in an encoded `=`: HMAC-SHA1 has 20 bytes.
    for secret in ["7-token-canary", "client-secret", "%3D"] {
      #expect(!"\(prepared)".contains(secret), "\(secret)")
    }
    #expect(stage.server.requests.isEmpty)
  }
}
