import Foundation
import TestSupport
import Testing

/// What the other tests stand on: that the peers are there, that they are strict, and that they go.
@Suite(.serialized) struct `The ground of the peers` {
  @Test(arguments: Peer.Kind.allCases)
  func `is left as it was when a peer ends`(_ kind: Peer.Kind) throws {
    let directory = try TemporaryDirectory()
    let peer =
      try kind == .proxy
      ? Peer(kind, "9", place: directory.path) : Peer(kind, place: directory.path)
    #expect(try kind == .proxy || !directory.names().isEmpty || kind == .oauth1 || kind == .mock)
    let children = try descendants(of: peer.processIdentifier)
    #expect(kind != .glewlwyd || !children.isEmpty)
    peer.stop()
    #expect(try directory.names() == [])
    for child in children { #expect(Glibc.kill(child, 0) == -1) }
  }

  @Test func `keeps no server alive when the one that started it was killed`() throws {
    let directory = try TemporaryDirectory()
    let peer = try Peer(.glewlwyd, place: directory.path)
    let children = try descendants(of: peer.processIdentifier)
    try #require(!children.isEmpty)
    Glibc.kill(peer.processIdentifier, SIGKILL)
    peer.stop()
    let end = ContinuousClock.now + .seconds(20)
    while children.contains(where: { Glibc.kill($0, 0) == 0 && !isZombie($0) }) {
      try #require(ContinuousClock.now < end, "\(children) live on")
      usleep(20_000)
    }
  }

  @Test func `has login pages that a browser gets through, and codes that are good once`() throws {
    for kind in [Peer.Kind.glewlwyd, .toolkit] {
      let peer = try Peer(kind)
      // The toolkit takes any port.
      let redirect = try peer.told()["redirects"][0].text?
        .replacing("127.0.0.1/", with: "127.0.0.1:1/")
      let form: KeyValuePairs = [
        "response_type": "code", "client_id": "public", "redirect_uri": redirect ?? "",
        "scope": "read%20write", "state": "s",
        // RFC 7636 appendix B.
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
      ]
      let query = form.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
      let authorize = try peer.endpoint("authorize") + "?" + query
      let said = try Browser(at: peer).open(authorize)
      #expect(said["outcome"].text == "redirected", "\(said)")
      let code = URLComponents(string: said["address"].text ?? "")?.queryItems?
        .first { $0.name == "code" }?.value
      func exchange() throws -> Curl.Reply {
        try Curl.send(
          peer.endpoint("token"),
          form: [
            "grant_type": "authorization_code", "client_id": "public",
            "code": code ?? "", "redirect_uri": redirect ?? "",
            "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
          ])
      }
      let first = try exchange()
      try #require(first.status == 200, "\(kind): \(first)")
      let token = try first.json()["access_token"].text ?? ""
      let resource = try Curl.send(
        peer.endpoint("resource"), headers: ["Authorization: Bearer \(token)"])
      #expect(resource.status == 200, "\(kind): \(resource)")
      #expect(try exchange().status != 200, "\(kind)")
    }
  }

  @Test func `ends a whole family where a refresh token is used twice`() throws {
    for (kind, id) in [(Peer.Kind.glewlwyd, "confidential"), (.toolkit, "direct")] {
      let peer = try Peer(kind)
      let first = try peer.tokens(for: id)
      func refresh(_ token: String?) throws -> Curl.Reply {
        try peer.refresh(token ?? "", for: id)
      }
      let second = try refresh(first["refresh_token"].text)
      try #require(second.status == 200, "\(kind): \(second)")
      #expect(try refresh(first["refresh_token"].text).status == 400, "\(kind)")
      #expect(try refresh(second.json()["refresh_token"].text).status == 400, "\(kind)")
    }
  }

  @Test func `loses answers that the server gave`() throws {
    let peer = try Peer(.toolkit)
    let proxy = try Peer(.proxy, String(peer.port))
    let metadata = proxy.address + "/.well-known/oauth-authorization-server/o"
    try proxy.ask(
      "next",
      [
        "faults": [
          ["kind": "cut", "after": 0], ["kind": "cut", "after": 100], ["kind": "refuse"],
        ]
      ])
    for _ in 0..<3 { #expect(throws: Running.Failed.self) { try Curl.send(metadata) } }
    #expect(try Curl.send(metadata).status == 200)
    let log = try proxy.ask("log").list
    #expect(log.map { $0["to_client"].number }.prefix(3) == [0, 100, 0])
    #expect(log.map { $0["answered"].bool } == [true, true, false, true])
    let asked = try peer.ask("log").list.filter { $0["status"].number == 200 }
    #expect(asked.count == 3)
  }

  /// Processes below one, by /proc.
  private func descendants(of parent: Int32) throws -> [Int32] {
    let file = "/proc/\(parent)/task/\(parent)/children"
    return try String(contentsOfFile: file, encoding: .utf8)
      .split(separator: " ").compactMap { Int32($0) }
  }

  private func isZombie(_ process: Int32) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    return status?.contains("State:\tZ") ?? true
  }
}
