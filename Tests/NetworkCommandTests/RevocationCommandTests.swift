import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

/// A vault with one account of a provider of this machine.
private struct Place {
  let directory: TemporaryDirectory
  let vault: String
  let server: ScriptedServer
  /// What the provider answers to a revocation.
  let status = Status()

  final class Status: Sendable {
    private let code = Mutex(200)
    var value: Int {
      get { code.withLock { $0 } }
      set { code.withLock { $0 = newValue } }
    }
  }

  init() throws {
    directory = try TemporaryDirectory()
    vault = try directory.newVault()
    let status = status
    server = try ScriptedServer { request, _ in
      guard request.path == "/revoke" else { return .text("", status: 404) }
      guard status.value != 503 else {
        return HTTPServer.Response(503, headers: [("Retry-After", "1")], body: [])
      }
      return .text("", status: status.value)
    }
    let definition = try directory.text(
      "own.json",
      """
      {"id":"own","name":"Own","protocol":"oauth2","revocation":"rfc7009","endpoints":{\
      "authorize":"\(server.url)/authorize","token":"\(server.url)/token",\
      "revoke":"\(server.url)/revoke"},"api_hosts":["127.0.0.1"],\
      "permissions":{"profile":{"group":"read","basic":true}}}
      """)
    let response = try directory.text(
      "response",
      #"{"access_token":"CANARY-at","token_type":"bearer","expires_in":86400,"refresh_token":"CANARY-rt"}"#
    )
    #expect(try run("add-provider", definition).status == 0)
    #expect(try run("add-client", "--type", "own", "--client-id", "client-1").status == 0)
    let added = try run(
      "add-account", "--type", "own", "--username", "lestat", "--response", response)
    #expect(added.status == 0, "\(added.error)")
  }

  var environment: [String: String] {
    [
      "VAULT_FILE": vault, "VAULT_PASSPHRASE_FILE": directory("passphrase"),
      "XDG_STATE_HOME": directory("state"), "PATH": "/usr/bin:/bin",
    ]
  }

  func run(_ arguments: String...) throws -> Executables.Ended {
    try Executables.run(Executables.vault, arguments, environment: environment)
  }

  /// Runs a command until it does not end as `busy` does: a try is due when its time has come.
  func run(_ arguments: [String], until isDone: () -> Bool) throws -> Executables.Ended {
    let limit = ContinuousClock.now + .seconds(120)
    while true {
      let ended = try Executables.run(Executables.vault, arguments, environment: environment)
      if isDone() || ContinuousClock.now > limit { return ended }
    }
  }

  func revoked() -> [String?] {
    server.requests.filter { $0.path == "/revoke" }.map { $0.field("token") }
  }
}

@Suite struct `A removed account's tokens` {
  @Test func `are taken back at the provider by remove-account`() throws {
    let place = try Place()
    let removed = try place.run("remove-account", "own:lestat")
    #expect(removed.status == 0, "\(removed.error)")
    #expect(place.revoked() == ["CANARY-rt", "CANARY-at"])
    #expect(removed.error.contains("Own was told: its tokens are over there too"))
    #expect(!(removed.output + removed.error).contains("CANARY"))
    let history = try place.run("history", "--event", "revocation_sent", "--json")
    #expect(history.output.contains(#""cause":"account_removed""#), "\(history.output)")
    // There is nothing left to tell.
    let renewed = try place.run("renew")
    #expect(renewed.status == 0, "\(renewed.error)")
    #expect(place.revoked().count == 2)
    #expect(try place.run("verify").status == 0)
  }

  @Test func `wait in the vault while the provider is down, and renew sends them later`() throws {
    let place = try Place()
    place.status.value = 503
    let removed = try place.run("remove-account", "own:lestat")
    #expect(removed.status == 75)
    #expect(removed.error.contains("account own:lestat is removed here, but Own was not told yet"))
    #expect(removed.error.contains("vault renew"))
    #expect(try place.run("show-account", "own:lestat").status == 66)
    // A token is tried again when its time has come, and what is not due is no failure.
    place.status.value = 200
    let tried = place.revoked().count
    let renewed = try place.run(["renew"]) { place.revoked().count > tried }
    #expect(renewed.status == 0, "\(renewed.error)")
    #expect(place.revoked().suffix(2) == ["CANARY-rt", "CANARY-at"])
    #expect(
      try place.run("history", "--event", "revocation_sent", "--json").output
        .contains(#""event":"revocation_sent""#))
  }

  @Test func `leave renew with 75 where the provider is still down`() throws {
    let place = try Place()
    place.status.value = 503
    #expect(try place.run("remove-account", "own:lestat").status == 75)
    let tried = place.revoked().count
    let renewed = try place.run(["renew"]) { place.revoked().count > tried }
    #expect(renewed.status == 75)
    #expect(renewed.output.isEmpty)
    #expect(renewed.error.contains("own:lestat: not told yet (Own: transient); next try at "))
    #expect(!renewed.error.contains("CANARY"))
  }

  @Test func `are not sent by a run that only says what it would do`() throws {
    let place = try Place()
    place.status.value = 503
    #expect(try place.run("remove-account", "own:lestat").status == 75)
    place.status.value = 200
    let tried = place.revoked().count
    #expect(try place.run("renew", "--dry-run").status == 0)
    #expect(place.revoked().count == tried)
  }

  @Test func `are sent by an engine that goes on, which then ends in order`() throws {
    let place = try Place()
    place.status.value = 503
    #expect(try place.run("remove-account", "own:lestat").status == 75)
    place.status.value = 200
    let tried = place.revoked().count
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Executables.vault)
    process.arguments = ["renew", "--watch"]
    process.environment = place.environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let limit = ContinuousClock.now + .seconds(120)
    while place.revoked().count < tried + 2, ContinuousClock.now < limit { usleep(20_000) }
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(place.revoked().suffix(2) == ["CANARY-rt", "CANARY-at"])
  }
}
