import Foundation
import TestSupport
import Testing

/// Requests as bytes, on both sockets, where a client that is made well never goes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Bytes on a socket of the agent` {
  enum Door: String, CaseIterable, Sendable { case apps, owner }

  /// One answer.
  struct Answer {
    var status = 0
    var head = ""
    var body = ""

    var code: String? {
      let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
      let error = object?["error"] as? [String: Any]
      guard error?["message"] is String, error?.keys.contains("hint") == true else { return nil }
      return error?["code"] as? String
    }
  }

  /// An agent and what a good request on one of its sockets needs.
  final class Place {
    let agent: RunningAgent
    let door: Door
    let key: String

    /// A path that is read, and one to which something is sent.
    var look: String { door == .apps ? "/v1/app" : "/v1/status" }
    var act: String { door == .apps ? "/v1/token" : "/v1/lock" }
    var host: String { "Host: v\r\n" + (door == .apps ? "Authorization: Bearer \(key)\r\n" : "") }
    let last = "Connection: close\r\n"

    init(_ door: Door) throws {
      self.door = door
      agent = try RunningAgent.withBot(token: "EAAB0rawtoken")
      key = try String(contentsOfFile: agent.directory("app.key"), encoding: .utf8)
      try agent.start("--app-rate", "100000")
    }

    /// A request without a body, after which the connection closes.
    func get(_ line: String? = nil, _ headers: String = "") -> String {
      "\(line ?? "GET \(look) HTTP/1.1")\r\n\(host)\(headers)\(last)\r\n"
    }

    func post(_ headers: String, _ body: String) -> String {
      "POST \(act) HTTP/1.1\r\n\(host)Content-Type: application/json\r\n\(headers)\r\n\(body)"
    }

    /// All that comes until the agent closes.
    func exchange(_ bytes: String, halfClosed: Bool = false) throws -> String {
      let connection = try RawUnix(agent.socket(door.rawValue))
      connection.write(bytes)
      if halfClosed { connection.finish() }
      let began = ContinuousClock.now
      let told = connection.read()
      // Its own limits are 5 and 30 seconds; none of them is needed here.
      #expect(ContinuousClock.now - began < .seconds(4), "\(bytes.debugDescription)")
      return told
    }

    /// What answers there are, each with a body of the length that it says.
    static func answers(in told: String, heads: Set<Int> = []) -> [Answer] {
      var answers: [Answer] = []
      var rest = Array(told.utf8)[...]
      while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
        var answer = Answer()
        answer.head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        answer.status = Int(answer.head.split(separator: " ").dropFirst().first ?? "") ?? 0
        let length = answer.head.split(separator: "\r\n").first {
          $0.lowercased().hasPrefix("content-length:")
        }.flatMap { Int($0.filter(\.isNumber)) }
        rest = rest[end.upperBound...]
        if !heads.contains(answers.count), let length {
          answer.body = String(decoding: rest.prefix(length), as: UTF8.self)
          rest = rest.dropFirst(length)
        }
        answers.append(answer)
      }
      if !rest.isEmpty { answers.append(Answer(body: String(decoding: rest, as: UTF8.self))) }
      return answers
    }

    func ask(_ bytes: String, heads: Set<Int> = [], halfClosed: Bool = false) throws -> [Answer] {
      Self.answers(in: try exchange(bytes, halfClosed: halfClosed), heads: heads)
    }

    /// An error object of the contract, and nothing else.
    func refuses(
      _ bytes: String, _ status: Int, _ code: String = "usage",
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let answers = try ask(bytes)
      #expect(
        answers.map(\.status) == [status] && answers.first?.code == code,
        "\(bytes.prefix(300).debugDescription) \(answers)", sourceLocation: sourceLocation)
    }

    /// The HTTP library itself refuses it, in its own words, and closes.
    ///
    /// Of some of its refusals libmicrohttpd 0.9.75 writes the head twice, so only the first line counts.
    func isNoRequest(
      _ bytes: String, _ statuses: Int..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let told = try exchange(bytes)
      let status = Int(told.split(separator: " ").dropFirst().first ?? "") ?? 0
      #expect(
        statuses.contains(status) && !told.contains("HTTP/1.1 200") && !told.contains("rawtoken"),
        "\(bytes.prefix(300).debugDescription) \(told.prefix(300))", sourceLocation: sourceLocation)
    }

    /// It still serves, was not locked, handed nothing out, and ends as it should.
    func isUntouched(sourceLocation: SourceLocation = #_sourceLocation) throws {
      #expect(try ask(get()).map(\.status) == [200], sourceLocation: sourceLocation)
      let app = try agent.ask("GET", "/v1/app", key: key)
      #expect(app.status == 200, "\(app.body)", sourceLocation: sourceLocation)
      #expect(agent.stop() == 0, "\(agent.log)", sourceLocation: sourceLocation)
      #expect(
        try agent.history("--event", "token_used").isEmpty, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: Door.allCases)
  func `that name a method which a path does not take are answered 405`(door: Door) throws {
    let place = try Place(door)
    for method in ["BREW", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "get", "GETS"] {
      try place.refuses(place.get("\(method) \(place.look) HTTP/1.1"), 405)
      try place.refuses(place.get("\(method) \(place.act) HTTP/1.1"), 405)
    }
    try place.refuses(place.get("GET \(place.act) HTTP/1.1"), 405)
    let told = try place.exchange(place.get("HEAD \(place.act) HTTP/1.1"))
    #expect(told.hasPrefix("HTTP/1.1 405 ") && told.contains("\r\nAllow: POST\r\n"), "\(told)")
    #expect(told.hasSuffix("\r\n\r\n"))
    let allowed = try place.ask(place.get("DELETE \(place.look) HTTP/1.1"))
    #expect(allowed.first?.head.contains("Allow: GET, HEAD") == true, "\(allowed)")
    for target in ["*", "/v1/none", "http://v\(place.look)", "\(place.look)/", "/V1/app", "//"] {
      try place.refuses(place.get("OPTIONS \(target) HTTP/1.1"), 404, "not_found")
    }
    try place.refuses(place.get("CONNECT v:80 HTTP/1.1"), 404, "not_found")
    try place.isUntouched()
  }

  @Test(arguments: Door.allCases)
  func `that ask for a head get just that, and the next answer is the next one's`(door: Door)
    throws
  {
    let place = try Place(door)
    let head = "HEAD \(place.look) HTTP/1.1\r\n\(place.host)\r\n"
    let answers = try place.ask(head + head + place.get(), heads: [0, 1])
    #expect(answers.map(\.status) == [200, 200, 200], "\(answers)")
    let length = answers.last.map { "Content-Length: \($0.body.utf8.count)" } ?? ""
    // A time in it may have another length.
    if door == .apps { #expect(answers.allSatisfy { $0.head.contains(length) }, "\(answers)") }
    #expect(answers.last?.body.hasPrefix("{") == true)
    try place.isUntouched()
  }

  @Test func `of another media type are answered 415, and 400 where they are no key`() throws {
    let apps = try Place(.apps)
    for type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=x"] {
      try apps.refuses(
        "POST \(apps.act) HTTP/1.1\r\n\(apps.host)\(apps.last)Content-Type: \(type)\r\n"
          + "Content-Length: 2\r\n\r\n{}", 415)
    }
    try apps.refuses(
      "POST \(apps.act) HTTP/1.1\r\n\(apps.host)\(apps.last)Content-Length: 2\r\n\r\n{}", 415)
    try apps.isUntouched()
    let owner = try Place(.owner)
    for type in ["application/json", "application/octet-stream"] {
      try owner.refuses(
        "POST /v1/unlock HTTP/1.1\r\nHost: v\r\n\(owner.last)Content-Type: \(type)\r\n"
          + "Content-Length: 2\r\n\r\n{}", 400)
    }
    try owner.isUntouched()
  }

  @Test(arguments: Door.allCases)
  func `with a head that is too long are answered 431 or 414`(door: Door) throws {
    let place = try Place(door)
    let long = String(repeating: "a", count: 40_000)
    try place.isNoRequest(place.get(nil, "X-A: \(long)\r\n"), 431)
    try place.isNoRequest(place.get(nil, "\(long): a\r\n"), 431)
    try place.isNoRequest(place.get(nil, String(repeating: "X: a\r\n", count: 8000)), 431)
    try place.isNoRequest(place.get("GET \(place.look)?\(long) HTTP/1.1"), 414)
    try place.isNoRequest(place.get("\(long) \(place.look) HTTP/1.1"), 414)
    try place.isUntouched()
  }

  @Test(arguments: Door.allCases)
  func `of HTTP 1_0 are served and the connection closed, and of others refused`(door: Door) throws
  {
    let place = try Place(door)
    let old = "GET \(place.look) HTTP/1.0\r\n\(place.host)\r\n"
    #expect(try place.ask(old).map(\.status) == [200])
    #expect(try place.ask(old + old).map(\.status) == [200])
    #expect(
      try place.ask(old.replacingOccurrences(of: "Host: v\r\n", with: "")).map(\.status) == [200])
    try place.isNoRequest("GET \(place.look)\r\n\r\n", 400)
    try place.isNoRequest(place.get("GET \(place.look) HTTP/2.0"), 505)
    try place.isNoRequest("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)
    try place.isNoRequest(place.get("GET \(place.look) HTTP/1.1 x"), 400, 404, 505)
    try place.isNoRequest(
      place.get().replacingOccurrences(of: "Host: v\r\n", with: ""), 400)
    try place.isUntouched()
  }

  /// What one reader takes for a body is another one's request: it is nobody's here.
  @Test(arguments: Door.allCases)
  func `that leave open where the body ends are refused, and nothing behind them is read`(
    door: Door
  ) throws {
    let place = try Place(door)
    let hidden = place.post("Content-Length: 2\r\n", "{}")
    let chunks = "2\r\n{}\r\n0\r\n\r\n"
    let length = "Content-Length: 2\r\n"
    let chunked = "Transfer-Encoding: chunked\r\n"
    for (headers, body) in [
      (length + length, "{}"),
      (length + "Content-Length: \(hidden.utf8.count + 2)\r\n", "{}"),
      ("content-length: 400\r\n" + length, "{}"),
      ("Content-Length: 0\r\n" + length, "{}"),
      ("Content-Length: \(chunks.utf8.count)\r\n" + chunked, chunks),
      (chunked + length, chunks),
      (chunked + "Content-Length: 0\r\n", chunks),
      (chunked + chunked, chunks),
      ("Transfer-Encoding: gzip, chunked\r\n", chunks),
      ("Transfer-Encoding: xchunked\r\n", chunks),
      ("Transfer-Encoding: identity\r\n" + length, "{}"),
      ("Transfer-Encoding: \u{b}chunked\r\n", chunks),
      ("Transfer-Encoding : chunked\r\n" + length, chunks),
      ("Content-Length : 400\r\n" + length, "{}"),
    ] {
      try place.refuses(place.post(headers, body) + hidden, 400)
      // Nor where none is expected.
      try place.refuses(
        "GET \(place.look) HTTP/1.1\r\n\(place.host)\(headers)\r\n\(body)" + hidden, 400)
    }
    for value in ["2, 2", "+2", "-2", "2 2", "0x2", "two", "99999999999999999999", ""] {
      try place.isNoRequest(place.post("Content-Length: \(value)\r\n", "{}") + hidden, 400, 413)
    }
    for chunk in ["zz", "-2", "2 2", "ffffffffffffffff1", ""] {
      try place.isNoRequest(place.post(chunked, "\(chunk)\r\n{}\r\n0\r\n\r\n") + hidden, 400, 413)
    }
    try place.isUntouched()
  }

  @Test func `that are to be sent on and leave open where the body ends go nowhere`() throws {
    let place = try SendPlace()
    place.on("/api", .json("{}"))
    try place.agent.start()
    for headers in [
      "Content-Length: 2\r\nContent-Length: 200", "Transfer-Encoding: chunked\r\nContent-Length: 2",
      "Transfer-Encoding: gzip, chunked",
    ] {
      let reply = try place.agent.exchange(
        place.head("POST", place.server.url + "/api", [headers]) + "{}")
      #expect(reply.status == 400 && reply.code == "usage", "\(headers) \(reply)")
      #expect(reply.header("vault-source") == "agent")
    }
    #expect(place.server.requests.isEmpty)
  }

  @Test(arguments: Door.allCases)
  func `with other line ends are one request, or none`(door: Door) throws {
    let place = try Place(door)
    let lines = place.get().replacingOccurrences(of: "\r\n", with: "\n")
    #expect(try place.ask(lines).map(\.status) == [200])
    #expect(try place.ask("\r\n\r\n" + place.get()).map(\.status) == [200])
    // No line of it has ended.
    let returns = place.get().replacingOccurrences(of: "\r\n", with: "\r")
    #expect(try place.exchange(returns, halfClosed: true) == "")
    try place.isNoRequest(place.get(nil, "no header\r\n"), 400)
    #expect(try place.ask(place.get(nil, "X-A: a\r\n b\r\n")).map(\.status) == [200])
    try place.isUntouched()
  }

  /// libmicrohttpd 0.9.75 reads up to a NUL. Whatever it makes of one, no other request comes of it.
  @Test(arguments: Door.allCases)
  func `with a NUL are one request, or refused`(door: Door) throws {
    let place = try Place(door)
    for bytes in [
      place.get(nil, "X-A: a\0b\r\n"), place.get(nil, "X\0A: ab\r\n"), place.get(nil, "\0\r\n"),
      place.get("GET \(place.look)\0/x HTTP/1.1"), place.get("GET\0X \(place.look) HTTP/1.1"),
      place.get("GET \(place.look) HTTP/1.1\0"),
    ] {
      let next = bytes.replacingOccurrences(of: place.last, with: "")
      let answers = try place.ask(next + place.get("GET /v1/none HTTP/1.1"))
      let statuses = answers.map(\.status)
      #expect(
        statuses == [200, 404] || [[400], [404], [405], [505]].contains(statuses.prefix(1)),
        "\(bytes.debugDescription) \(answers)")
      #expect(answers.count <= 2)
    }
    // A body may hold one; it is no JSON.
    if door == .apps {
      try place.refuses(place.post("Content-Length: 2\r\n\(place.last)", "{\0"), 400)
      let half = place.key.prefix(place.key.count / 2)
      let cut = "Host: v\r\nAuthorization: Bearer \(half)\0\(place.key)\r\n"
      try place.refuses(
        "GET \(place.look) HTTP/1.1\r\n\(cut)\(place.last)\r\n", 401, "wrong_key")
    }
    try place.isUntouched()
  }

  @Test(arguments: Door.allCases)
  func `that end before the request does are answered by nothing, and nothing is done`(door: Door)
    throws
  {
    let place = try Place(door)
    let whole = place.post("Content-Length: 20\r\n", "{}")
    let chunked = place.post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n")
    for bytes in [whole, chunked, "", "GET", "\r\n", place.post("Content-Length: 2\r\n", "{")] {
      #expect(try place.exchange(bytes, halfClosed: true) == "", "\(bytes.debugDescription)")
    }
    let all = Array(place.get().utf8)
    for count in stride(from: 1, to: all.count, by: 3) {
      let part = String(decoding: all.prefix(count), as: UTF8.self)
      #expect(try place.exchange(part, halfClosed: true) == "", "\(part.debugDescription)")
    }
    // One that is whole before is answered.
    let first = "GET \(place.look) HTTP/1.1\r\n\(place.host)\r\n"
    #expect(try place.ask(first + whole, halfClosed: true).map(\.status) == [200])
    #expect(try place.ask(first, halfClosed: true).map(\.status) == [200])
    try place.isUntouched()
  }

  @Test func `that hold many requests are answered one by one, each app with its own`() throws {
    let place = try Place(.apps)
    let other = try place.agent.addApp("other")
    var bytes = ""
    var expected: [String] = []
    var heads: Set<Int> = []
    for number in 0..<60 {
      let key = number % 2 == 0 ? place.key : other
      let isLast = number == 59
      let host =
        "Host: v\r\nAuthorization: Bearer \(key)\r\n" + (isLast ? place.last : "")
      switch number % 6 {
      case 2:
        // The body looks like a request of the other app's.
        let body = "GET /v1/app HTTP/1.1\r\nHost: v\r\nAuthorization: Bearer \(other)\r\n\r\n"
        bytes +=
          "POST /v1/access HTTP/1.1\r\n\(host)Content-Type: application/json\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        expected.append("usage")
      case 3:
        bytes += "HEAD /v1/app HTTP/1.1\r\n\(host)\r\n"
        heads.insert(number)
        expected.append("")
      case 4:
        let name = "wrong-\(number)"
        let body = #"{"\#(name)":1}"#
        let size = String(body.utf8.count, radix: 16)
        bytes +=
          "POST /v1/access HTTP/1.1\r\n\(host)Content-Type: application/json\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n"
        expected.append(name)
      default:
        bytes += "GET /v1/app HTTP/1.1\r\n\(host)\r\n"
        expected.append(number % 2 == 0 ? #"{"id":"bot""# : #"{"id":"other""#)
      }
    }
    let all = Array(bytes.utf8)
    // In one piece, and in pieces that are cut anywhere.
    for size in [all.count, 1000, 37] {
      let connection = try RawUnix(place.agent.socket("apps"))
      var rest = all[...]
      while !rest.isEmpty {
        connection.write(String(decoding: rest.prefix(size), as: UTF8.self))
        rest = rest.dropFirst(size)
      }
      let answers = Place.answers(in: connection.read(), heads: heads)
      try #require(answers.count == 60, "\(size): \(answers.count)")
      for (answer, text) in zip(answers, expected) {
        #expect(text.isEmpty ? answer.body.isEmpty : answer.body.contains(text), "\(answer)")
        #expect(!answer.body.contains("rawtoken"))
      }
    }
    try place.isUntouched()
  }

  /// What it costs a connection to be slow is nobody else's time.
  @Test func `that stop in the middle are cut off after 5 seconds`() throws {
    let place = try Place(.apps)
    let head = "GET /v1/app HTTP/1.1\r\nHost: v"
    let connections = try ["", head, place.post("Content-Length: 20\r\n", "{}")].map { bytes in
      let connection = try RawUnix(place.agent.socket("apps"))
      connection.write(bytes)
      return connection
    }
    let began = ContinuousClock.now
    for connection in connections {
      let told = connection.read()
      #expect(told == "" || told.hasPrefix("HTTP/1.1 408 "), "\(told)")
    }
    let waited = ContinuousClock.now - began
    #expect(waited > .seconds(3) && waited < .seconds(20), "\(waited)")
    try place.isUntouched()
  }
}
