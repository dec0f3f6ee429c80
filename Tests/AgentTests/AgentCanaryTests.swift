import Foundation
import Listener
import TestSupport
import Testing

/// B82: one of everything over both sockets, and no secret where it does not belong.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct `The secrets of an agent that tells all it does` {
  /// The forms in which bytes may have been written down.
  static func forms(_ secret: [UInt8]) -> [Data] {
    let hex = secret.map { String(format: "%02x", $0) }.joined()
    let percent = secret.map { String(format: "%%%02X", $0) }.joined()
    var texts = [
      hex, hex.uppercased(), percent, percent.lowercased(),
      secret.map { String(format: "\\u%04x", $0) }.joined(),
    ]
    // In base64 the text looks different at each of three offsets; its ends depend on neighbours.
    for offset in 0..<3 {
      let text = Data(Array(repeating: 0x41, count: offset) + secret).base64EncodedString()
      let middle = String(text.filter { $0 != "=" }.dropFirst(4).dropLast(4))
      texts.append(middle)
      texts.append(middle.replacing("+", with: "-").replacing("/", with: "_"))
    }
    return [Data(secret)] + Set(texts).map { Data($0.utf8) }
  }

  private static let sent = "canary-sent-body-7d1f04c9"
  private static let header = "canary-sent-header-52ae9b"
  private static let passphrase = "canary passphrase 31b2c4"
  private static let wrong = "canary wrong passphrase 9f"

  @Test(arguments: ["", "json"])
  func `are in no log, no answer, no file and no process where they do not belong`(format: String)
    throws
  {
    let place = try SendPlace(expiresIn: 1)
    let agent = place.agent
    try AgentHome.write(Self.passphrase + "\n", to: agent.directory("phrase"))
    try agent.vault(["change-passphrase", "--new-passphrase-file", agent.directory("phrase")])
    let taker = try agent.addApp("taker")
    try agent.vault("grant --app taker --perms profile --account lestat")
    let hooks = agent.directory(".config/vault/hooks")
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    try AgentHome.write(
      "#!/bin/sh\ncat - /proc/$$/cmdline /proc/$$/environ >\"$HOME/hooked.new\"\n"
        + "echo said; mv \"$HOME/hooked.new\" \"$HOME/hooked\"; exit 3\n",
      to: hooks + "/renewed", mode: 0o700)
    place.renews()
    place.on("/ok", .json("{}"))
    place.on("/drop", .drop)
    place.on("/broken", .text("down", status: 500))
    place.on("/bad", .json(#"{"error":"bad"}"#, status: 400))
    place.on("/old", inTurn: [.json(#"{"error":"old"}"#, status: 401), .json("{}")])
    // A provider that says what it was told.
    place.on("/echo") { request in
      .text((request.header("Authorization") ?? "none"), status: 403)
    }
    try agent.start(
      "--log-level", "debug", "--log-format", format.isEmpty ? "text" : format)
    #expect(
      waits { FileManager.default.fileExists(atPath: agent.directory("hooked")) }, "\(agent.log)")

    var answers: [(what: String, data: Data)] = []
    var handed = Data()
    for (key, name) in [(taker, "taker"), (place.key, "signer"), (place.key + "x", "nobody")] {
      for (method, path, body) in [
        ("GET", "/v1/openapi.json", nil), ("GET", "/v1/app", nil), ("GET", "/v1/accounts", nil),
        ("GET", "/v1/access", nil), ("GET", "/v1/access?perms=\(Self.sent)", nil),
        ("POST", "/v1/access", #"{"type":"own","permissions":["post"],"audience":"friends"}"#),
        ("POST", "/v1/access", #"{"type":"own","permissions":["\#(Self.sent)"]}"#),
        ("POST", "/v1/token", #"{"permissions":["profile"]}"#),
        ("POST", "/v1/token", #"{"account":"\#(Self.sent)"}"#),
        ("POST", "/v1/token", #"{"renew":true,"permissions":["post"]}"#),
        ("POST", "/v1/sign", #"{"method":"GET","url":"\#(place.server.url)/ok"}"#),
        ("POST", "/v1/sign", #"{"method":"GET","url":"https://elsewhere.test/"}"#),
        ("DELETE", "/v1/app", nil), ("GET", "/v1/\(Self.sent)", nil),
      ] as [(String, String, String?)] {
        let reply = try agent.ask(method, path, key: key, body: body)
        let data = Data(reply.body.utf8)
        let isHandOut = ["/v1/token", "/v1/sign"].contains(path) && reply.status == 200
        if isHandOut { handed += data }
        // What an app wrote itself may be told to it again.
        if !isHandOut { answers.append(("\(name) \(path) \(reply.status)", data)) }
      }
      for path in ["/ok", "/drop", "/broken", "/bad", "/echo", "/old"] {
        let reply = try place.send(
          "POST", place.server.url + path, body: Self.sent,
          headers: ["X-Own: \(Self.header)", "Content-Type: text/plain", "Vault-Account: lestat"],
          key: key)
        answers.append(
          ("\(name) \(path)", Data((reply.body + "\(reply.headers)").utf8)))
      }
    }
    let owner = try agent.socket("owner")
    for (method, path, body) in [
      ("GET", "/v1/status", nil), ("GET", "/v1/metrics", nil), ("POST", "/v1/key", nil),
      ("POST", "/v1/unlock", key(passphrase: Self.wrong)), ("POST", "/v1/lock", nil),
      ("POST", "/v1/unlock", key(passphrase: Self.wrong)),
      ("POST", "/v1/unlock", Array(Self.passphrase.utf8)),
      ("POST", "/v1/unlock", key(passphrase: Self.passphrase)), ("GET", "/v1/metrics", nil),
    ] as [(String, String, [UInt8]?)] {
      let reply = try askSocket(owner, method, path, body: body)
      answers.append(("owner \(path) \(reply.status)", Data(reply.text.utf8)))
    }
    #expect(answers.last?.what == "owner /v1/metrics 200")
    // It went out, so there was something to find.
    let went = place.requests.map { "\($0.header("Authorization") ?? "") \($0.text)" }.joined()
    #expect(went.contains(SendPlace.next) && went.contains(Self.sent))
    #expect(String(decoding: handed, as: UTF8.self).contains(SendPlace.next))
    #expect(agent.log.contains("/v1/request") && agent.log.contains("a hook failed"))

    // Everything else that could hold them.
    var places = [("log", Data(agent.log.utf8))]
    let process = agent.processIdentifier
    for (name, path) in [
      ("cmdline", "/proc/\(process)/cmdline"), ("environ", "/proc/\(process)/environ"),
      ("its child", agent.directory("hooked")),
    ] { places.append((name, try Data(contentsOf: URL(filePath: path)))) }
    let all = try #require(FileManager.default.enumerator(atPath: agent.directory.path))
    for case let name as String in all
    where name.hasPrefix("run/") || name.hasPrefix("accounts.vault") || name.contains(".local") {
      places.append((name, Data(name.utf8)))
      if let data = FileManager.default.contents(atPath: agent.directory(name)) {
        places.append((name, data))
      }
    }
    #expect(places.contains { $0.0.hasSuffix("accounts.vault-wal") }, "\(places.map(\.0))")
    #expect(places.contains { $0.0.hasSuffix("agent.lock") })
    let keyFile = Array(try Data(contentsOf: URL(filePath: agent.directory("key"))))
    var secrets = [
      ("access token", Array(SendPlace.token.utf8)), ("renewed token", Array(SendPlace.next.utf8)),
      ("refresh token", Array(SendPlace.refresh.utf8)),
      ("client secret", Array("client-secret-0".utf8)), ("app key", Array(place.key.utf8)),
      ("other app's key", Array(taker.utf8)), ("key file", keyFile),
      ("passphrase", Array(Self.passphrase.utf8)), ("wrong passphrase", Array(Self.wrong.utf8)),
    ]
    for (what, secret) in secrets {
      for form in Self.forms(secret) {
        for (name, data) in answers {
          #expect(data.range(of: form) == nil, "\(what) in \(name)")
        }
        let isToken = what.hasSuffix("token") && what != "refresh token"
        #expect(isToken || handed.range(of: form) == nil, "\(what) handed out")
      }
    }
    secrets += [("body", Array(Self.sent.utf8)), ("header", Array(Self.header.utf8))]
    for (what, secret) in secrets {
      for form in Self.forms(secret) {
        for (name, data) in places {
          #expect(data.range(of: form) == nil, "\(what) in \(name)")
        }
      }
    }
    // The search finds what is there, in each form.
    for text in ["x" + Data(keyFile).base64EncodedString(), "?a=" + SendPlace.token] {
      #expect(
        (Self.forms(keyFile) + Self.forms(Array(SendPlace.token.utf8))).contains {
          Data(text.utf8).range(of: $0) != nil
        })
    }
  }
}
