internal import Glibc
package import HTTPTypes

/// How much a client does at once.
package struct HTTPCapacity: Sendable {
  /// Transfers at once; more wait in their order.
  package var transfers = 64
  /// Connections to one host at once. With HTTP/2 one carries up to a hundred transfers.
  package var connectionsPerHost = 8

  package init() {}

  /// For transfers that wait for readers and writers, each on a connection of its own: one that stands
  /// still must keep no place from the others.
  package static func waiting(_ count: Int) -> HTTPCapacity {
    var capacity = HTTPCapacity()
    capacity.transfers = count
    capacity.connectionsPerHost = count
    return capacity
  }
}

/// Sends requests by libcurl, all of them on one thread of its own, which starts with the first request
/// and ends with this object. Connections are kept and shared.
///
/// HTTPS only, but for servers on this machine; no redirects, no cookies, no credentials from files.
/// `Documentation/Decisions/0011-libcurl.md` tells what is set and why.
package final class HTTPClient: Transport {
  let loop: TransferLoop
  private let settings: TransferSettings

  /// - Parameters:
  ///   - version: Of the product, for `User-Agent`.
  ///   - environment: Where the proxy and the certificates of authorities are found.
  ///   - capacity: How much it does at once.
  package init(
    version: String, environment: HTTPEnvironment = .process,
    capacity: HTTPCapacity = HTTPCapacity()
  ) {
    settings = TransferSettings(userAgent: "AccountVault/\(version)", environment: environment)
    loop = TransferLoop(capacity)
  }

  deinit {
    loop.stop()
  }

  /// Where the task is cancelled, the receiver may still be in the middle of a call when this returns;
  /// no further call begins.
  package func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    let transfer = try Transfer(request, receiver, settings) { [loop] in loop.resume($0) }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.outcome.wait(continuation)
        loop.submit(transfer)
      }
    } onCancel: {
      transfer.outcome.cancel(host: transfer.target.host)
      loop.abandon(transfer)
    }
    return try result.get()
  }
}
