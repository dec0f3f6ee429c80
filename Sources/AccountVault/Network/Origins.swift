package import HTTPTypes
import Providers
import Synchronization
import Time

/// What servers told about themselves: how far their clocks are from ours, and the nonce that the next
/// DPoP proof must carry. By origin, for a nonce is good at the server that gave it alone (RFC 9449
/// section 8.2). Kept in memory only: both are told anew by the next reply.
package final class Origins: Sendable {
  private struct Origin {
    var offset: Int64 = 0
    var nonce: String?
  }

  private let known = Mutex<[String: Origin]>([:])

  package init() {}

  /// Seconds that the server's clock is ahead of ours; 0 where it is not known or not worth it.
  package func offset(of origin: String) -> Int64 { known.withLock { $0[origin]?.offset ?? 0 } }

  package func nonce(of origin: String) -> String? { known.withLock { $0[origin]?.nonce } }

  /// Takes in a reply's `Date` and `DPoP-Nonce`.
  ///
  /// An offset counts from 5 seconds on: less is the way's delay. A server without a nonce in its
  /// reply leaves the known one in force.
  ///
  /// - Parameters:
  ///   - sent: Our clock before the request; the reply's own second lies between it and `received`.
  package func note(
    _ response: HTTPResponse, from origin: String, sent: Timestamp, received: Timestamp
  ) {
    let nonce = response.header("DPoP-Nonce")
    let date = response.header("Date").flatMap { HTTPDate.parse($0, now: received) }
    known.withLock { known in
      var entry = known[origin] ?? Origin()
      if let nonce, !nonce.isEmpty, nonce.utf8.count <= 1024,
        nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      {
        entry.nonce = nonce
      }
      if let date {
        let offset =
          date < sent
          ? date.seconds - sent.seconds
          : date > received ? date.seconds - received.seconds : 0
        entry.offset = abs(offset) < 5 ? 0 : offset
      }
      if known.count >= 4096, known[origin] == nil { known.removeAll() }
      known[origin] = entry
    }
  }
}
