import Foundation
import Testing

/// What servers of others hand out, taken as it came.
@Suite(.serialized) struct `A response of a server` {
  @Test func `is taken, told, and handed out while it lives`() throws {
    for (kind, id) in [(Peer.Kind.glewlwyd, "confidential"), (.toolkit, "direct")] {
      let peer = try Peer(kind)
      let home = try VaultHome([peer.definition("peer")])
      try home.add(peer.client(id), of: "peer")
      let response = try peer.tokens(for: id)
      try home.must(
        ["add-account", "--type", "peer", "--username", "ann", "--response", "-"],
        input: response.source)
      let credential = try home.credential(of: "peer:ann")
      #expect(credential["state"].text == "valid", "\(kind): \(credential)")
      #expect(credential["scopes"].texts.sorted() == ["read", "write"])
      #expect(credential["expires_at"].text != nil)
      try home.must(["grant", "--app", "1", "--perms", "read"])
      let token = try home.must(["token", "--app", "1", "--perms", "read"]).output
      #expect(token == (response["access_token"].text ?? "") + "\n")
      let read = try Curl.send(
        peer.endpoint("resource"),
        headers: ["Authorization: Bearer \(token.dropLast())"])
      #expect(read.status == 200, "\(kind): \(read)")
    }
  }
}
