internal import HTTPTypes
internal import Synchronization

typealias TransferResult = Result<HTTPResponse, HTTPFailure>

/// How a transfer ends: exactly once, by whoever comes first of its reply, its failure and the
/// cancellation of its task.
final class Outcome: Sendable {
  private enum State {
    /// Nobody waits yet.
    case new
    /// Ended before anybody waited.
    case ended(TransferResult)
    case waiting(CheckedContinuation<TransferResult, Never>)
    case told
  }

  private struct Record {
    var state = State.new
    /// Whether the request has begun to be written to a connection.
    var sent = false
  }

  private let record = Mutex(Record())

  /// Takes the one continuation, or resumes it where the end was before it.
  func wait(_ continuation: CheckedContinuation<TransferResult, Never>) {
    let result: TransferResult? = record.withLock { record in
      guard case .ended(let result) = record.state else {
        record.state = .waiting(continuation)
        return nil
      }
      record.state = .told
      return result
    }
    if let result { continuation.resume(returning: result) }
  }

  /// The first call counts. Both the task and the thread may call it.
  ///
  /// - Parameter result: Given whether the request may have been sent.
  func end(_ result: (_ sent: Bool) -> TransferResult) {
    let told: (CheckedContinuation<TransferResult, Never>, TransferResult)? = record.withLock {
      record in
      switch record.state {
      case .new:
        record.state = .ended(result(record.sent))
        return nil
      case .waiting(let continuation):
        record.state = .told
        return (continuation, result(record.sent))
      case .ended, .told: return nil
      }
    }
    if let told { told.0.resume(returning: told.1) }
  }

  func cancel(host: String) {
    end { sent in
      .failure(HTTPFailure(.cancelled, "\(host): cancelled", mayHaveBeenSent: sent))
    }
  }

  var hasEnded: Bool {
    record.withLock { record in
      switch record.state {
      case .new, .waiting: false
      case .ended, .told: true
      }
    }
  }

  /// Asked at the last moment before the request is written, so that ``HTTPFailure/mayHaveBeenSent``
  /// holds: after an end nothing is sent any more.
  ///
  /// - Parameter isSafe: Whether the request may be sent a second time. libcurl does that of itself
  ///   where a kept connection turns out to be dead; the server may have read the first, and a refresh
  ///   token that arrives twice ends the sign-in (RFC 9700 section 4.14).
  func mayBeSent(isSafe: Bool) -> Bool {
    record.withLock { record in
      switch record.state {
      case .new, .waiting:
        if record.sent, !isSafe { return false }
        record.sent = true
        return true
      case .ended, .told: return false
      }
    }
  }
}
