import Foundation
import Testing

@testable import Command

/// What an older version wrote is opened by this one.
@Suite struct `An old vault` {
  private static func vault() throws -> ScratchVault {
    let vault = try ScratchVault()
    let kept = Snapshot.root.appendingPathComponent("Tests/OldFiles")
    for (name, copy) in [("v1.vault", "old.vault"), ("v1.key", "old.key")] {
      try vault.directory.file(
        copy, try Data(contentsOf: kept.appendingPathComponent(name)))
    }
    vault.environment["VAULT_FILE"] = vault.directory("old.vault")
    vault.environment["VAULT_KEY_FILE"] = vault.directory("old.key")
    return vault
  }

  @Test func `is verified whole`() throws {
    let verified = try Self.vault().must("verify --json").output
    #expect(verified.contains(#""state_matches":true"#))
  }

  @Test func `hands out its tokens`() throws {
    let vault = try Self.vault()
    #expect(
      try vault.must("token --app 123 --perms publish_actions").output == "EAAB0example0token\n")
    #expect(
      try vault.must("token --app 123 --perms write --json").output
        .contains(#""token_secret":"example0secret""#))
  }

  @Test func `has its accounts, apps, grants, asks and providers`() throws {
    let vault = try Self.vault()
    let accounts = try vault.must("accounts --json").output
    for username in ["lestat.ali", "lestat", "lestat.wu"] {
      #expect(accounts.contains("\"username\":\"\(username)\""))
    }
    #expect(accounts.split(separator: "\n").count == 4)
    #expect(accounts.contains("\"state\":\"stale\""))
    #expect(try vault.must("apps --json").output.split(separator: "\n").count == 4)
    #expect(try vault.must("clients").output.contains("Photo Bot at Facebook"))
    #expect(try vault.must("providers").output.contains("Our server"))
    #expect(try vault.run("token --app 123 --perms user_likes").status == .denied)
    #expect(try vault.run("token --app 124 --perms user_status").status == .revoked)
    #expect(try vault.run("token --app 123 --perms tweet.read").status == .revoked)
    #expect(try vault.must("access --app 126").output.contains("2099-12-31T00:00:00Z"))
  }

  @Test func `tells its history, over both branches`() throws {
    let history = try Self.vault().must("history --json").output
    for event in [
      "vault_created", "account_added", "account_renamed", "account_removed", "client_added",
      "app_added", "app_removed", "access_requested", "granted", "denied", "revoked", "token_used",
      "use_refused", "keys_changed", "restored", "provider_added",
    ] {
      #expect(history.contains("\"event\":\"\(event)\""), "\(event)")
    }
  }

  @Test func `takes changes`() throws {
    let vault = try Self.vault()
    try vault.must("grant --app 123 --perms user_likes --account facebook:lestat.ali")
    try vault.must("token --app 123 --perms user_likes")
    try vault.must("verify")
  }
}
