import Foundation
import TestSupport
import Testing

/// What curl has the agent send to things that servers of others protect.
@Suite(.serialized) struct `A request by the agent to a server of others` {
  @Test func `is signed so that oauthlib takes it, its form exactly as it came`() throws {
    let peer = try Peer(.oauth1)
    let client = try peer.client("first-client")
    let person = try peer.person()
    let given = try Signed(peer: peer, client: client).xAuth(person.name, person.password)
    let home = try VaultHome([peer.definition("peer")])
    try home.add(client, of: "peer")
    try home.must(
      ["add-account", "--type", "peer", "--username", "ann", "--response", "-"],
      input: given.body)
    let key = try #require(
      home.must(["add-app", "1", "--name", "One", "--sign-only", "--json"]).json()["key"].text)
    for permission in ["read", "write"] {
      try home.must(["grant", "--app", "1", "--perms", permission])
    }
    try FileManager.default.createDirectory(
      atPath: home.directory("run"), withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    home.environment["XDG_RUNTIME_DIR"] = home.directory("run")
    let socket = home.directory("apps.sock")
    let agent = try home.start(["agent", "--apps-socket", socket])
    defer { agent.kill() }
    _ = try agent.waiting(for: "a socket") { _ in
      FileManager.default.fileExists(atPath: socket) ? true : nil
    }
    let url = try peer.endpoint("resource") + "?b=%20%2B%2A%C3%A4&a=2&a=1&e="
    func send(_ arguments: [String]) throws -> String {
      let ended = try Running(
        "/usr/bin/curl",
        [
          "-sS", "--fail-with-body", "--unix-socket", socket, "-H", "Authorization: Bearer \(key)",
          "-H", "Vault-URL: \(url)", "http://vault/v1/request",
        ] + arguments,
        environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
      ).end()
      try #require(ended.status == 0, "\(ended)")
      return ended.output
    }
    #expect(try JSONReply(whole: send([]))["signed_with"].text == "HMAC-SHA1")
    for type in ["", "; charset=UTF-8"] {
      let written = try send([
        "-H", "Content-Type: application/x-www-form-urlencoded\(type)", "--data-raw",
        "text=100%25+%c3%a4%26%3d%2B*~&text=&z=%2520&z",
      ])
      let form = try JSONReply(whole: written)["form"].list.map(\.texts)
      #expect(
        form == [["text", "100% ä&=+*~"], ["text", ""], ["z", "%20"], ["z", ""]], "\(written)")
    }
    // What is no form is not in the signature, and comes as it is.
    let other = try send(["-X", "PUT", "-H", "Content-Type: text/plain", "--data-raw", "a=b&c"])
    #expect(try JSONReply(whole: other)["method"].text == "PUT")
    let parts = try send(["-F", "media=@/usr/bin/env;type=application/octet-stream", "-F", "a=b"])
    #expect(try JSONReply(whole: parts)["method"].text == "POST")
  }
}
