import Foundation
import TestSupport
import Testing

/// `vault request` to things that servers of others protect.
@Suite(.serialized) struct `A request to a server of others` {
  func home(_ peer: Peer, _ id: String, _ response: String) throws -> VaultHome {
    let home = try VaultHome([peer.definition("peer")])
    try home.add(peer.client(id), of: "peer")
    try home.must(
      ["add-account", "--type", "peer", "--username", "ann", "--response", "-"], input: response)
    try home.must(["grant", "--app", "1", "--perms", "read"])
    try home.must(["grant", "--app", "1", "--perms", "write"])
    return home
  }

  @Test func `carries the token to glewlwyd and to the toolkit`() throws {
    for (kind, id) in [(Peer.Kind.glewlwyd, "confidential"), (.toolkit, "direct")] {
      let peer = try Peer(kind)
      let home = try home(peer, id, peer.tokens(for: id).source)
      let read = try home.run(["request", "--app", "1", "GET", peer.endpoint("resource")])
      try #require(read.status == 0, "\(kind): \(read)")
      let name = kind == .glewlwyd ? "sub" : "username"
      #expect(try JSONReply(whole: read.output)[name].text != nil, "\(read)")
      if kind == .toolkit {
        let written = try home.run([
          "request", "--app", "1", "POST", peer.address + "/things", "-d", "text=100% ä&=+*~",
        ])
        #expect(try JSONReply(whole: written.output)["text"].text == "100% ä&=+*~", "\(written)")
      }
    }
  }

  @Test func `is signed so that oauthlib takes it, also with a form and odd characters`() throws {
    let peer = try Peer(.oauth1)
    let client = try peer.client("first-client")
    let person = try peer.person()
    let signed = Signed(peer: peer, client: client)
    let given = try signed.xAuth(person.name, person.password)
    let home = try home(peer, client.id, given.body)
    let url = try peer.endpoint("resource") + "?b=%20%2B%2A%C3%A4&a=2&a=1&e="
    let read = try home.run(["request", "--app", "1", "GET", url])
    try #require(read.status == 0, "\(read)")
    #expect(try JSONReply(whole: read.output)["signed_with"].text == "HMAC-SHA1")
    let written = try home.run([
      "request", "--app", "1", "POST", url, "-d", "text=100% ä&=+*~", "-d", "text=", "-d", "z=%20",
    ])
    try #require(written.status == 0, "\(written)")
    let form = try JSONReply(whole: written.output)["form"].list.map(\.texts)
    #expect(form == [["text", "100% ä&=+*~"], ["text", ""], ["z", "%20"]])
    // Taken back at the site: it is told, and no token is left to try with.
    try peer.ask("end_everything")
    #expect(try home.run(["request", "--app", "1", "GET", url]).status == 82)
  }

  @Test func `is renewed for once where the server says that the token ran out`() throws {
    let peer = try Peer(.toolkit, "--token-seconds", "3600")
    let response = try peer.tokens(for: "direct")
    let home = try home(peer, "direct", response.source)
    try peer.ask("expire")
    let read = try home.run(["request", "--app", "1", "GET", peer.endpoint("resource")])
    #expect(read.status == 0, "\(read)")
    #expect(try home.credential(of: "peer:ann")["generation"].number == 2)
  }
}
