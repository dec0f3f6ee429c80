import Foundation
import TestSupport
import Testing

/// The programs in Examples, each run as it is against a real agent and a provider of this machine.
@Suite(.ownThreads, .timeLimit(.minutes(20))) struct `An example of an app` {
  static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples")

  /// What the programs print that ask all there is to ask, but for the last lines.
  static let lines = [
    "app bot", "account own lestat", "permission profile granted", "ask pending",
    "token of \(SendPlace.token.utf8.count) bytes",
  ]
  static let lastLines = ["upload 201", "error never_asked"]

  private func compare(_ output: String, signature: String) {
    let lines = output.split(separator: "\n").map(String.init)
    let events = lines.filter { $0.hasPrefix("event ") }
    #expect(
      lines.filter { !$0.hasPrefix("event ") }
        == Self.lines + [signature, #"answer 200 {"name":"Lestat"}"#] + Self.lastLines, "\(output)")
    #expect(events.first == "event app_added ")
    #expect(events.contains("event access_requested post"))
    #expect(events.contains("event token_used profile"))
    #expect(events.last == "event granted post")
    #expect(!output.contains(SendPlace.token))
  }

  @Test func `in Python asks all there is to ask`() throws {
    let app = try AppPlace()
    try app.agent.start()
    try app.writeFiles(in: app.agent.directory.path)
    let output = try app.run(
      "/usr/bin/python3",
      [
        Self.examples.appending(path: "python/app.py").path, try app.agent.socket("apps"),
        app("app.key"), app.api, app("picture"),
      ])
    compare(output, signature: "signature ['Authorization']")
  }

  @Test func `in a shell with curl asks all there is to ask`() throws {
    let app = try AppPlace()
    try app.agent.start()
    try app.writeFiles(in: app.agent.directory.path)
    let output = try app.run(
      "/bin/bash",
      [
        Self.examples.appending(path: "curl/app.sh").path, try app.agent.socket("apps"),
        app("app.header"), app.api, app("picture"),
      ])
    let lines = output.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasPrefix(#"{"id":"bot","name":"App bot""#) })
    #expect(lines.contains { $0.hasPrefix(#"{"accounts":[{"id":""#) })
    #expect(lines.contains { $0.contains(#""permission":"profile""#) })
    #expect(lines.contains { $0.contains(#""decision":"pending""#) })
    #expect(lines.contains { $0.hasPrefix(#"{"token":"\#(SendPlace.token)""#) })
    #expect(
      lines.contains {
        $0.contains(#"{"name":"Authorization","value":"Bearer \#(SendPlace.token)"}"#)
      })
    #expect(lines.contains(#"{"name":"Lestat"}"#))
    #expect(lines.contains("event access_requested") && lines.contains("event granted"))
    #expect(lines.last == #"{"photo":1}"#, "\(output)")
  }

  @Test func `in Swift is built by itself, links no libsodium and no SQLite, and asks all`() throws
  {
    let app = try AppPlace()
    try app.agent.start()
    try app.writeFiles(in: app.agent.directory.path)
    let root = Self.examples.deletingLastPathComponent().path
    let scratch = root + "/.build/examples-client"
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    // Sockets that other tests make set the umask for a moment, which a child would inherit.
    let built = try AgentHome.run(
      "/usr/bin/perl",
      [
        "-e", "umask 022; exec @ARGV; exit 127", "/usr/bin/env", "swift", "build",
        "--package-path", root + "/Examples/AppClient", "--scratch-path", scratch,
      ], ["HOME": app.agent.directory.path, "PATH": path])
    try #require(built.status == 0, "\(built.text)")
    let program = scratch + "/debug/AppClient"
    let libraries = try AgentHome.run("/usr/bin/ldd", [program], ["PATH": path])
    #expect(libraries.status == 0 && libraries.text.contains("libc.so"))
    let symbols = try AgentHome.run("/usr/bin/nm", [program], ["PATH": path])
    #expect(symbols.status == 0 && symbols.text.contains("AccountVaultClient"))
    for name in ["sodium", "sqlite", "libcurl", "libcrypto", "microhttpd"] {
      #expect(!libraries.text.lowercased().contains(name), "\(libraries.text)")
      #expect(!symbols.text.lowercased().contains(name), "\(name)")
    }
    let output = try app.run(
      program, [app.api],
      environment: [
        "VAULT_APPS_SOCKET": try app.agent.socket("apps"), "VAULT_APP_KEY_FILE": app("app.header"),
      ])
    compare(output, signature: #"signature ["Authorization"]"#)
  }
}
