import AccountVault
import Command
import HTTPTypes
import Time

extension Network {
  /// This network, whose requests to an API and whose waits end where a signal came while they are held.
  ///
  /// A renewal is not cut off: the provider may have spent the old token already. It has its own limit
  /// of time.
  var interruptible: Network {
    var network = self
    let (transport, wait, clock) = (transport, wait, clock)
    network.transport = InterruptibleTransport(transport: transport) {
      while !Interrupts.hasCome {
        guard await wait(clock.sinceBoot() + 100_000_000) else { return }
      }
    }
    network.wait = { until in
      while !Interrupts.hasCome {
        let slice = min(until, clock.sinceBoot() + 100_000_000)
        guard await wait(slice) else { return false }
        if slice == until { return true }
      }
      return false
    }
    return network
  }
}

/// A transport whose transfers end with a signal, where somebody receives the answer while it comes.
private struct InterruptibleTransport: Transport {
  let transport: any Transport
  /// Returns once a signal came, or the task is cancelled.
  let interruption: @Sendable () async -> Void

  func send(
    _ request: HTTPRequest, to receiver: (any HTTPReceiver)?
  ) async throws(HTTPFailure) -> HTTPResponse {
    guard let receiver else { return try await transport.send(request) }
    let result = await withTaskGroup(of: Result<HTTPResponse, HTTPFailure>?.self) { group in
      group.addTask {
        do throws(HTTPFailure) {
          return .success(try await transport.send(request, to: receiver))
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        await interruption()
        return nil
      }
      var result: Result<HTTPResponse, HTTPFailure>?
      while let first = await group.next() {
        // The one that is left is told to end, and the transfer says how it ended.
        group.cancelAll()
        if let first { result = first }
      }
      return result
    }
    switch result {
    case .some(let result): return try result.get()
    case .none: throw HTTPFailure(.cancelled, "cancelled", mayHaveBeenSent: true)
    }
  }
}
