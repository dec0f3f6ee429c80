import Testing

@testable import Command

@Suite struct `The history` {
  @Test func `of an account that was removed is found by every form of its name`() throws {
    let vault = try ScratchVault.filled()
    let id = try #require(
      try vault.must("show-account facebook:lestat.ali").output.split(separator: "\n").first?
        .split(separator: " ").last.map(String.init))
    let before = try vault.must("history --account lestat.ali --json").output
    #expect(try vault.run("remove-account lestat.ali").status == .tryAgain)
    for name in [id, String(id.prefix(8)), "facebook:lestat.ali", "lestat.ali"] {
      let after = try vault.must("history --account \(name) --json").output
      #expect(after.hasPrefix(before))
      #expect(after.contains("account_removed"))
    }
    #expect(try vault.run("history --account facebook:nobody").status == .notFound)
  }

  @Test func `of two removed accounts of one name must be told which`() throws {
    let vault = try ScratchVault.filled()
    // Its provider was not told: nothing is sent from within a test.
    #expect(try vault.run("remove-account facebook:lestat.ali").status == .tryAgain)
    try vault.must("add-account --type facebook --username lestat.ali")
    try vault.must("remove-account facebook:lestat.ali")
    let ended = try vault.run("history --account facebook:lestat.ali")
    #expect(ended.status == .ambiguous)
    #expect(ended.hint == "vault history --account ID")
    #expect(ended.error.split(separator: "\n").count == 4)
  }

  @Test func `of an app that was removed is there, and of one that never was is not found`() throws
  {
    let vault = try ScratchVault.filled()
    try vault.must("remove-app 123")
    #expect(try vault.must("history --app 123").output.contains("app_removed"))
    #expect(try vault.run("history --app 124").status == .notFound)
  }

  @Test func `is limited to the newest that fit`() throws {
    let vault = try ScratchVault.filled()
    let all = try vault.must("history --app 123 --json").output.split(separator: "\n")
    let two = try vault.must("history --app 123 --json --limit 2").output.split(separator: "\n")
    #expect(Array(two) == Array(all.suffix(2)))
  }
}
