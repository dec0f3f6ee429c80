import AccountVault
import Foundation
import Testing

extension Tag {
  /// Takes tens of seconds.
  @Tag static var slow: Self
}

@Suite struct `A vault of 100,000 accounts` {
  static let count = 100_000

  @Test(.tags(.slow))
  func `opens, hands out a token and verifies with memory that is not of its size`() async throws {
    let small = try Place()
    let large = try Place()
    try small.build(100)
    try large.build(Self.count)
    try await measure(small)
    try await measure(large)
    let few = try peak(small)
    let many = try peak(large)
    // KiB. The caches of the tree and of SQLite fill up, and that is all.
    #expect(many - few < 24 << 10, "\(few) KiB for 100 accounts, \(many) KiB for 100,000")
  }

  private func peak(_ place: Place) throws -> Int {
    let text = try String(contentsOfFile: place.directory("peak"), encoding: .utf8)
    return try #require(Int(text))
  }

  private func measure(_ place: Place) async throws {
    await #expect(processExitsWith: .success) {
      [
        path = place.path as String, heads = place.heads as String,
        result = place.directory("peak") as String
      ] in
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = SetClock().clock
      let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      #expect(try session.tokenText(account: "user-7") == "EAA-token")
      #expect(try session.verify().anchored)
      let peak = try #require(kibibytes("VmHWM"))
      try String(peak).write(toFile: result, atomically: true, encoding: .utf8)
    }
  }
}

extension Place {
  fileprivate func build(_ count: Int) throws {
    let session = try create()
    try session.inOneTransaction { () throws(VaultError) in
      for number in 0..<count {
        _ = try session.addAccount(
          NewAccount(type: "facebook", username: "user-\(number)"),
          credential: number == 7 ? .bearer(.text("EAA-token")) : .none)
      }
    }
    _ = try session.grant(Decision(app: "123", permissions: ["email"], account: "user-7"))
    try session.flush()
  }
}
