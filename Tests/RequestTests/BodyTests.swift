import AccountVault
import Crypto
import Faults
import Foundation
import Listener
import Sodium
import Synchronization
import TestSupport
import Testing

/// What of a request goes over the wire, and what signs it.
@Suite struct `What a request holds` {
  /// RFC 5849 section 3.4 once more, by Foundation and in another way than the library does it.
  static func signature(
    of request: HTTPServer.Request, at base: String, clientSecret: String, tokenSecret: String
  ) throws -> String {
    let kept = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    func encoded(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: kept) ?? ""
    }
    var pairs = request.queryFields
    let type = request.header("Content-Type")?.lowercased() ?? ""
    if type.hasPrefix("application/x-www-form-urlencoded") {
      pairs += request.form
    }
    for (name, value) in request.oauth where name != "oauth_signature" && name != "realm" {
      pairs.append((name, value))
    }
    let normalized = pairs.map { (encoded($0.name), encoded($0.value)) }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    let text = [request.method, encoded(base + request.path), encoded(normalized)]
      .joined(separator: "&")
    let key = Array("\(encoded(clientSecret))&\(encoded(tokenSecret))".utf8)
    return Data(try HMACSHA1.authenticate(Array(text.utf8).span.bytes, key: key.span.bytes))
      .base64EncodedString()
  }

  static func twitter(_ stage: Stage, _ session: borrowing Session) throws {
    try session.play(stage, "twitter", permissions: ["read", "write"])
    stage.on("/api", .json("{}"))
  }

  static func check(_ request: HTTPServer.Request, _ stage: Stage) throws {
    #expect(
      request.oauth["oauth_signature"]
        == (try signature(
          of: request, at: stage.server.url, clientSecret: "client-secret", tokenSecret: "ts")))
    #expect(request.oauth["oauth_token"] == "at")
    #expect(request.oauth["oauth_consumer_key"] == "client")
  }

  @Test func `B49 B52 is encoded once and signed as it is sent`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    try Self.twitter(stage, session)
    let parameters: [SignedRequest.Parameter] = [
      .init("status", "Hello Ladies + Gentlemen, a signed OAuth request!"), .init("foo", "3"),
      .init("foo", "2"), .init("empty", ""), .init("~ü€", "a&b=c%20d~*/"),
    ]
    for method in SignedRequest.Method.allCases {
      var request = SignedRequest(method, stage.url("/api/\(method.rawValue)?include=true&q"))
      request.parameters = parameters
      let response = try await session.send(request, app: "123", over: stage.network)
      #expect(response.error == nil)
      let sent = try #require(stage.requests("/api/\(method.rawValue)").first)
      #expect(sent.method == method.rawValue)
      let isForm = [.post, .put, .patch].contains(method)
      let fields = isForm ? sent.form : Array(sent.queryFields.dropFirst(2))
      #expect(fields.map(\.name) == parameters.map(\.name))
      #expect(fields.map(\.value) == parameters.map(\.value))
      #expect(!(isForm ? sent.text : sent.target).contains("+"))
      #expect(sent.target.contains("?include=true&q"))
      if !isForm { #expect(sent.body.isEmpty) }
      try Self.check(sent, stage)
    }
  }

  @Test func `B50 B53 is signed with its port, without its query, whatever stands in it`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    try Self.twitter(stage, session)
    for path in [
      "/api/r%20v/X?id=123", "/api?b5=%3D%253D&a3=a&c%40=&a2=r%20b", "/api?q=", "/api?q",
      "/api?a=x%20y&a=x+y",
    ] {
      _ = try await session.send(
        SignedRequest(.get, stage.url(path)), app: "123", over: stage.network)
      let sent = try #require(stage.server.requests.last)
      #expect(sent.target == path)
      try Self.check(sent, stage)
    }
    var post = SignedRequest(.post, stage.url("/api/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b"))
    post.parameters = [.init("c2", ""), .init("a3", "2 q")]
    _ = try await session.send(post, app: "123", over: stage.network)
    try Self.check(try #require(stage.server.requests.last), stage)
  }

  @Test func `that is JSON or multipart is sent as it is, and is not signed`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    try Self.twitter(stage, session)
    var json = SignedRequest(.post, stage.url("/api/json?a=1"))
    json.body = .json(#"{"text":"a=b&c"}"#)
    _ = try await session.send(json, app: "123", over: stage.network)
    let first = try #require(stage.server.requests.last)
    #expect(first.text == #"{"text":"a=b&c"}"#)
    #expect(first.header("Content-Type") == "application/json")
    try Self.check(first, stage)
    let file = stage.place.directory("photo \"1\".png")
    try Data([0x89, 0x50, 0, 0xFF]).write(to: URL(filePath: file))
    var form = SignedRequest(.post, stage.url("/api/upload"))
    form.parameters = [.init("caption", "a picture")]
    form.parts = [
      .init("media", .file(path: file), contentType: "image/png"), .init("note", "text"),
    ]
    _ = try await session.send(form, app: "123", over: stage.network)
    let second = try #require(stage.server.requests.last)
    #expect(second.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
    let text = String(decoding: second.body, as: UTF8.self)
    #expect(text.contains(#"name="caption""#) && text.contains("a picture"))
    #expect(text.contains("image/png") && text.contains(#"name="note""#))
    #expect(second.body.contains([0x89, 0x50, 0, 0xFF]))
    try Self.check(second, stage)
  }

  @Test func `that is a big file goes up without lying in memory`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    try session.playX(stage)
    let size = 512 << 20
    let file = stage.place.directory("big")
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: UInt64(size))
    try handle.close()
    // A server that counts and keeps nothing.
    let sink = try Sink()
    defer { sink.stop() }
    var request = SignedRequest(.post, sink.url + "/upload")
    request.parts = [.init("media", .file(path: file))]
    let progress = Progress()
    let before = try Self.peakOfMemory()
    let response = try await session.send(
      request, app: "123", over: stage.network, to: progress)
    #expect(response.status == 200)
    #expect(try #require(Int(String(decoding: progress.bytes, as: UTF8.self))) > size)
    #expect(progress.sent >= Int64(size))
    #expect(try Self.peakOfMemory() - before < 128 << 20)
  }

  /// The most that this process held at once, in bytes.
  static func peakOfMemory() throws -> Int {
    let handle = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
    let status = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.split(separator: " ")[1])) * 1024
  }

  @Test func `comes back piece by piece where it is long or no text`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    try session.playX(stage)
    let long = [UInt8](repeating: 0x61, count: 3 << 20)
    for type in ["application/json", "image/png"] {
      stage.on("/api", HTTPServer.Response(200, headers: [("Content-Type", type)], body: long))
      let pieces = Pieces()
      let response = try await session.send(
        SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network, to: pieces)
      #expect(response.body.isEmpty && response.error == nil)
      #expect(pieces.status == 200 && pieces.begins == 1)
      #expect(pieces.bytes == long && pieces.count > 1)
    }
    // A refusal is handed out as well, once.
    stage.on("/api", .json(#"{"errors":[{"code":187,"message":"m"}]}"#, status: 403))
    let pieces = Pieces()
    let refused = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network, to: pieces)
    #expect(refused.error?.code == .failed && pieces.begins == 1 && pieces.status == 403)
    #expect(String(decoding: pieces.bytes, as: UTF8.self).contains("187"))
    // One that is too long to keep is cut off.
    stage.on("/api", HTTPServer.Response(500, body: long))
    let cut = try await session.send(
      SignedRequest(.get, stage.url("/api")), app: "123", over: stage.network)
    #expect(cut.error?.code == .tryAgain && cut.body.count <= 262_144)
    #expect(cut.notes.contains { $0.contains("cut off") })
  }

  @Test func `comes back no longer than is allowed`() async throws {
    let stage = try Stage()
    let session = try stage.place.create()
    try session.playX(stage)
    stage.on("/api", HTTPServer.Response(200, body: [UInt8](repeating: 0x61, count: 100_000)))
    var request = SignedRequest(.get, stage.url("/api"))
    request.limits.responseBytes = 50_000
    let error = await refusal {
      try await session.send(request, app: "123", over: stage.network)
    }
    #expect(error.code == .failed)
  }

  @Test func `is refused before anything is sent where it is not the caller's to say`()
    async throws
  {
    let stage = try Stage()
    let session = try stage.place.create()
    try session.playX(stage)
    let headers = [
      ("Authorization", "Bearer mine"), ("authorization", "x"), ("DPoP", "x"), ("Cookie", "a=b"),
      ("Host", "evil.example"), ("Content-Length", "5"), ("Transfer-Encoding", "chunked"),
      ("Connection", "close"), ("Proxy-Authorization", "x"), ("Accept-Encoding", "gzip"),
      ("X", "a\r\nAuthorization: x"), ("X", "a\nb"), ("X", "a\0b"), ("X", ""), ("X", "ü"),
      ("X Y", "a"), ("X:", "a"), ("", "a"), ("Content-Type", "text/plain"),
    ]
    func code(_ request: SignedRequest) async -> VaultError.Code {
      await refusal {
        try await session.send(request, app: "123", over: stage.network)
      }.code
    }
    for header in headers {
      var request = SignedRequest(.get, stage.url("/api"))
      request.headers = [header]
      #expect(await code(request) == .usage, "\(header)")
    }
    for url in [
      "/api", "api", "ftp://127.0.0.1/", stage.url("/a b"), stage.url("/a#b"), stage.url("/ü"),
      "http://user@127.0.0.1/", stage.url("/api?access_token=mine"),
      stage.url("/api?a=1&client_secret=x"), stage.url("/api?a=1;access_token=x"),
    ] {
      #expect(await code(SignedRequest(.get, url)) == .usage, "\(url)")
    }
    for name in ["access_token", "client_secret", "refresh_token", "appsecret_proof"] {
      var request = SignedRequest(.post, stage.url("/api"))
      request.parameters = [.init(name, "mine")]
      #expect(await code(request) == .usage)
    }
    var both = SignedRequest(.post, stage.url("/api"))
    both.parts = [.init("a", "b")]
    both.body = .json("{}")
    #expect(await code(both) == .usage)
    both.parts = []
    both.parameters = [.init("a", "b")]
    #expect(await code(both) == .usage)
    var get = SignedRequest(.get, stage.url("/api"))
    get.parts = [.init("a", "b")]
    #expect(await code(get) == .usage)
    get.parts = []
    get.body = .json("{}")
    #expect(await code(get) == .usage)
    var missing = SignedRequest(.post, stage.url("/api"))
    missing.parts = [.init("a", .file(path: stage.place.directory("none")))]
    #expect(await code(missing) == .notFound)
    missing.parts = [.init("a", .file(path: "/dev/null"))]
    #expect(await code(missing) == .usage)
    #expect(stage.server.requests.isEmpty)
    #expect(try session.entries(.tokenUsed).isEmpty)
  }

  final class Pieces: ResponseReceiver {
    private let state = Mutex((status: 0, begins: 0, count: 0, bytes: [UInt8]()))
    var status: Int { state.withLock { $0.status } }
    var begins: Int { state.withLock { $0.begins } }
    var count: Int { state.withLock { $0.count } }
    var bytes: [UInt8] { state.withLock { $0.bytes } }

    func begin(status: Int, headers: [(name: String, value: String)]) {
      state.withLock {
        $0.status = status
        $0.begins += 1
      }
    }

    func receive(_ piece: RawSpan) -> Bool {
      let copy = piece.withUnsafeBytes { Array($0) }
      state.withLock {
        $0.bytes += copy
        $0.count += 1
      }
      return true
    }
  }

  final class Progress: ResponseReceiver {
    private let state = Mutex((sent: Int64(0), bytes: [UInt8]()))
    var sent: Int64 { state.withLock { $0.sent } }
    var bytes: [UInt8] { state.withLock { $0.bytes } }

    func begin(status: Int, headers: [(name: String, value: String)]) {}

    func receive(_ piece: RawSpan) -> Bool {
      let copy = piece.withUnsafeBytes { Array($0) }
      state.withLock { $0.bytes += copy }
      return true
    }

    func progress(sent: Int64, ofSent: Int64?, received: Int64, ofReceived: Int64?) {
      state.withLock { $0.sent = max($0.sent, sent) }
    }
  }
}

/// Another program's server, which reads requests of any size, keeps nothing of them and answers with the
/// number of bytes.
final class Sink {
  private let process = Process()
  let url: String

  private static let program = """
    import http.server
    class Handler(http.server.BaseHTTPRequestHandler):
      def do_POST(self):
        count, left = 0, int(self.headers.get("Content-Length", 0))
        while left > 0:
          piece = self.rfile.read(min(left, 1 << 20))
          if not piece: break
          count += len(piece); left -= len(piece)
        body = str(count).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
      def log_message(self, *arguments): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  init() throws {
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = ["-c", Self.program]
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(Int(line.filter(\.isNumber)))
    url = "http://127.0.0.1:\(port)"
  }

  /// Ends it at once; Foundation collects it.
  func stop() { kill(process.processIdentifier, SIGKILL) }
}
