import Foundation
import TestSupport
import Testing
import UnixSocket

/// What an app has under way while the owner decides otherwise.
@Suite(.timeLimit(.minutes(5)), .serialized) struct `What was begun before` {
  @Test func `is not answered once the vault is locked, though a token was renewed meanwhile`()
    throws
  {
    for path in ["/v1/token", "/v1/request"] {
      let isToken = path == "/v1/token"
      let place = try SendPlace(expiresIn: isToken ? 86_400 : 1)
      place.on("/api/me", .json("{}"))
      place.renews(after: 4000)
      let key = try place.agent.addApp("bot")
      try place.agent.vault("grant --app bot --perms profile --account lestat")
      if !isToken { sleep(2) }
      try place.agent.start()
      let agent = place.agent
      let url = place.server.url + "/api/me"
      let reply = Meanwhile {
        isToken
          ? try agent.ask("POST", path, key: key, body: #"{"renew":true}"#)
          : try agent.ask("GET", path, key: key, headers: ["Vault-URL: \(url)"])
      }
      try #require(waits { place.server.requests.contains { $0.path == "/token" } })
      usleep(500_000)
      agent.signal(SIGUSR1)
      let answer = try reply.value()
      #expect(answer.status == 503, "\(answer.body)")
      if isToken { #expect(answer.code == "locked") }
      #expect(!answer.body.contains("canary"))
      #expect(place.requests.isEmpty)
    }
  }

  /// Each ends although bytes come now and then, both ways.
  @Test func `ends where what allowed it ends`() throws {
    let provider = try StreamProvider { call in
      if call.method == "POST" { return call.body { _ in } }
      call.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
      while call.write("more ") { usleep(100_000) }
      return false
    }
    let ends: [(command: String, code: String)] = [
      ("revoke --app bot --perms profile --account lestat", "revoked"),
      ("deny --app bot --perms profile --account lestat", "denied"),
      ("remove-app bot", "wrong_key"), ("new-app-key bot", "wrong_key"),
      ("remove-account lestat", "never_asked"),
    ]
    for (command, code) in ends {
      let place = try SendPlace(hosts: ["127.0.0.1:\(provider.port)"])
      let key = try place.agent.addApp("bot")
      try place.agent.vault("grant --app bot --perms profile --account lestat")
      try place.agent.start()
      let head = [
        "HTTP/1.1", "Host: vault", "Authorization: Bearer \(key)", "Vault-URL: \(provider.url)/api",
        "Vault-Permissions: profile",
      ].joined(separator: "\r\n")
      var download = try place.connect()
      try download.send("GET /v1/request \(head)\r\n\r\n")
      let begun = try download.receiveHead()
      try #require(begun.status == 200)
      var upload = try place.connect()
      let count = provider.count
      try upload.send(
        "POST /v1/request \(head)\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n"
          + String(repeating: "x", count: 10_000))
      try #require(waits { provider.count > count })
      // Of others nothing ends.
      try place.agent.vault("revoke --app 123 --perms post --account lestat")
      usleep(2_500_000)
      try upload.send("x")
      #expect(provider.count > count)
      _ = try place.agent.run(command.split(separator: " ").map(String.init))
      let end = ContinuousClock.now + .seconds(20)
      var piece = UnixConnection.Body(begun)
      var isCut = false
      while !isCut, ContinuousClock.now < end {
        do { isCut = try download.receivePiece(of: &piece).isEmpty } catch { isCut = true }
      }
      #expect(isCut, "\(command)")
      // Its answer comes once its body is over, or stands still.
      _ = try? upload.send(String(repeating: "x", count: 89_999))
      let refused = try upload.receiveHead()
      var text: [UInt8] = []
      _ = upload.receiveBody(of: refused) { bytes in
        bytes.withUnsafeBytes { text.append(contentsOf: $0) }
      }
      #expect(refused.header("vault-source") == "agent", "\(command)")
      #expect(
        String(decoding: text, as: UTF8.self).contains(#""code":"\#(code)""#),
        "\(command): \(String(decoding: text, as: UTF8.self))")
    }
  }
}
