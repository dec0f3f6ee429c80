import AccountVault
import Foundation
import Listener
import TestSupport
import Testing

@Suite struct `A client that shows itself by a signed statement` {
  /// The claims of a compact JWS, unproven.
  private func claims(_ jws: String?) throws -> [String: Any] {
    var part = try #require(jws).split(separator: ".")[1].replacing("-", with: "+")
      .replacing("_", with: "/")
    while part.count % 4 != 0 { part += "=" }
    let data = try #require(Data(base64Encoded: String(part)))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test func `signs a new one for each look-up and revocation, and never shows its key`()
    async throws
  {
    let provider = try TestProvider(
      "x", more: #","client_auth":"private_key_jwt","introspection":"rfc7662""#
    ) { request, _ in
      request.path == "/introspect" ? .json(#"{"active":true,"client_id":"c1"}"#) : .text("")
    }
    let place = try Place()
    let session = try place.create()
    try provider.add(to: session)
    let path = place.directory("key.pem")
    try run(
      "/usr/bin/openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
      "-out", path)
    let pem = try String(contentsOfFile: path, encoding: .utf8)
    _ = try session.addClient(type: provider.type, clientID: "c1", secret: .text(pem))
    let account = try session.account(
      provider.type, token: "A1", more: #","refresh_token":"R1""#)
    let looked = try await session.introspect(account, clientID: "c1", over: place.network())
    #expect(looked.standing == .active)
    _ = try session.remove(account)
    let sent = try await session.sendRevocations(over: place.network())
    #expect(sent.map(\.state) == [.sent])
    let requests = provider.server.requests
    #expect(requests.map(\.path) == ["/introspect", "/revoke", "/revoke"])
    let statements = try requests.map { request in
      #expect(request.header("Authorization") == nil)
      #expect(request.field("client_secret") == nil)
      return try claims(request.field("client_assertion"))
    }
    #expect(statements.allSatisfy { $0["aud"] as? String == provider.server.url + "/token" })
    #expect(statements.allSatisfy { $0["iss"] as? String == "c1" })
    #expect(Set(statements.compactMap { $0["jti"] as? String }).count == 3)
    let line = try #require(pem.split(separator: "\n").dropFirst().first)
    #expect(!requests.contains { String(decoding: $0.body, as: UTF8.self).contains(line) })
  }
}
