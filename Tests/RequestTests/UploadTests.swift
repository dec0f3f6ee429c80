import AccountVault
import Faults
import Foundation
import Listener
import Synchronization
import Testing
import Time

/// Gives bytes once, in pieces.
final class OneReading: RequestBodyReader {
  private let rest: Mutex<ArraySlice<UInt8>>
  let bytes: [UInt8]

  init(_ count: Int) {
    bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 / 997) }
    rest = Mutex(bytes[...])
  }

  init(_ text: String) {
    bytes = Array(text.utf8)
    rest = Mutex(bytes[...])
  }

  var isUnread: Bool { rest.withLock { $0.count == bytes.count } }

  func onReadable(_ wake: @escaping @Sendable () -> Void) {}

  func read(_ limit: Int, _ body: (RawSpan) -> Void) -> RequestBodyStep {
    let piece = rest.withLock { rest in
      let piece = Array(rest.prefix(min(limit, 5003)))
      rest = rest.dropFirst(piece.count)
      return piece
    }
    if piece.isEmpty { return .end }
    body(piece.span.bytes)
    return .bytes(piece.count)
  }
}

@Suite(.timeLimit(.minutes(3)), .serialized)
struct `A body that is read while it is sent` {
  private static var large: HTTPServer.Limits {
    var limits = HTTPServer.Limits()
    limits.body = 8 << 20
    return limits
  }

  private func upload(
    _ stage: Stage, _ reader: OneReading, isKnown: Bool, type: String? = "application/octet-stream"
  ) -> SignedRequest {
    var request = SignedRequest(.post, stage.url("/api"))
    request.upload = SignedRequest.Upload(
      reader, length: isKnown ? Int64(reader.bytes.count) : nil, contentType: type)
    return request
  }

  @Test(arguments: [0, 1, 200_000, 1 << 20, (1 << 20) + 1, 1_200_000], [true, false])
  func `arrives whole and authorized`(_ count: Int, _ isKnown: Bool) async throws {
    let stage = try Stage(limits: Self.large)
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/api", .json("{}"))
    let reader = OneReading(count)
    let response = try await session.send(
      upload(stage, reader, isKnown: isKnown), app: "123", over: stage.network)
    #expect(response.error == nil)
    let sent = try #require(stage.requests("/api").first)
    #expect(sent.body == reader.bytes)
    #expect(sent.header("Authorization") == "Bearer token-at-first")
    #expect(sent.header("Content-Type") == "application/octet-stream")
  }

  @Test(arguments: [true, false])
  func `of up to 1 MiB is sent again after a renewal`(_ isKnown: Bool) async throws {
    let stage = try Stage(limits: Self.large)
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/token", `A request whose token ended`.renewed)
    stage.on("/api", inTurn: [`A request whose token ended`.ended, .json("{}")])
    let reader = OneReading(1 << 20)
    let response = try await session.send(
      upload(stage, reader, isKnown: isKnown), app: "123", over: stage.network)
    #expect(response.error == nil)
    let sent = stage.requests("/api")
    #expect(sent.map(\.body) == [reader.bytes, reader.bytes])
    #expect(
      sent.map { $0.header("Authorization") } == ["Bearer token-at-first", "Bearer at-second"])
  }

  @Test(arguments: [true, false])
  func `and is longer is sent once, and its token renewed`(_ isKnown: Bool) async throws {
    let stage = try Stage(limits: Self.large)
    let session = try stage.place.create()
    let account = try session.playX(stage)
    stage.on("/token", `A request whose token ended`.renewed)
    stage.on("/api", inTurn: [`A request whose token ended`.ended, .json("{}")])
    let first = OneReading((1 << 20) + 1)
    let error = await refusal {
      try await session.send(
        upload(stage, first, isKnown: isKnown), app: "123", over: stage.network)
    }
    #expect(error.code == .tryAgain && error.reason == .bodySpent)
    #expect(error.hint == "send the request again")
    #expect(stage.requests("/api").count == 1 && stage.requests("/token").count == 1)
    #expect(try session.state(account) == .valid)
    let second = OneReading((1 << 20) + 1)
    let response = try await session.send(
      upload(stage, second, isKnown: isKnown), app: "123", over: stage.network)
    #expect(response.error == nil)
    #expect(stage.requests("/api").last?.header("Authorization") == "Bearer at-second")
    #expect(stage.requests("/api").last?.body == second.bytes)
  }

  @Test func `and is long is begun with a token that lasts`() async throws {
    let stage = try Stage(limits: Self.large)
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/token", `A request whose token ended`.renewed)
    stage.on("/api", .json("{}"))
    // It still has 200 seconds: enough for a short one, not for a long one.
    stage.place.clock.advance(7000)
    _ = try await session.send(
      upload(stage, OneReading(1000), isKnown: true), app: "123", over: stage.network)
    #expect(stage.requests("/token").isEmpty)
    _ = try await session.send(
      upload(stage, OneReading(1_200_000), isKnown: true), app: "123", over: stage.network)
    #expect(stage.requests("/token").count == 1)
    #expect(
      stage.requests("/api").map { $0.header("Authorization") }
        == ["Bearer token-at-first", "Bearer at-second"])
  }

  @Test func `and is long goes with the token that there is where the renewal fails`() async throws
  {
    let stage = try Stage(limits: Self.large)
    let session = try stage.place.create()
    _ = try session.playX(stage)
    stage.on("/token", .text("later", status: 503))
    stage.on("/api", .json("{}"))
    stage.place.clock.advance(7000)
    let response = try await session.send(
      upload(stage, OneReading(1_200_000), isKnown: true), app: "123", over: stage.network)
    #expect(response.error == nil)
    #expect(stage.requests("/token").count == 1)
    #expect(stage.requests("/api").map { $0.header("Authorization") } == ["Bearer token-at-first"])
  }

  @Test func `is not read where nothing may be sent`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.playX(stage)
    for (app, url) in [("other", stage.url("/api")), ("123", "https://elsewhere.test/api")] {
      let reader = OneReading(1000)
      var request = upload(stage, reader, isKnown: true)
      request.url = url
      let sent = request
      _ = await refusal { try await session.send(sent, app: app, over: stage.network) }
      #expect(reader.isUnread)
    }
    #expect(stage.server.requests.isEmpty)
  }

  @Test(arguments: ["twitter", "x"])
  func `is refused beside another body, with GET, and as a form whose fields nobody saw`(
    _ id: String
  ) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(
      stage, id, permissions: [id == "twitter" ? "read" : "tweet.read"])
    var both = upload(stage, OneReading(10), isKnown: true)
    both.body = .json("{}")
    var get = upload(stage, OneReading(10), isKnown: true)
    get.method = .get
    let form = upload(
      stage, OneReading("a=b"), isKnown: true,
      type: "application/x-www-form-urlencoded; charset=UTF-8")
    for request in [both, get, form] {
      let error = await refusal {
        try await session.send(request, app: "123", over: stage.network)
      }
      #expect(error.code == .usage)
    }
    #expect(stage.server.requests.isEmpty)
  }
}

@Suite(.timeLimit(.minutes(3))) struct `A form that comes encoded` {
  private func form(_ stage: Stage, _ text: String, _ type: String) -> SignedRequest {
    var request = SignedRequest(.post, stage.url("/api"))
    request.body = .init(Array(text.utf8), contentType: type)
    return request
  }

  @Test(arguments: [
    "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=UTF-8",
    "Application/X-WWW-Form-Urlencoded;charset=utf-8",
  ])
  func `is signed and sent as it is`(_ type: String) async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "twitter", permissions: ["write"])
    stage.on("/api", .json("{}"))
    let text = "status=Hello+Ladies%20%2b%20Gentlemen&empty=&empty&b=%7e"
    _ = try await session.send(form(stage, text, type), app: "123", over: stage.network)
    let sent = try #require(stage.requests("/api").first)
    #expect(sent.text == text && sent.header("Content-Type") == type)
    try `What a request holds`.check(sent, stage)
  }

  @Test func `has no field of the signature's and no token`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    _ = try session.play(stage, "twitter", permissions: ["write"])
    for text in [
      "a=b&oauth_nonce=1", "access_token=x", "a=b&oauth_t%6Fken=x", "a=1;access_token=x",
      "access_token=x&a=%zz",
    ] {
      let error = await refusal {
        try await session.send(
          form(stage, text, "application/x-www-form-urlencoded"), app: "123", over: stage.network)
      }
      #expect(error.code == .usage)
    }
    #expect(stage.server.requests.isEmpty)
  }
}

@Suite(.timeLimit(.minutes(3))) struct `A request from a pool` {
  private final class Taken: ResponseReceiver {
    let status = Mutex(0)
    let bytes = Mutex<[UInt8]>([])
    func begin(status: Int, headers: [(name: String, value: String)]) {
      self.status.withLock { $0 = status }
    }
    func receive(_ piece: RawSpan) -> Bool {
      let copy = piece.withUnsafeBytes { Array($0) }
      bytes.withLock { $0 += copy }
      return true
    }
  }

  private func pool(_ stage: Stage) throws -> SessionPool {
    let session = try stage.place.create()
    _ = try session.playX(stage)
    return SessionPool(try Vault.open(at: stage.place.path), session)
  }

  @Test func `renews, sends once more and hands out one answer`() async throws {
    let stage = try Stage()
    let pool = try pool(stage)
    stage.on("/token", `A request whose token ended`.renewed)
    stage.on("/api", inTurn: [`A request whose token ended`.ended, .json(#"{"a":1}"#)])
    let taken = Taken()
    let response = try await pool.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network, to: taken)
    #expect(response.error == nil && response.status == 200)
    #expect(taken.status.withLock { $0 } == 200)
    #expect(taken.bytes.withLock { $0 } == Array(#"{"a":1}"#.utf8))
    let entries = try pool.withSession { (session) throws(VaultError) in
      var renewed = 0
      try session.history(HistoryQuery()) { if $0.event == .renewed { renewed += 1 } }
      return renewed
    }
    #expect(entries == 1)
  }

  @Test func `heeds a pause that another session of it was told`() async throws {
    let stage = try Stage()
    let pool = try pool(stage)
    stage.on(
      "/api", .json("{}", status: 429, headers: [("Retry-After", "60")]))
    let first = try await pool.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network, to: Taken())
    #expect(first.error?.reason == .throttled)
    // Two sessions are lent at once, so one of them is not the one that was told.
    let error = try await pool.withSession { (_) async throws(VaultError) in
      await refusal {
        try await pool.send(
          SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network, to: Taken())
      }
    }
    #expect(error.reason == .throttled)
    #expect(stage.requests("/api").count == 1)
  }
}
