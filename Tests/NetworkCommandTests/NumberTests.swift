import Foundation
import Listener
import Synchronization
import TestSupport
import Testing

/// A vault with an account at a server that speaks OAuth 1.0a and takes one number.
private struct Place {
  let directory: TemporaryDirectory
  let vault: String
  let server: ScriptedServer

  init() throws {
    directory = try TemporaryDirectory()
    vault = try directory.newVault()
    server = try ScriptedServer { request, _ in
      switch request.path {
      case "/request_token":
        return .form("oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true")
      case "/token":
        guard request.header("Authorization")?.contains("oauth_verifier=\"1234567\"") == true
        else {
          return .json(
            #"{"errors":[{"code":89,"message":"Invalid or expired token."}]}"#, status: 401)
        }
        return .form("oauth_token=7-CANARY&oauth_token_secret=as&user_id=7&screen_name=lestat")
      case "/userinfo":
        return .json(
          #"{"id_str":"7","screen_name":"lestat"}"#, headers: [("x-access-level", "read")])
      default: return .text("", status: 404)
      }
    }
    let addresses = ["request_token", "authorize", "token", "reverse_auth", "revoke", "userinfo"]
      .map { "\"\($0)\":\"\(server.url)/\($0)\"" }
    let definition = try directory.text(
      "own.json",
      """
      {"id":"own","name":"Own","extends":"twitter","endpoints":{\(addresses.joined(separator: ","))},\
      "api_hosts":["127.0.0.1"]}
      """)
    let secret = try directory.text("secret", "client-secret")
    try succeed("add-provider", definition)
    try succeed(
      "add-client", "--type", "own", "--client-id", "c", "--client-secret-stdin", input: secret)
    try succeed("add-account", "--type", "own", "--username", "lestat")
  }

  var environment: [String: String] {
    [
      "VAULT_FILE": vault, "VAULT_PASSPHRASE_FILE": directory("passphrase"),
      "XDG_STATE_HOME": directory("state"), "PATH": "/usr/bin:/bin", "HOME": directory.path,
      "TERM": "dumb",
    ]
  }

  @discardableResult
  func succeed(_ arguments: String..., input: String? = nil) throws -> String {
    let ended = try Executables.run(
      input == nil ? Executables.vault : "/bin/sh",
      input.map { ["-c", "input=$1; shift; exec \"$@\" <\"$input\"", "sh", $0, Executables.vault] }
        .map { $0 + arguments } ?? arguments, environment: environment)
    #expect(ended.status == 0, "\(ended.error)")
    return ended.output
  }

  func start(hasTerminal: Bool = true) throws -> TerminalRun {
    try TerminalRun(
      Executables.vault, ["sign-in", "own:lestat", "--pin", "--json"], environment: environment,
      hasTerminal: hasTerminal)
  }

  /// What a sign-in would change.
  func state() throws -> String {
    try succeed("show-account", "own:lestat", "--json") + succeed("history", "--json")
  }
}

@Suite(.timeLimit(.minutes(5))) struct `A number that a person types at a terminal` {
  private static let question = "The number that the page shows: "

  @Test func `signs the account in`() throws {
    let place = try Place()
    let run = try place.start()
    try run.wait(for: Self.question)
    #expect(run.screen.contains("  \(place.server.url)/authorize?oauth_token=rt\r\n"))
    try run.type("1234567\n")
    #expect(try run.end() == .exit(0), "\(run.screen)")
    #expect(run.screen.contains(#""user_id":"7""#))
    #expect(!run.screen.contains("CANARY"))
    let shown = try place.succeed("show-account", "own:lestat", "--json")
    #expect(shown.contains(#""generation":1"#))
    #expect(try place.succeed("history", "--event", "signed_in", "--json").contains("pin"))
  }

  @Test func `changes nothing where the server does not take it`() throws {
    let place = try Place()
    let before = try place.state()
    let run = try place.start()
    try run.wait(for: Self.question)
    try run.type("7654321\n")
    #expect(try run.end() == .exit(82), "\(run.screen)")
    #expect(run.screen.contains("vault: error: Own refused the exchange of the verifier"))
    #expect(place.server.requests.filter { $0.path == "/token" }.count == 1)
    #expect(try place.state() == before)
  }

  @Test func `changes nothing where the person ends the question`() throws {
    let place = try Place()
    let before = try place.state()
    // The key that interrupts, which the terminal makes a signal of, and the one that ends the input.
    for (key, ends) in [
      ("\u{3}", [TerminalRun.End.signal(SIGINT)]), ("\u{4}", [.exit(75), .exit(84)]),
    ] {
      let run = try place.start()
      try run.wait(for: Self.question)
      try run.type(key)
      let end = try run.end()
      #expect(ends.contains(end), "\(end) \(run.screen)")
    }
    #expect(!place.server.requests.contains { $0.path == "/token" })
    #expect(try place.state() == before)
  }

  @Test func `is not waited for where there is no terminal, and nothing is sent`() throws {
    let place = try Place()
    let before = try place.state()
    let run = try place.start(hasTerminal: false)
    // It ends by itself, long before the five minutes that a person has.
    #expect(try run.end() == .exit(84), "\(run.screen)")
    #expect(run.screen.contains("there is no terminal to type the provider's number at"))
    #expect(place.server.requests.isEmpty)
    #expect(try place.state() == before)
  }
}
