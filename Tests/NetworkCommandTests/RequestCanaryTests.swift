import Foundation
import Listener
import TestSupport
import Testing

@Suite struct `The secrets of a request` {
  /// In the forms in which a filter for the text itself misses them.
  private static func forms(_ secret: String) -> [String] {
    let bytes = Array(secret.utf8)
    let hex = bytes.map { String(format: "%02x", $0) }.joined()
    var forms = [
      secret, hex, hex.uppercased(), bytes.map { String(format: "%%%02X", $0) }.joined(),
      bytes.map { String(format: "\\u%04x", $0) }.joined(),
    ]
    // Whatever stands before it: the middle is the same at each of three places.
    for shift in 0..<3 {
      let text = Data(Array(repeating: 0x41, count: shift) + bytes).base64EncodedString()
      forms.append(String(text.dropFirst(shift == 0 ? 0 : 4).dropLast(4)))
    }
    return forms
  }

  @Test(arguments: ["header", "query"])
  func `stand in no output, no message and no file, whatever happens`(_ tokenIn: String) throws {
    let secrets = ["atCANARYq7w8e9r0t1y2u3", "rtCANARYz1x2c3v4b5n6m7", "newCANARYp0o9i8u7y6t5r4"]
    let place = try RequestPlace(
      #""renewal":{"method":"refresh_token"},"token_in":"\#(tokenIn)""#,
      response:
        #"{"access_token":"\#(secrets[0])","token_type":"bearer","expires_in":86400,"refresh_token":"\#(secrets[1])"}"#
    )
    place.on("/ok", .json("{}"))
    place.on("/drop", .drop)
    place.on("/broken", .text("down", status: 500))
    place.on("/bad", .json(#"{"error":"bad"}"#, status: 400))
    place.on("/narrow", .json(#"{"error":"narrow"}"#, status: 403))
    place.on("/moved") { request in
      HTTPServer.Response(302, headers: [("Location", "/elsewhere?\(request.query ?? "")")])
    }
    place.on("/old") { request in
      (request.target + (request.header("Authorization") ?? "")).contains(secrets[2])
        ? .json(#"{"error":"gone"}"#, status: 400) : .json(#"{"error":"old"}"#, status: 400)
    }
    place.on(
      "/token",
      .json(
        #"{"access_token":"\#(secrets[2])","token_type":"bearer","expires_in":3600,"refresh_token":"\#(secrets[1])"}"#
      ))
    var said: [(String, String)] = []
    for path in ["/ok", "/drop", "/broken", "/bad", "/moved", "/old", "/ok"] {
      let ended = try place.request("--verbose", "--json", "GET", place.url(path), "-d", "a=b")
      said.append((path, ended.output + ended.error))
    }
    let closed = try place.request("GET", "http://127.0.0.1:9/")
    said.append(("other host", closed.output + closed.error))
    for command in [["history", "--json"], ["explain", "own:lestat"], ["renew", "--json"]] {
      let ended = try place.run(command + ["--verbose"])
      said.append((command[0], ended.output + ended.error))
    }
    // The token did go out, so there was something to find.
    let sent = place.requests.map { $0.target + ($0.header("Authorization") ?? "") }.joined()
    #expect(sent.contains(secrets[0]) && sent.contains(secrets[2]))
    for name in try place.directory.names() where name.hasPrefix("v.vault") {
      said.append((name, String(decoding: try place.bytes(name), as: Unicode.ASCII.self)))
    }
    #expect(said.count > 11)
    for secret in secrets + ["client-secret-0", "correct horse"] {
      for form in Self.forms(secret) {
        for (place, text) in said { #expect(!text.contains(form), "\(place): \(form)") }
      }
    }
  }
}
