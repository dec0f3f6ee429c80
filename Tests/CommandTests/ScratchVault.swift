import Foundation
import Testing

@testable import Command

/// A vault with a key file in a directory of its own.
final class ScratchVault {
  let directory: TemporaryDirectory
  var environment: [String: String]

  /// A response of Facebook's token endpoint.
  static let response =
    #"{"access_token":"EAAB0example0token","token_type":"bearer","expires_in":5183944}"#
  /// A response of Twitter's, OAuth 1.0a.
  static let response1 =
    "oauth_token=12-example&oauth_token_secret=example0secret&user_id=12&screen_name=lestat"

  init(_ options: String...) throws {
    directory = try TemporaryDirectory()
    environment = [
      "HOME": directory.path, "VAULT_FILE": directory("v/accounts.vault"),
      "VAULT_KEY_FILE": directory("key"),
    ]
    let made = try run(["init", "--key-file", directory("key"), "--no-recovery"] + options)
    try #require(made.status == .ok, "\(made.error)")
  }

  var path: String { directory("v/accounts.vault") }

  @discardableResult
  func run(_ arguments: [String], input: String = "") throws -> CommandRun {
    try CommandRun(arguments, environment: environment, input: input)
  }

  /// Runs what has no space within its words.
  @discardableResult
  func run(_ line: String, input: String = "") throws -> CommandRun {
    try run(line.split(separator: " ").map(String.init), input: input)
  }

  /// Runs what must work.
  @discardableResult
  func must(_ line: String, input: String = "") throws -> CommandRun {
    let ended = try run(line, input: input)
    try #require(ended.status == .ok, "\(line): \(ended.error)")
    return ended
  }

  /// With an account of Facebook, one of Twitter, and app 123 that holds something on both.
  static func filled() throws -> ScratchVault {
    let vault = try ScratchVault()
    try vault.must(
      "add-account --type facebook --username lestat.ali --response -", input: response)
    try vault.must("add-account --type twitter --response -", input: response1)
    try vault.must("grant --app 123 --perms publish_actions")
    try vault.must("grant --app 123 --perms write")
    return vault
  }
}
