import Foundation
import HTTP
import HTTPTypes
import Sodium
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A secure connection` {
  let server: Server

  init() throws { server = try Server() }

  /// A request whose every secret is a word that nothing else holds.
  private func request(_ url: String) -> HTTPRequest {
    var request = HTTPRequest(
      "POST", url, secretHeaders: [("Authorization", SharedSecret("Bearer canary"))],
      body: .bytes(SharedSecret("code=canary"), contentType: "application/x-www-form-urlencoded"))
    request.secretQuery = SharedSecret("access_token=canary")
    return request
  }

  @Test func `to a server with the right certificate carries the request`() async throws {
    let client = server.client()
    for host in ["localhost", "127.0.0.1"] {
      let echo = try Echo(await client.send(request(server.secure("/echo", host: host))))
      #expect(echo.body == "code=canary")
    }
  }

  @Test(arguments: [
    ("old", "none from 1.2 on"), ("wronghost", "for another host"), ("expired", "has expired"),
    ("selfsigned", "signed by itself"),
  ])
  func `to a server that is not the one is none, and nothing is sent`(
    _ port: String, _ text: String
  ) async throws {
    let failure = try await end(
      of: server.client(), request(server.secure("/echo?open=canary", port)))
    #expect(failure.kind == .tls)
    #expect(!failure.mayHaveBeenSent)
    #expect(failure.text.hasPrefix("localhost: "))
    #expect(failure.text.contains(text))
    #expect(!failure.text.contains("canary"))
    let seen = try await server.seen(port)
    #expect(seen.connections > 0 && seen.requests.isEmpty && seen.bytes == 0)
  }

  @Test func `needs an authority that is known`() async throws {
    let directory = try TemporaryDirectory()
    let clients = [
      // The machine's own authorities, and a directory without any.
      HTTPClient(version: "0", environment: HTTPEnvironment { _ in nil }),
      server.client(["SSL_CERT_FILE": "", "SSL_CERT_DIR": directory.path]),
    ]
    for client in clients {
      let failure = try await end(of: client, request(server.secure("/echo")))
      #expect(failure.kind == .tls)
      #expect(failure.text.contains("authority that this machine does not know"))
    }
    #expect(try await server.seen("secure").bytes == 0)
  }

  @Test func `takes authorities from a bundle and from a directory`() async throws {
    let bundle = server.client(
      ["SSL_CERT_FILE": "/nonexistent", "CURL_CA_BUNDLE": server.certificates.authority])
    #expect(try await bundle.send(request(server.secure("/echo"))).status == 200)
    let directory = try TemporaryDirectory()
    try FileManager.default.copyItem(
      atPath: server.certificates.authority, toPath: directory("ca.pem"))
    try run("/usr/bin/openssl", "rehash", directory.path)
    let hashed = server.client(["SSL_CERT_FILE": "", "SSL_CERT_DIR": directory.path])
    #expect(try await hashed.send(request(server.secure("/echo"))).status == 200)
  }

  @Test func `says when the authorities cannot be read`() async throws {
    let client = server.client(["SSL_CERT_FILE": "/nonexistent"])
    let failure = try await end(of: client, request(server.secure("/echo")))
    #expect(failure.kind == .tls)
    #expect(failure.text.contains("cannot be read"))
  }

  @Test func `is none with a server of plain HTTP`() async throws {
    let failure = try await end(of: server.client(), request(server.secure("/echo", "plain")))
    #expect(failure.kind == .tls)
    #expect(!failure.mayHaveBeenSent)
    #expect(try await server.seen("plain").requests.isEmpty)
  }

  @Test func `that does not stand in time is given up`() async throws {
    var request = request(server.secure("/echo", "hold"))
    request.limits.connect = 200
    let failure = try await end(of: server.client(), request)
    #expect(failure.kind == .timeout)
    #expect(!failure.mayHaveBeenSent)
  }
}

@Suite(.timeLimit(.minutes(2))) struct `A proxy` {
  let server: Server
  var proxy: String { "http://127.0.0.1:\(server.ports["proxy"] ?? 0)" }

  init() throws { server = try Server() }

  private func request(_ host: String) -> HTTPRequest {
    HTTPRequest(
      "GET", server.secure("/echo", host: host),
      secretHeaders: [("Authorization", SharedSecret("Bearer canary"))])
  }

  @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
  func `from the environment carries requests and sees none of them`(_ name: String) async throws {
    let client = server.client([name: proxy])
    let reply = try await client.send(request("provider.test"))
    // Its own headers are not the reply's.
    #expect(reply.header("X-Proxy") == nil)
    #expect(try Echo(reply).values("Authorization") == ["Bearer canary"])
    let seen = try await server.seen("proxy")
    #expect(seen.requests.count == 1)
    #expect(seen.requests[0].hasPrefix("CONNECT provider.test:"))
    #expect(!seen.requests[0].contains("canary"))
  }

  @Test func `is not used for the hosts that the environment says`() async throws {
    for rule in ["provider.test", ".test", "*", "other.example, provider.test"] {
      let client = server.client(["https_proxy": proxy, "no_proxy": rule])
      // A name that nobody knows: without the proxy there is no way.
      let failure = try await end(of: client, request("provider.test"))
      #expect(failure.kind == .resolve)
      #expect(!failure.mayHaveBeenSent)
    }
    #expect(try await server.seen("proxy").connections == 0)
  }

  @Test func `is not used for this machine`() async throws {
    let client = server.client(["https_proxy": proxy, "http_proxy": proxy, "all_proxy": proxy])
    #expect(try await client.send(request("localhost")).status == 200)
    #expect(try await client.send(HTTPRequest("GET", server.plain("/echo"))).status == 200)
    #expect(try await server.seen("proxy").connections == 0)
  }

  @Test func `that refuses is told`() async throws {
    let client = server.client(["https_proxy": proxy])
    let failure = try await end(of: client, request("refused.test"))
    #expect(failure.kind == .connect)
    #expect(failure.text.contains("403"))
    #expect(!failure.mayHaveBeenSent)
  }

  @Test func `that is not there is told without its password`() async throws {
    let client = server.client(["https_proxy": "http://user:canary@proxy.invalid:1"])
    let failure = try await end(of: client, request("provider.test"))
    #expect(failure.kind == .resolve)
    #expect(!failure.text.contains("canary"))
  }

  @Test func `of the process's environment is not read behind our back`() async throws {
    // Whatever this process has, a client without an environment uses none of it.
    setenv("https_proxy", proxy, 1)
    defer { unsetenv("https_proxy") }
    let failure = try await end(of: server.client(), request("provider.test"))
    #expect(failure.kind == .resolve)
    #expect(HTTPEnvironment.process.proxy == proxy)
    #expect(try await server.seen("proxy").connections == 0)
  }
}
