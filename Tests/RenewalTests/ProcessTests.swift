import AccountVault
import Foundation
import Ledger
import Listener
import Synchronization
import TestSupport
import Testing
import Time

/// The shipped command against a server that rotates: many at once, and killed at every step.
@Suite(.serialized) struct ProcessTests {
  /// A vault with one account, a server that rotates, and the command as it is run.
  private struct Stage {
    let place: Place
    let provider: RotatingProvider
    let server: ScriptedServer

    init(hasGrace: Bool = false) throws {
      let provider = RotatingProvider(hasGrace: hasGrace)
      self.provider = provider
      server = try ScriptedServer { request, _ in
        let (body, status) = provider.answer(request.field("refresh_token") ?? "")
        return .json(body, status: status)
      }
      place = try Place(SetClock(Clock.system.now().seconds))
      let session = try place.create()
      try session.addOwn(token: server.url + "/token")
      try session.addAccount()
      try session.flush()
      try Data(repeating: 7, count: 32).write(to: URL(filePath: place.directory("key")))
      chmod(place.directory("key"), 0o600)
    }

    /// Starts `vault-agent`.
    func start(_ arguments: [String], _ more: [String: String] = [:]) throws -> (Process, Pipe) {
      let process = Process()
      process.executableURL = Bundle.main.bundleURL.appendingPathComponent("vault-agent")
      process.arguments =
        arguments + ["--vault", place.path, "--key-file", place.directory("key"), "--json"]
      process.environment = [
        "HOME": place.directory.path, "XDG_STATE_HOME": place.directory("state"),
        "XDG_CONFIG_HOME": place.directory("config"), "PATH": "/usr/bin:/bin",
      ].merging(more) { _, new in new }
      process.standardInput = FileHandle.nullDevice
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      try process.run()
      return (process, output)
    }

    @discardableResult
    func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> (
      status: Int32, text: String
    ) {
      let (process, output) = try start(arguments, more)
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      let isSignal = process.terminationReason == .uncaughtSignal
      return (
        isSignal ? -process.terminationStatus : process.terminationStatus,
        String(decoding: data, as: UTF8.self)
      )
    }

    func session() throws -> Session {
      var options = place.unlocking
      options.clock = .system
      return try Vault.open(at: place.path).unlock(with: .keyFile(.key()), options: options)
    }

    func credential() throws -> Credential {
      let session = try session()
      return try session.credential(of: try session.account("own:lestat"))
    }
  }

  private static let isThorough =
    ProcessInfo.processInfo.environment["VAULT_THOROUGH"] != nil

  /// B01: one request for each generation, and no family revoked.
  @Test func `processes that renew at once send one request for each generation`() throws {
    let stage = try Stage()
    let (processes, rounds) = Self.isThorough ? (20, 50) : (8, 3)
    for _ in 0..<rounds {
      var started: [(Process, Pipe)] = []
      for _ in 0..<processes { started.append(try stage.start(["renew", "own:lestat"])) }
      for (process, output) in started {
        let text = String(
          decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        #expect(text.contains(#""outcome":"renewed""#), "\(text)")
      }
    }
    #expect(!stage.provider.isRevoked)
    #expect(stage.provider.uses.values.allSatisfy { $0 == 1 })
    let credential = try stage.credential()
    #expect(Int(credential.generation) == stage.provider.uses.count + 1)
    let session = try stage.session()
    #expect(try session.entries(.renewed).count == stage.provider.uses.count)
    _ = try session.verify()
  }

  /// B05: each point has its one end.
  @Test(arguments: [
    ("locked", "R1", Int32(0)), ("intent-uncommitted", "R1", 0), ("intent-committed", "R1", 0),
    ("answered", "R1", 82), ("outcome-uncommitted", "R1", 82), ("outcome-committed", "R2", 0),
  ])
  func `a kill at every step leaves what is told`(point: String, token: String, exit: Int32)
    throws
  {
    let stage = try Stage()
    let killed = try stage.run(["renew", "own:lestat"], ["VAULT_STOP_AT": point])
    #expect(killed.status == -9, "\(killed.text)")
    let again = try stage.run(["renew", "own:lestat"])
    #expect(again.status == exit, "\(again.text)")
    #expect(stage.server.requests.last?.field("refresh_token") == token)
    let session = try stage.session()
    let account = try session.account("own:lestat")
    if exit == 0 {
      #expect(try session.state(of: account) == .valid)
      #expect(!stage.provider.isRevoked)
      #expect(stage.provider.uses.values.allSatisfy { $0 == 1 })
    } else {
      #expect(try session.state(of: account) == .rejected)
      let rejected = try #require(try session.entries(.rejected).last)
      #expect(rejected.reason == "a renewal that was cut off lost the refresh token")
    }
    if point == "intent-committed" || exit != 0 {
      let second = try session.entries(.renewalStarted).last
      #expect(second?.reason == "the previous attempt was interrupted")
    }
    _ = try session.verify()
  }

  /// A storm of kills at whatever moment: what the server still honours is never lost.
  @Test func `kills at random moments lose nothing that the provider honours`() throws {
    let stage = try Stage(hasGrace: true)
    for _ in 0..<(Self.isThorough ? 200 : 6) {
      let (process, _) = try stage.start(["renew", "own:lestat"])
      Thread.sleep(forTimeInterval: Double.random(in: 0.005...0.25))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    let last = try stage.run(["renew", "own:lestat"])
    #expect(last.status == 0, "\(last.text)")
    #expect(!stage.provider.isRevoked)
    let session = try stage.session()
    #expect(try session.state(of: try session.account("own:lestat")) == .valid)
    _ = try session.verify()
  }

  @Test func `the command says what it did, and its exit ranks it`() throws {
    let stage = try Stage()
    let dry = try stage.run(["renew", "--within", "2h", "--dry-run"])
    #expect(dry.status == 0)
    #expect(dry.text.contains(#""outcome":null"#), "\(dry.text)")
    #expect(stage.server.requests.isEmpty)
    let nothing = try stage.run(["renew"])
    #expect(nothing.status == 0)
    #expect(nothing.text.isEmpty)
    let within = try stage.run(["renew", "--within", "2h"])
    #expect(within.text.contains(#""outcome":"renewed""#), "\(within.text)")
    #expect(within.text.contains(#""generation":2"#))
    stage.server.stop()
    let down = try stage.run(["renew", "own:lestat"])
    #expect(down.status == 75, "\(down.text)")
    #expect(down.text.contains(#""class":"transient""#))
    #expect(try stage.run(["renew", "own:nobody"]).status == 66)
    #expect(try stage.run(["renew", "--all", "--within", "1h"]).status == 64)
  }

  @Test func `hooks are told, and one that hangs or fails changes nothing`() throws {
    let stage = try Stage()
    let folder = stage.place.directory("config/vault/hooks")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let told = stage.place.directory("told")
    let hook = "\(folder)/renewed"
    try "#!/bin/sh\ncat >>'\(told)'\nexit 3\n".write(
      toFile: hook, atomically: true, encoding: .utf8)
    chmod(hook, 0o700)
    let renewed = try stage.run(["renew", "own:lestat"])
    #expect(renewed.status == 0)
    #expect(renewed.text.contains("exit status 3"))
    let line = try String(contentsOfFile: told, encoding: .utf8)
    #expect(line.contains(#""outcome":"renewed""#))
    #expect(!line.contains("A2") && !line.contains("R2"))
    chmod(hook, 0o722)
    let refused = try stage.run(["renew", "own:lestat"])
    #expect(refused.status == 0)
    #expect(refused.text.contains("not run"))
    #expect(try String(contentsOfFile: told, encoding: .utf8) == line)
  }

  @Test func `watching renews what becomes due, and a signal ends it with a summary`() throws {
    let stage = try Stage()
    let session = try stage.session()
    _ = try session.addAccount(
      NewAccount(type: "own", username: "second", userID: "2"),
      credential: .response(
        .text(#"{"access_token":"X","token_type":"bearer","expires_in":1,"refresh_token":"R1"}"#)))
    try session.flush()
    let (process, output) = try stage.start(["renew", "--watch"])
    let end = Date().addingTimeInterval(60)
    while stage.server.requests.isEmpty, Date() < end { Thread.sleep(forTimeInterval: 0.05) }
    let account = try session.account("own:second")
    while try session.credential(of: account).generation < 2, Date() < end {
      Thread.sleep(forTimeInterval: 0.05)
    }
    kill(process.processIdentifier, SIGTERM)
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    #expect(text.contains("1 renewed, 0 rejected, 0 failed"), "\(text)")
  }

  @Test func `an expired token is renewed before it is handed out`() throws {
    let stage = try Stage()
    let session = try stage.session()
    _ = try session.addAccount(
      NewAccount(type: "own", username: "lestat", userID: "id-lestat"),
      credential: .response(
        .text(#"{"access_token":"OLD","token_type":"bearer","expires_in":0,"refresh_token":"R1"}"#)
      ))
    _ = try session.grant(Decision(app: "123", permissions: ["tweet.read"], account: "own:lestat"))
    try session.flush()
    func token(_ options: String...) throws -> (status: Int32, text: String) {
      let process = Process()
      process.executableURL = Bundle.main.bundleURL.appendingPathComponent("vault")
      process.arguments =
        ["token", "--app", "123", "--vault", stage.place.path, "--key-file"]
        + [stage.place.directory("key")] + options
      process.environment = [
        "HOME": stage.place.directory.path, "XDG_STATE_HOME": stage.place.directory("state"),
        "PATH": "/usr/bin:/bin",
      ]
      process.standardInput = FileHandle.nullDevice
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
    let refused = try token("--no-renew")
    #expect(refused.status == 75)
    #expect(refused.text.isEmpty)
    #expect(stage.server.requests.isEmpty)
    let renewed = try token()
    #expect(renewed.status == 0)
    #expect(renewed.text == "A2\n")
    #expect(try token().text == "A2\n")
    #expect(stage.server.requests.count == 1)
    // Renewed before its end where that is asked for, but not twice in a minute.
    #expect(try token("--renew").text == "A2\n")
    #expect(stage.server.requests.count == 1)
  }
}
