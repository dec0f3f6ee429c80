import Foundation
import Listener
import Synchronization
import TestSupport
import Testing
import UnixSocket

@Suite(.timeLimit(.minutes(5))) struct `A request that the agent sends for an app` {
  @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
  func `goes as it is, with the token, and its answer comes as it is`(_ method: String) throws {
    let place = try SendPlace()
    try place.agent.start()
    place.on(
      "/api",
      HTTPServer.Response(
        method == "HEAD" ? 200 : 207,
        headers: [
          ("Content-Type", "text/x-own"), ("X-Own", "a\tb"), ("Set-Cookie", "session=1"),
          ("Vault-Source", "agent"), ("Proxy-Own", "1"), ("ETag", "\"7\""),
        ], body: Array("the answer".utf8)))
    let hasBody = ["POST", "PUT", "PATCH", "DELETE"].contains(method)
    let reply = try place.send(
      method, place.server.url + "/api?a=b%20c&a=d", body: hasBody ? "\u{0}one body" : nil,
      headers: [
        "Vault-Account: lestat", "Vault-Permissions: profile, post", "X-Own: kept",
        "If-None-Match: \"6\"", "Cookie: mine=1", "Proxy-Authorization: Basic eA==", "TE: trailers",
        "Connection: keep-alive, X-Hop", "X-Hop: one", "Accept-Encoding: br",
        "User-Agent: own/1", "Via: 1.1 somewhere", "Forwarded: for=here",
        "Content-Type: application/x-own",
      ])
    #expect(reply.status == (method == "HEAD" ? 200 : 207))
    #expect(reply.header("vault-source") == "provider")
    #expect(reply.headers.count { $0.name == "vault-source" } == 1)
    #expect(reply.header("content-type") == "text/x-own")
    #expect(reply.header("x-own") == "a b")
    #expect(reply.header("etag") == "\"7\"")
    #expect(reply.header("set-cookie") == nil && reply.header("proxy-own") == nil)
    #expect(reply.header("content-length") == "10")
    #expect(reply.body == (method == "HEAD" ? "" : "the answer"))
    let sent = try #require(place.requests.first)
    #expect(sent.method == method && sent.target == "/api?a=b%20c&a=d")
    #expect(sent.header("Authorization") == "Bearer \(SendPlace.token)")
    #expect(sent.header("X-Own") == "kept" && sent.header("User-Agent") == "own/1")
    #expect(sent.header("If-None-Match") == "\"6\"")
    #expect(sent.text == (hasBody ? "\u{0}one body" : ""))
    if hasBody { #expect(sent.header("Content-Type") == "application/x-own") }
    for (name, value) in sent.headers {
      let name = name.lowercased()
      #expect(!name.hasPrefix("vault-") && !name.hasPrefix("proxy-") && name != "cookie")
      #expect(!["te", "x-hop", "via", "forwarded", "expect"].contains(name))
      #expect(!value.contains(place.key))
    }
    let used = try place.agent.history("--app", "123", "--event", "token_used")
    #expect(used.count == 1)
    #expect((used.first?["reason"] as? String)?.contains("request: \(method)") == true)
  }

  @Test func `B65 is not sent where two accounts fit and none is named`() throws {
    let place = try SendPlace()
    try place.addAccount("louis")
    try place.agent.vault("grant --app 123 --perms profile --account louis")
    try place.agent.start()
    place.on("/api", .json("{}"))
    for body in [nil, "status=hello"] {
      let reply = try place.send(
        body == nil ? "GET" : "POST", place.server.url + "/api", body: body)
      #expect(reply.status == 409 && reply.code == "ambiguous")
      #expect(reply.header("vault-source") == "agent")
    }
    #expect(place.server.requests.isEmpty)
    let reply = try place.send(
      "GET", place.server.url + "/api", headers: ["Vault-Account: louis"])
    #expect(reply.status == 200)
  }

  @Test func `is refused by the agent before anything is sent`() throws {
    let place = try SendPlace()
    let other = try place.agent.addApp("other")
    try place.agent.start()
    let url = place.server.url + "/api"
    func refused(
      _ status: Int, _ code: String, _ reply: RunningAgent.Reply,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(reply.status == status && reply.code == code, sourceLocation: sourceLocation)
      #expect(reply.header("vault-source") == "agent", sourceLocation: sourceLocation)
    }
    let none = try place.agent.ask("GET", "/v1/request", headers: ["Vault-URL: \(url)"])
    refused(401, "wrong_key", none)
    #expect(none.header("www-authenticate") == "Bearer")
    refused(401, "wrong_key", try place.send("GET", url, key: place.key + "x"))
    refused(403, "never_asked", try place.send("GET", url, key: other))
    refused(
      403, "never_asked", try place.send("GET", url, headers: ["Vault-Account: nobody"]))
    refused(400, "config", try place.send("GET", "https://elsewhere.test/api"))
    refused(400, "config", try place.send("GET", "http://127.0.0.1:1/api"))
    refused(400, "usage", try place.agent.ask("GET", "/v1/request", key: place.key))
    refused(400, "usage", try place.send("GET", url, headers: ["Vault-URL: \(url)"]))
    refused(400, "usage", try place.send("GET", url, headers: ["Vault-Perms: profile"]))
    refused(400, "usage", try place.send("GET", url + "?access_token=mine"))
    refused(400, "usage", try place.send("GET", url, body: "a body"))
    refused(400, "usage", try place.send("GET", "ftp://127.0.0.1/"))
    refused(405, "usage", try place.send("OPTIONS", url))
    refused(
      400, "usage",
      try place.send(
        "POST", url, body: "a=b&access_token=mine",
        headers: ["Content-Type: application/x-www-form-urlencoded"]))
    refused(
      400, "usage",
      try place.agent.ask(
        "GET", "/v1/request?url=x", key: place.key, headers: ["Vault-URL: \(url)"]))
    #expect(place.server.requests.isEmpty)
    place.agent.signal(SIGUSR1)
    var reply = try place.send("GET", url)
    for _ in 0..<500 where reply.code != "locked" {
      usleep(10_000)
      reply = try place.send("GET", url)
    }
    refused(503, "locked", reply)
  }

  @Test func `is not sent on where a redirect leads, and the app is told where`() throws {
    let place = try SendPlace()
    try place.agent.start()
    place.on("/api", .text("", status: 302).with("Location", "https://elsewhere.test/?a=b"))
    let reply = try place.send("GET", place.server.url + "/api")
    #expect(reply.status == 302 && reply.header("location") == "https://elsewhere.test/?a=b")
    #expect(reply.header("vault-source") == "provider")
    #expect(place.requests.count == 1)
  }

  @Test func `whose token ended is sent once more with the renewed one`() throws {
    let place = try SendPlace()
    try place.agent.start()
    place.renews()
    place.on("/api", inTurn: [.json(#"{"error":"old"}"#, status: 401), .json(#"{"a":1}"#)])
    let reply = try place.send("POST", place.server.url + "/api", body: #"{"text":"one"}"#)
    #expect(reply.status == 200 && reply.body == #"{"a":1}"#)
    #expect(
      place.requests.map { $0.header("Authorization") }
        == ["Bearer \(SendPlace.token)", "Bearer \(SendPlace.next)"])
    #expect(place.requests.map(\.text) == [#"{"text":"one"}"#, #"{"text":"one"}"#])
    let bytes = String(decoding: place.agent.received.withLock { $0 }, as: UTF8.self)
    #expect(!bytes.contains("canary"))
  }

  @Test func `with a long body whose token ended is answered 503, and the token is new`() throws {
    var limits = HTTPServer.Limits()
    limits.body = 4 << 20
    let place = try SendPlace(limits: limits)
    try place.agent.start()
    place.renews()
    place.on("/api", inTurn: [.json(#"{"error":"old"}"#, status: 401), .json("{}")])
    let body = String(repeating: "x", count: 2_000_000)
    let first = try place.send("PUT", place.server.url + "/api", body: body)
    #expect(first.status == 503 && first.code == "try_again")
    #expect(first.header("retry-after") == "0" && first.header("vault-source") == "agent")
    #expect(place.requests.count == 1)
    let second = try place.send("PUT", place.server.url + "/api", body: body)
    #expect(second.status == 200)
    #expect(place.requests.last?.header("Authorization") == "Bearer \(SendPlace.next)")
    #expect(place.requests.last?.body.count == body.utf8.count)
  }

  @Test func `that is refused because access was withdrawn costs the grant`() throws {
    let place = try SendPlace()
    try place.agent.start()
    place.on("/api", .json(#"{"error":"gone"}"#, status: 403))
    let reply = try place.send("GET", place.server.url + "/api")
    #expect(reply.status == 403 && reply.body == #"{"error":"gone"}"#)
    #expect(reply.header("vault-source") == "provider")
    #expect(try !place.agent.history("--app", "123", "--event", "lost_on_site").isEmpty)
    let second = try place.send("GET", place.server.url + "/api")
    #expect(second.header("vault-source") == "agent" && second.status >= 400)
    #expect(place.requests.count == 1)
  }

  @Test func `to a provider that is away is answered 503`() throws {
    let place = try SendPlace()
    try place.agent.start()
    place.server.stop()
    let reply = try place.send("GET", place.server.url + "/api")
    #expect(reply.status == 503 && reply.code == "try_again")
    #expect(reply.header("vault-source") == "agent")
  }

  @Test func `has an answer without a body, or one that was packed, framed anew`() throws {
    let packed: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c, 0x4a, 6, 0, 0xc2, 0x41, 0x24, 0x35, 3, 0, 0,
      0,
    ]
    let provider = try StreamProvider { call in
      switch call.target {
      case "/204": call.write("HTTP/1.1 204 No Content\r\nX-Own: 1\r\n\r\n")
      case "/304": call.write("HTTP/1.1 304 Not Modified\r\nETag: \"7\"\r\n\r\n")
      case "/gzip":
        call.write(
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
        call.write(packed[...])
      case "/chunked":
        call.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
      case "/empty": call.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      default:
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        return false
      }
      return true
    }
    let place = try SendPlace(hosts: ["127.0.0.1:\(provider.port)"])
    try place.agent.start()
    let none = try place.send("DELETE", provider.url + "/204")
    #expect(none.status == 204 && none.body == "" && none.header("x-own") == "1")
    let same = try place.send("GET", provider.url + "/304", headers: ["If-None-Match: \"7\""])
    #expect(same.status == 304 && same.header("etag") == "\"7\"")
    for path in ["/gzip", "/chunked"] {
      let reply = try place.send("GET", provider.url + path)
      #expect(reply.body == "abc" && reply.header("content-encoding") == nil)
    }
    let empty = try place.send("POST", provider.url + "/empty")
    #expect(empty.status == 200 && empty.header("content-length") == "0")
    // An answer that breaks off is none that could be taken for whole.
    #expect(throws: SocketError.self) { try place.send("GET", provider.url + "/short") }
  }

  @Test func `by curl is a form as curl makes it`() throws {
    let place = try SendPlace()
    try place.agent.start()
    place.on("/api", .json("{}"))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/curl")
    process.arguments = [
      "-sS", "--unix-socket", try place.agent.socket("apps"), "-H",
      "Authorization: Bearer \(place.key)", "-H", "Vault-URL: \(place.server.url)/api",
      "--data-urlencode", "status=Hello & good + day", "http://vault/v1/request",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && text == "{}")
    #expect(place.requests.first?.field("status") == "Hello & good + day")
  }

  @Test func `with Expect is refused before its body, and asked for it otherwise`() throws {
    let place = try SendPlace()
    try place.agent.start()
    place.on("/api", .json("{}"))
    for (url, isSent) in [("https://elsewhere.test/", false), (place.server.url + "/api", true)] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/curl")
      process.arguments = [
        "-sSv", "--unix-socket", try place.agent.socket("apps"), "-H",
        "Authorization: Bearer \(place.key)", "-H", "Vault-URL: \(url)", "-H",
        "Expect: 100-continue",
        "--expect100-timeout", "60", "--data-binary", String(repeating: "x", count: 100_000), "-H",
        "Content-Type: text/plain", "http://vault/v1/request",
      ]
      let output = Pipe()
      process.standardError = output
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(text.contains("100 Continue") == isSent)
    }
    #expect(place.requests.map(\.body.count) == [100_000])
  }
}

extension HTTPServer.Response {
  fileprivate func with(_ name: String, _ value: String) -> HTTPServer.Response {
    var response = self
    response.headers.append((name, value))
    return response
  }
}
