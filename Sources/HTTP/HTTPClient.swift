internal import Glibc
package import HTTPTypes

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
  package init(version: String, environment: HTTPEnvironment = .process) {
    settings = TransferSettings(userAgent: "AccountVault/\(version)", environment: environment)
    loop = TransferLoop()
  }

  deinit {
    loop.stop()
  }

  /// Where the task is cancelled, the receiver may still be in the middle of a call when this returns;
  /// no further call begins.
  package func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    let transfer = try Transfer(request, receiver, settings)
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
