package import AccountVault
package import Faults
internal import Synchronization

/// What the agent has counted since it began. ``OwnerService`` shows it as text for Prometheus.
///
/// A counter's labels are of a set that is known beforehand: no text from outside, no name, no secret.
package final class Metrics: Sendable {
  /// Which socket.
  package enum Door: String, Hashable, Sendable {
    case owner
    case apps
  }

  /// What an app was given.
  package enum HandOut: String, Hashable, Sendable, CaseIterable {
    case token
    case signature
    case request
  }

  package enum Counter: Hashable, Sendable {
    /// A request that was answered. The server counts it; a service does not.
    case request(Door, path: String, status: Int)
    /// A connection that was let in, or not.
    case connection(Door, isAdmitted: Bool)
    /// An app was given something.
    case handOut(HandOut)
    /// An app was refused, with the error's code.
    case refusal(VaultError.Code)
    /// A renewal ended so.
    case renewal(Renewal.Outcome)
    /// A provider was told that a token is over, and it ended so.
    case revocation(RevocationOutcome.State)
    /// A hook could not be run, or failed.
    case hookFailure
    /// The renewal engine met what concerns no provider, and begins again.
    case engineFailure
  }

  private let counts = Mutex<[Counter: UInt64]>([:])

  package init() {}

  /// Counts one more.
  package func count(_ counter: Counter) {
    counts.withLock { $0[counter, default: 0] += 1 }
  }

  /// All that was counted.
  package var all: [Counter: UInt64] { counts.withLock { $0 } }

  /// All paths that a request is counted under; others are one, so that nobody fills the memory.
  private static let paths: Set<String> = [
    "/v1/status", "/v1/lock", "/v1/unlock", "/v1/metrics", "/v1/run", "/v1/key", "/v1/openapi.json",
    "/v1/app", "/v1/accounts", "/v1/access", "/v1/token", "/v1/sign", "/v1/request", "/v1/events",
  ]
  private static let methods: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
  ]

  static func known(_ path: String) -> String { paths.contains(path) ? path : "other" }

  static func known(method: String) -> String { methods.contains(method) ? method : "other" }
}
