import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

@testable import Command

/// A vault with a provider of this machine, and a browser that is a script.
private struct Place {
  let directory: TemporaryDirectory
  let vault: String
  let server: ScriptedServer
  let user = Box("9")

  final class Box: Sendable {
    private let text: Mutex<String>
    init(_ text: String) { self.text = Mutex(text) }
    var value: String {
      get { text.withLock { $0 } }
      set { text.withLock { $0 = newValue } }
    }
  }

  init() throws {
    directory = try TemporaryDirectory()
    vault = try directory.newVault()
    let user = user
    server = try ScriptedServer { request, number in
      switch request.path {
      case "/authorize":
        return HTTPServer.Response(
          302,
          headers: [
            (
              "Location",
              (request.queryField("redirect_uri") ?? "") + "?code=c-1&state="
                + (request.queryField("state") ?? "")
            )
          ])
      case "/device":
        return .json(
          #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"http://127.0.0.1:1/device","expires_in":60,"interval":1}"#
        )
      case "/token":
        return .json(
          #"{"access_token":"CANARY-at-\#(number)","token_type":"bearer","expires_in":3600,"user_id":"\#(user.value)","screen_name":"lestat"}"#
        )
      default: return .text("", status: 404)
      }
    }
    let definition = try directory.text(
      "own.json",
      """
      {"id":"own","name":"Own","protocol":"oauth2","endpoints":{"authorize":"\(server.url)/authorize",\
      "token":"\(server.url)/token","device":"\(server.url)/device"},"api_hosts":["127.0.0.1"],\
      "permissions":{"profile":{"group":"read","basic":true},"post":{"group":"write"}}}
      """)
    #expect(try run("add-provider", definition).status == 0)
    #expect(try run("add-client", "--type", "own", "--client-id", "client-1").status == 0)
  }

  func browser(_ script: String = #"exec curl --silent --location --output /dev/null "$1""#) throws
    -> [String: String]
  {
    [
      "BROWSER": try directory.text("browser", "#!/bin/sh\n\(script)\n", mode: 0o700)
    ]
  }

  func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Executables.Ended
  {
    try Executables.run(
      Executables.vault, arguments, environment: all(environment))
  }

  func all(_ more: [String: String]) -> [String: String] {
    [
      "VAULT_FILE": vault, "VAULT_PASSPHRASE_FILE": directory("passphrase"),
      "XDG_STATE_HOME": directory("state"),
    ].merging(more) { $1 }
  }
}

@Suite struct `The command that signs in` {
  @Test func `opens the browser, prints the address, and shows the account`() throws {
    let place = try Place()
    let added = try place.run(
      "add-account", "--type", "own", "--sign-in", "--json", environment: place.browser())
    #expect(added.status == 0, "\(added.error)")
    #expect(added.output.contains(#""username":"lestat","user_id":"9""#))
    #expect(added.output.contains(#""generation":1"#))
    #expect(added.error.contains("Sign in at Own for client client-1."))
    #expect(added.error.contains("It asks for: profile"))
    #expect(
      added.error.contains("  \(place.server.url)/authorize?response_type=code&client_id=client-1"))
    let again = try place.run(
      "sign-in", "own:lestat", "--perms", "profile,post", "--json", environment: place.browser())
    #expect(again.status == 0, "\(again.error)")
    #expect(again.output.contains(#""generation":2"#))
    #expect(again.output.contains(#""scopes":["profile","post"]"#))
    #expect(again.error.contains("Sign in own:lestat at Own"))
    #expect(!(added.output + added.error + again.output + again.error).contains("CANARY"))
    #expect(try place.run("verify").status == 0)
  }

  @Test func `changes nothing where somebody else came back`() throws {
    let place = try Place()
    _ = try place.run("add-account", "--type", "own", "--sign-in", environment: place.browser())
    place.user.value = "200"
    let ended = try place.run("sign-in", "own:lestat", environment: place.browser())
    #expect(ended.status == 87)
    #expect(ended.error.contains("came back as user 200"))
    let shown = try place.run("show-account", "own:lestat", "--json")
    #expect(shown.output.contains(#""generation":1"#))
    let history = try place.run("history", "--event", "failed", "--json")
    #expect(history.output.contains("wrong user"))
  }

  @Test func `shows a code for another device`() throws {
    let place = try Place()
    let ended = try place.run("add-account", "--type", "own", "--sign-in=device", "--json")
    #expect(ended.status == 0, "\(ended.error)")
    #expect(ended.error.contains("Code: WDJB-MJHT"))
    #expect(ended.error.contains("http://127.0.0.1:1/device"))
  }

  @Test func `waits no longer than it was told`() throws {
    let place = try Place()
    _ = try place.run(
      "add-account", "--type", "own", "--username", "lestat")
    let ended = try place.run(
      "sign-in", "own:lestat", "--timeout", "1s", "--json", environment: ["BROWSER": "/bin/true"])
    #expect(ended.status == 75)
    #expect(ended.error.contains("nobody finished the sign-in within 1 seconds"))
    for wrong in ["0s", "6m", "soon"] {
      #expect(try place.run("sign-in", "own:lestat", "--timeout", wrong).status == 64)
    }
  }

  @Test func `asks for no number without a terminal`() throws {
    let place = try Place()
    _ = try place.run("add-account", "--type", "own", "--username", "lestat")
    let ended = try place.run("sign-in", "own:lestat", "--pin")
    #expect(ended.status == 64 || ended.status == 84)
    #expect(place.server.requests.isEmpty)
  }

  @Test func `ends in order at a signal, and says so`() throws {
    let place = try Place()
    _ = try place.run("add-account", "--type", "own", "--username", "lestat")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Executables.vault)
    process.arguments = ["sign-in", "own:lestat"]
    process.environment = place.all(["PATH": "/usr/bin:/bin", "BROWSER": "/bin/true"])
    let error = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = error
    try process.run()
    // It waits once it has said so.
    var text = ""
    while !text.contains("Waiting for at most") {
      let data = error.fileHandleForReading.availableData
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
    }
    kill(process.processIdentifier, SIGINT)
    process.waitUntilExit()
    text += String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.terminationStatus == 75)
    #expect(text.contains("interrupted"))
    #expect(
      try place.run("show-account", "own:lestat", "--json").output.contains(#""credentials":[]"#))
  }

  @Test func `says which way it would go where the way back is another machine's`() throws {
    let place = try Place()
    _ = try place.run("add-account", "--type", "own", "--username", "lestat")
    let ended = try place.run(
      "sign-in", "own:lestat", "--timeout", "1s",
      environment: ["SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"])
    #expect(ended.error.contains("ssh -L "))
    #expect(ended.error.contains("--device"))
  }
}
