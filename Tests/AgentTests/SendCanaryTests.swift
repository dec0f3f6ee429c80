import Foundation
import Listener
import TestSupport
import Testing
import UnixSocket

/// Providers that say the token again.
@Suite(.timeLimit(.minutes(5))) struct `The token of a request that the agent sends` {
  static let token = "canary+token/with=all&of%it|0123456789"
  static let encoded = "canary%2Btoken%2Fwith%3Dall%26of%25it%7C0123456789"
  static let escaped = #"canary+token\/with=all&of%it|0123456789"#

  @Test(arguments: [1, 7, 38, 4096])
  func `is in no byte on the app's socket, wherever the provider puts it`(_ size: Int) throws {
    let body =
      "{\"next\":\"https://api.test/?access_token=\(Self.encoded)&a=b\",\"raw\":\"\(Self.token)\","
      + "\"json\":\"\(Self.escaped)\",\"part\":\"canary+token\",\"twice\":"
      + "\"\(Self.token)\(Self.token)\"}canary+tok"
    let provider = try StreamProvider { call in
      let isRight = call.headers["authorization"] == "Bearer \(Self.token)"
      let status = call.target == "/refused" ? "400 Bad Request" : "200 OK"
      call.write(
        "HTTP/1.1 \(isRight ? status : "500 No")\r\n"
          + "Content-Type: \(call.target == "/json" ? "application/json" : "text/own")\r\n"
          + "Location: https://api.test/?token=\(Self.encoded)&b=\(Self.token)\r\n"
          + "X-Echo: Bearer \(Self.token)\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
      // So that it is cut in every place.
      var rest = Array(body.utf8)[...]
      while !rest.isEmpty {
        call.write(rest.prefix(size))
        rest = rest.dropFirst(size)
        if size < 38 { usleep(200) }
      }
      return true
    }
    let place = try SendPlace(hosts: ["127.0.0.1:\(provider.port)"], token: Self.token)
    try place.agent.start()
    let cover = { (text: String) in
      text.replacingOccurrences(
        of: Self.encoded, with: String(repeating: "*", count: Self.encoded.utf8.count)
      ).replacingOccurrences(
        of: Self.escaped, with: String(repeating: "*", count: Self.escaped.utf8.count)
      ).replacingOccurrences(
        of: Self.token, with: String(repeating: "*", count: Self.token.utf8.count))
    }
    for path in ["/json", "/other", "/refused"] {
      let reply = try place.send("GET", provider.url + path)
      #expect(reply.status == (path == "/refused" ? 400 : 200))
      #expect(reply.body == cover(body))
      #expect(reply.header("x-echo") == "Bearer " + cover(Self.token))
      #expect(
        reply.header("location")
          == "https://api.test/?token=\(cover(Self.encoded))&b=\(cover(Self.token))")
    }
    let bytes = String(decoding: place.agent.received.withLock { $0 }, as: UTF8.self)
    for canary in [Self.token, Self.encoded, Self.escaped, SendPlace.refresh, "client-secret-0"] {
      #expect(!bytes.contains(canary))
      #expect(!place.agent.log.contains(canary))
    }
  }
}
