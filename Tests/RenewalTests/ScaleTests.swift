import AccountVault
import Foundation
import HTTPTypes
import SQLite
import Testing
import Time

/// What is due among many: the others cost nothing.
@Suite struct ScaleTests {
  private static let count = 20_000
  private static let due = 1_000

  /// Answers as a token endpoint, and keeps nothing of what was sent.
  private struct Endpoint: Transport {
    func send(
      _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
    ) async throws(HTTPFailure) -> HTTPResponse {
      HTTPResponse(
        status: 200, headers: [("Content-Type", "application/json")],
        body: .text(#"{"access_token":"B","expires_in":3600,"refresh_token":"S"}"#))
    }
  }

  /// The rows of those that are not due are damaged, so that whoever reads one fails.
  @Test func `a thousand due of twenty thousand are found and renewed without reading the others`()
    async throws
  {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addOwn()
      try session.together { () throws(VaultError) in
        for number in 0..<Self.count {
          let life = number % (Self.count / Self.due) == 7 ? 3_600 : 864_000
          _ = try session.addAccount(
            NewAccount(type: "own", username: "a\(number)"),
            credential: .response(
              .text(
                #"{"access_token":"A","token_type":"bearer","expires_in":\#(life),"refresh_token":"R"}"#
              )))
        }
      }
      try session.flush()
    }
    place.clock.advance(3_500)
    let later = place.clock.now.seconds / 3600 + 24
    do {
      let file = try Connection.open(place.path, .readWrite)
      try file.execute(
        "UPDATE renewal SET overview = zeroblob(length(overview)) WHERE due > \(later)")
      try file.close()
    }
    // Whoever walks all of them meets the damage.
    let whole = try place.open()
    #expect(throws: VaultError.self) { try whole.plannedRenewals(RenewalScope()) { _ in } }

    // In a process of its own, whose peak is nobody else's.
    await #expect(processExitsWith: .success) {
      [
        path = place.path as String, heads = place.directory("state/vault") as String,
        seconds = place.clock.now.seconds as Int64
      ] in
      let clock = SetClock(seconds)
      var options = Vault.UnlockOptions()
      options.headDirectory = heads
      options.clock = clock.clock
      let session = try Vault.open(at: path).unlock(with: .keyFile(.key()), options: options)
      let before = try #require(peakKibibytes())
      #expect(try await session.dueCount() == Self.due)
      let network = Network(
        transport: Endpoint(), signatures: .libcrypto, clock: clock.clock, wait: clock.wait,
        random: SetRandom().next)
      let summary = try await session.renewDue(over: network)
      #expect(summary.renewed == Self.due)
      #expect(try await session.dueCount() == 0)
      // The caches of the tree and of SQLite fill up, and that is all.
      let growth = try #require(peakKibibytes()) - before
      #expect(growth < 16 << 10, "\(growth) KiB")
    }
  }
}

/// The most memory that this process ever had in use, in KiB.
private func peakKibibytes() -> Int? {
  let handle = FileHandle(forReadingAtPath: "/proc/self/status")
  let status = String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap {
    Int($0)
  }
}
