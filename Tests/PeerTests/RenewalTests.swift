import Foundation
import TestSupport
import Testing

/// Renewals against servers whose refresh tokens work once.
@Suite(.serialized) struct `A renewal at a rotating server` {
  /// An account whose first tokens the test knows too.
  struct Ground {
    let peer: Peer
    let clientID: String
    let home: VaultHome
    let firstRefreshToken: String

    init(_ kind: Peer.Kind, behind makeProxy: Bool = false) throws {
      peer = try Peer(kind)
      proxy = makeProxy ? try Peer(.proxy, String(peer.port)) : nil
      clientID = kind == .glewlwyd ? "confidential" : "direct"
      home = try VaultHome([peer.definition("peer", tokenAt: proxy?.address)])
      try home.add(peer.client(clientID), of: "peer")
      let response = try peer.tokens(for: clientID)
      firstRefreshToken = response["refresh_token"].text ?? ""
      try home.must(
        ["add-account", "--type", "peer", "--username", "ann", "--response", "-"],
        input: response.source)
      try home.must(["grant", "--app", "1", "--perms", "read"])
    }

    let proxy: Peer?

    func renew() throws -> Running.Ended { try home.run(["renew", "peer:ann", "--json"]) }

    func token() throws -> String {
      String(try home.must(["token", "--app", "1", "--perms", "read"]).output.dropLast())
    }

    /// Whether the token that the vault hands out is good at the server.
    func isGood() throws -> Bool {
      try Curl.send(
        peer.endpoint("resource"), headers: ["Authorization: Bearer \(token())"]
      ).status == 200
    }
  }

  @Test(arguments: [Peer.Kind.glewlwyd, .toolkit])
  func `takes the new tokens, and the old one is spent`(_ kind: Peer.Kind) throws {
    let ground = try Ground(kind)
    let old = try ground.token()
    for generation in 2...3 {
      let ended = try ground.renew()
      try #require(ended.status == 0, "\(ended.errors)")
      #expect(try ended.json()["outcome"].text == "renewed")
      #expect(try ended.json()["generation"].number == generation)
      #expect(try ground.home.credential(of: "peer:ann")["state"].text == "valid")
      #expect(try ground.isGood())
    }
    #expect(try ground.token() != old)
    #expect(
      try ground.peer.refresh(ground.firstRefreshToken, for: ground.clientID).status == 400)
    // Which the server took for theft, and ended the family.
    let refused = try ground.renew()
    #expect(refused.status == 82, "\(refused)")
    #expect(try refused.json()["outcome"].text == "rejected", "\(refused)")
    #expect(try ground.home.credential(of: "peer:ann")["state"].text == "rejected")
    #expect(try ground.home.run(["token", "--app", "1", "--perms", "read"]).status == 82)
    #expect(try ground.home.events(of: "peer:ann").suffix(2).contains("rejected"))
  }

  @Test(arguments: [Peer.Kind.glewlwyd, .toolkit])
  func `is rejected after the person took everything back at the site`(
    _ kind: Peer.Kind
  ) throws {
    let ground = try Ground(kind)
    let members = kind == .glewlwyd ? ["server": "plain"] : [:]
    #expect(try ground.peer.ask("end_everything", members)["ended"].number ?? 0 >= 1)
    let refused = try ground.renew()
    #expect(refused.status == 82, "\(refused)")
    #expect(try refused.json()["class"].text == "invalid", "\(refused)")
  }

  @Test func `is one request for each generation, whoever asks and in how many processes`() throws {
    let ground = try Ground(.toolkit)
    for _ in 0..<3 {
      let all = try (0..<20).map { _ in
        try ground.home.start(["renew", "peer:ann", "--json"], seconds: 120)
      }
      for one in all {
        let ended = try one.end()
        #expect(ended.status == 0, "\(ended)")
      }
    }
    let generation = try #require(
      try ground.home.credential(of: "peer:ann")["generation"].number)
    let sent = try ground.peer.ask("log").list.filter { $0["grant"].text == "refresh_token" }
    #expect(sent.count == generation - 1)
    #expect(sent.allSatisfy { $0["status"].number == 200 })
    #expect(generation >= 4)
    let tokens = try ground.peer.ask("refresh_tokens").list
    #expect(tokens.count == generation)
    #expect(tokens.filter { $0["live"].bool == true }.count == 1)
    #expect(tokens.last?["live"].bool == true)
    #expect(try ground.isGood())
  }

  @Test func `whose request never arrived is done by the next try`() throws {
    let ground = try Ground(.toolkit, behind: true)
    try ground.proxy?.ask("next", ["faults": [["kind": "refuse"]]])
    let cut = try ground.renew()
    #expect(cut.status == 75, "\(cut)")
    let next = try ground.renew()
    #expect(next.status == 0, "\(next)")
    #expect(try next.json()["outcome"].text == "renewed")
    #expect(try ground.isGood())
  }

  @Test(arguments: [0, 120])
  func `whose answer was lost is settled by one try, and says what was lost`(
    _ bytes: Int
  ) throws {
    let ground = try Ground(.toolkit, behind: true)
    try ground.proxy?.ask("next", ["faults": [["kind": "cut", "after": bytes]]])
    let cut = try ground.renew()
    #expect(cut.status == 75, "\(cut)")
    #expect(try ground.home.credential(of: "peer:ann")["state"].text == "uncertain")
    // The server has rotated: the old refresh token is spent, and nobody has the new one.
    let settled = try ground.renew()
    #expect(settled.status == 82, "\(settled)")
    #expect(try settled.json()["outcome"].text == "rejected")
    let sent = try ground.peer.ask("log").list.filter { $0["grant"].text == "refresh_token" }
    #expect(sent.map { $0["status"].number } == [200, 400])
    // Nothing goes on by itself from there.
    #expect(try ground.home.must(["renew", "--json"]).output == "")
    #expect(
      try ground.peer.ask("log").list.filter { $0["grant"].text == "refresh_token" }.count == 2)
  }

  @Test func `whose process was killed while the answer was on its way is settled too`() throws {
    let ground = try Ground(.toolkit, behind: true)
    try ground.proxy?.ask("next", ["faults": [["kind": "hold"]]])
    let renewing = try ground.home.start(["renew", "peer:ann", "--json"])
    #expect(try ground.proxy?.ask("held")["held"].bool == true)
    renewing.kill()
    // It was written down before it was sent.
    #expect(try ground.home.events(of: "peer:ann").last == "renewal_started")
    #expect(try ground.home.credential(of: "peer:ann")["state"].text == "uncertain")
    try ground.proxy?.ask("release")
    let settled = try ground.renew()
    #expect(settled.status == 82, "\(settled)")
    #expect(try settled.json()["outcome"].text == "rejected")
    let sent = try ground.peer.ask("log").list.filter { $0["grant"].text == "refresh_token" }
    #expect(sent.map { $0["status"].number } == [200, 400])
  }
}
