import AccountVault
import AccountVaultNetwork
import Faults
import FileSystem
import Glibc
import HTTP
import Time

/// Everything that is due in a vault of `vault-bench due`, renewed with all that is written of it.
struct Renewing {
  /// The folder with the vault and its key.
  let directory: String
  /// The token endpoint.
  let url: String
  /// The file with the certificate that the server's is checked with.
  let authority: String
  /// How many rounds went before: each is 3,500 s after the one before, when what that one renewed, for
  /// an hour, is due again.
  let round: Int64

  /// Not all that was due was renewed.
  struct Incomplete: Error { let summary: RenewalSummary }

  func run() async throws {
    let time = Timestamp(seconds: 1_800_000_000 + 3_500 * (round + 1))
    let clock = Clock(now: { time }, sinceBoot: Clock.system.sinceBoot)
    var key = try Files.openExisting(directory + "/vault.key", write: false).readAll(maximum: 32)
    var options = Vault.UnlockOptions()
    options.clock = clock
    let session = try Vault.open(at: directory + "/accounts.vault").unlock(
      with: .keyFile(Secret(wiping: &key)), options: options)
    // The same definition at the place where the server listens now.
    try session.addProvider(
      """
      {"id":"bench","name":"Bench","extends":"x","endpoints":{"token":"\(url)"},
       "api_hosts":["api.example"],"client_auth":"post",
       "renewal":{"method":"refresh_token","margin_seconds":600,"rotation":"optional"}}
      """)
    let authority = authority
    var network = Network.system(version: "bench")
    network.transport = HTTPClient(
      version: "bench",
      environment: HTTPEnvironment { $0 == "SSL_CERT_FILE" ? authority : nil })
    network.clock = clock
    let before = Self.peakKibibytes
    let timing = Timing()
    let summary = try await session.renewDue(over: network)
    guard summary.renewed > 0, summary.renewed + summary.notDue == summary.all else {
      throw Incomplete(summary: summary)
    }
    timing.tell("renewals", count: summary.renewed)
    Swift.print("renewed \(summary.renewed) credentials")
    Swift.print("growth \(Self.peakKibibytes - before) KiB")
  }

  /// The most memory that this process ever had in use.
  private static var peakKibibytes: Int {
    var usage = rusage()
    // The kernel writes into our own variable.
    _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss
  }
}

extension RenewalSummary {
  fileprivate var all: Int { renewed + rejected + failed + notDue }
}
