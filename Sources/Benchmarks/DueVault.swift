import AccountVault
import Accounts
import Faults
import Sodium
import Time

/// A vault of which some credentials are due: made at a set time, and looked at 3,500 s later. Those
/// lived for an hour and the others for ten years, so that each round of renewals an hour later finds
/// the same ones due.
struct DueVault {
  /// When the vault was made, in seconds since 1970.
  static let made: Int64 = 1_800_000_000
  /// What the clock shows when they are looked for.
  static let time = made + 3_500
  private static let type = "bench"

  private let vault: BenchVault

  init(_ vault: BenchVault) { self.vault = vault }

  private static func clock(_ seconds: Int64) -> Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.clock = Clock(
      now: { Timestamp(seconds: seconds) }, sinceBoot: Clock.system.sinceBoot)
    return options
  }

  /// Makes accounts `bench:user0000001` and up, the due ones spread evenly among them.
  func make(accounts: Int, due: Int) throws(VaultError) {
    let session = try vault.create(Self.clock(Self.made))
    // The endpoint is put in by the job that renews, which knows the server.
    try session.addProvider(
      """
      {"id":"bench","name":"Bench","extends":"x",
       "endpoints":{"token":"https://127.0.0.1:9/token"},"api_hosts":["api.example"],
       "client_auth":"post","renewal":{"method":"refresh_token","margin_seconds":600,
       "rotation":"optional"}}
      """)
    var secret = Array("0123456789abcdef0123456789abcdef".utf8)
    _ = try session.addClient(type: Self.type, clientID: "bench", secret: Secret(wiping: &secret))
    var next = 0
    while next < accounts {
      try session.together { () throws(VaultError) in
        for index in next..<min(next + 10_000, accounts) {
          // True for exactly `due` of all.
          let isDue = (index + 1) * due / accounts > index * due / accounts
          try add(index + 1, life: isDue ? 3_600 : 315_360_000, session)
        }
      }
      next += 10_000
    }
    try session.flush()
  }

  private func add(_ index: Int, life: Int, _ session: borrowing Session) throws(VaultError) {
    let name = BenchVault.name(index)
    let token = String(repeating: "0123456789", count: 10)
    var response = Array(
      (#"{"access_token":"\#(token)","token_type":"Bearer","expires_in":\#(life),"#
        + #""refresh_token":"\#(name)\#(token)"}"#).utf8)
    _ = try session.addAccount(
      NewAccount(type: Self.type, username: name),
      credential: .response(Secret(wiping: &response)))
  }

  /// Finds the due ones as the engine does, every row read and checked; warm, median of nine.
  func find() async throws(VaultError) {
    let session = try vault.unlock(Self.clock(Self.time))
    var count = try await session.dueCount()
    var times: [Double] = []
    for _ in 0..<9 {
      let time = Stopwatch()
      count = try await session.dueCount()
      times.append(time.processorSeconds * 1000)
    }
    times.sort()
    Figure.tell("due", Double(count), "credentials")
    Figure.tell("find", times[4], "cpu-ms")
  }
}
