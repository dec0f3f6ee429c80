import Foundation
import TestSupport
import Testing

/// Sign-ins through the real pages of servers of others.
@Suite(.serialized) struct `A sign-in at a server of others` {
  /// Adds an account by a sign-in.
  func signIn(
    _ home: VaultHome, _ way: String, browser: Browser? = nil, perms: String? = "read,write"
  ) throws -> Running {
    var arguments = [
      "add-account", "--type", "peer", "--username", "ann", "--sign-in=\(way)", "--json",
    ]
    if let perms { arguments += ["--perms", perms] }
    return try home.start(arguments, browser: browser)
  }

  /// A token that the vault hands out is taken by the server.
  func works(_ home: VaultHome, at peer: Peer) throws -> Bool {
    try home.must(["grant", "--app", "1", "--perms", "read"])
    let token = try home.must(["token", "--app", "1", "--perms", "read"]).output.dropLast()
    return try Curl.send(
      peer.endpoint("resource"), headers: ["Authorization: Bearer \(token)"]
    ).status == 200
  }

  @Test(arguments: [
    (Peer.Kind.glewlwyd, "public"), (.glewlwyd, "confidential"), (.toolkit, "public"),
    (.toolkit, "confidential"),
  ])
  func `by the browser, with a code and a proof key`(_ kind: Peer.Kind, _ id: String) throws {
    let peer = try Peer(kind)
    let home = try VaultHome([
      peer.definition("peer", ["issuer": peer.endpoint("issuer"), "sends_issuer": true])
    ])
    try home.add(peer.client(id), of: "peer", redirect: peer.told()["redirects"][0].text)
    let browser = try Browser(at: peer)
    let ended = try signIn(home, "browser", browser: browser).end()
    #expect(try browser.report()["outcome"].text == "redirected")
    try #require(ended.status == 0, "\(ended)")
    let credential = try home.credential(of: "peer:ann")
    #expect(credential["state"].text == "valid")
    #expect(credential["scopes"].texts.sorted() == ["read", "write"])
    #expect(try home.events(of: "peer:ann").contains("signed_in"))
    #expect(try works(home, at: peer))
  }

  @Test func `is a no where the person says no`() throws {
    let peer = try Peer(.toolkit)
    let home = try VaultHome([peer.definition("peer")])
    try home.add(peer.client("public"), of: "peer", redirect: peer.told()["redirects"][0].text)
    let browser = try Browser(at: peer, isWilling: false)
    let ended = try signIn(home, "browser", browser: browser).end()
    #expect(try browser.report()["outcome"].text == "redirected")
    #expect(ended.status == 77, "\(ended)")
    #expect(try home.must(["accounts", "--json"]).output == "")
  }

  @Test func `by a code on another device, more slowly where the server says so`() throws {
    let peer = try Peer(.glewlwyd, "--poll-seconds", "3")
    let proxy = try Peer(.proxy, String(peer.port))
    // The server wants three seconds between polls, and the vault believes that one is enough.
    let lie = ["kind": "replace", "old": #""interval":3"#, "new": #""interval":1"#]
    try proxy.ask("next", ["faults": Array(repeating: lie, count: 3)])
    let home = try VaultHome([peer.definition("peer", tokenAt: proxy.address)])
    try home.add(peer.client("public"), of: "peer")
    let running = try signIn(home, "device")
    let code = try running.waiting(for: "a code") {
      $0.errors.firstMatch(of: /Code: ([A-Z0-9]+-[A-Z0-9]+)\s/).map { String($0.1) }
    }
    func answers(with error: String) throws -> Int {
      try proxy.ask("log").list.flatMap { $0["answers"].texts }.count { $0.contains(error) }
    }
    _ = try running.waiting(for: "slow_down") { _ in
      try answers(with: "slow_down") > 0 ? true : nil
    }
    let approved = try peer.ask(
      "approve", ["server": "plain", "client_id": "public", "user_code": code])
    #expect(approved["approved"].bool == true)
    let ended = try running.end()
    try #require(ended.status == 0, "\(ended)")
    #expect(try answers(with: "authorization_pending") == 1)
    // Five seconds more were enough for all that came later.
    #expect(try answers(with: "slow_down") == 1)
    #expect(try works(home, at: peer))
  }

  @Test func `by OAuth 1.0a, where the page leads back`() throws {
    let peer = try Peer(.oauth1)
    let home = try VaultHome([peer.definition("peer")])
    try home.add(peer.client("first-client"), of: "peer")
    let browser = try Browser(at: peer)
    let ended = try signIn(home, "browser", browser: browser, perms: nil).end()
    #expect(try browser.report()["outcome"].text == "redirected")
    try #require(ended.status == 0, "\(ended)")
    let credential = try home.credential(of: "peer:ann")
    #expect(credential["kind"].text == "oauth1")
    #expect(try ended.json()["user_id"].text == "7001", "\(ended)")
    #expect(try peer.ask("tokens").list.count == 1)
  }

  @Test func `by OAuth 1.0a, with the number that the page shows`() throws {
    let peer = try Peer(.oauth1)
    let home = try VaultHome([peer.definition("peer")])
    try home.add(peer.client("first-client"), of: "peer")
    let answer = home.directory("number")
    let running = try Running(
      Peer.python,
      [
        "\(Peer.folder)/terminal.py", "--when", "number that the page shows", "--answer", answer,
        VaultHome.executables + "/vault", "add-account", "--type", "peer", "--username", "ann",
        "--sign-in=pin",
      ], environment: home.environment)
    let address = try running.waiting(for: "an address") {
      $0.output.firstMatch(of: /(http:\/\/\S*oauth_token=\S+)\s/).map { String($0.1) }
    }
    let said = try Browser(at: peer).open(address)
    let number = try #require(said["pin"].text, "\(said)")
    try (number + "\n").write(toFile: answer, atomically: true, encoding: .utf8)
    let ended = try running.end()
    try #require(ended.status == 0, "\(ended)")
    #expect(try home.credential(of: "peer:ann")["state"].text == "valid")
  }

  @Test func `with tokens that are bound to a key`() throws {
    let peer = try Peer(.glewlwyd)
    let home = try VaultHome([peer.definition("peer", server: "bound", ["dpop": "required"])])
    try home.add(peer.client("public"), of: "peer", redirect: peer.told()["redirects"][0].text)
    let browser = try Browser(at: peer)
    let ended = try signIn(home, "browser", browser: browser).end()
    try #require(ended.status == 0, "\(ended)")
    // Who it is was asked with a proof, which glewlwyd takes with its nonce alone.
    #expect(try ended.json()["user_id"].text?.isEmpty == false, "\(ended)")
    #expect(try home.credential(of: "peer:ann")["state"].text == "valid")
  }

  @Test(arguments: [Peer.Kind.glewlwyd, .toolkit])
  func `where the server says of itself where its pages are`(_ kind: Peer.Kind) throws {
    let peer = try Peer(kind)
    let home = try VaultHome([
      peer.definition(
        "peer",
        [
          "issuer": peer.endpoint("issuer"),
          "endpoints": [
            "token": peer.endpoint("token"), "userinfo": peer.endpoint("resource"),
          ],
        ])
    ])
    try home.add(peer.client("public"), of: "peer", redirect: peer.told()["redirects"][0].text)
    let browser = try Browser(at: peer)
    let ended = try signIn(home, "browser", browser: browser).end()
    try #require(ended.status == 0, "\(ended)")
    #expect(try works(home, at: peer))
  }
}
