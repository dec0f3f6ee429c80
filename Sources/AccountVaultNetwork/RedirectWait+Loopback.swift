package import AccountVault
import Faults
import OAuth
import Providers
import Sodium
import Synchronization
import Time

extension RedirectWait {
  /// A listener of this machine for one sign-in.
  ///
  /// - Parameters:
  ///   - registered: The address that the client is registered with, used byte for byte but for a port
  ///     that it leaves open; nil for a free port and a path that nobody guesses.
  ///   - network: What waits.
  /// - Throws: ``VaultError``: `config` for an address that is none of this machine; as
  ///   ``RedirectListener/init(_:check:)``.
  package static func loopback(
    registered: String?, over network: Network
  ) throws(VaultError) -> RedirectWait {
    var redirect = LoopbackRedirect.random()
    if let registered {
      guard let own = LoopbackRedirect(registered) else {
        throw VaultError(
          .config,
          "the client is registered with \(ProviderText.safe(registered)), where nobody on this"
            + " machine can listen",
          hint: "vault add-client --type TYPE --client-id ID --redirect http://127.0.0.1/")
      }
      redirect = own
    }
    let desk = Answers()
    let listener = try RedirectListener(redirect) { query in desk.take(query) }
    return RedirectWait(
      address: listener.address, port: (try? RequestURL(listener.address))?.port ?? 0,
      answer: { check in
        desk.open(check)
        // Whoever calls ends the task when the time is over; no sign-in waits half as long as this.
        let end = network.clock.sinceBoot() + 3_600_000_000_000
        _ = await listener.wait(until: end, clock: network.clock, sleep: network.wait)
        return desk.answer
      }, close: { listener.close() })
  }

  /// Holds the check until it is known, and the answer that it took.
  private final class Answers: Sendable {
    private struct State: Sendable {
      var check: (@Sendable (SharedSecret) -> RedirectVerdict)?
      var answer: SharedSecret?
    }

    private let state = Mutex(State())

    func open(_ check: @escaping @Sendable (SharedSecret) -> RedirectVerdict) {
      state.withLock { $0.check = check }
    }

    var answer: SharedSecret? { state.withLock { $0.answer } }

    func take(_ query: String) -> Bool {
      var bytes = Array(query.utf8)
      let query = SharedSecret(SecretBytes(wiping: &bytes))
      guard let check = state.withLock({ $0.check }) else { return false }
      switch check(query) {
      case .foreign: return false
      case .accepted, .refused:
        state.withLock { $0.answer = query }
        return true
      }
    }
  }
}
