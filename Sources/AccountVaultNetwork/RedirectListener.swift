package import Faults
internal import Listener
internal import Synchronization
package import Time

/// Waits for the browser to bring back a provider's answer (RFC 8252 section 7.3).
///
/// The port is bound first, so that the address of the authorization request can name it. Anybody on
/// the machine can connect: what an answer is worth is decided by the check, which knows the `state`,
/// and a wrong one ends nothing. One good answer ends it, and then the port is closed.
package final class RedirectListener: Sendable {
  /// Gets the query of a request to the redirect address, undecoded, and says whether it is this
  /// sign-in's answer. Called one at a time, and never again once it said so.
  package typealias Check = @Sendable (_ query: String) -> Bool

  /// What the authorization request names; byte for byte what was registered, but for the port where
  /// that was left open.
  package let address: String
  private let servers: [HTTPServer]
  private let desk: Desk

  /// How long after the answer the browser may fetch the page, in nanoseconds.
  static let patience: Int64 = 2_000_000_000

  /// Binds the port and begins to listen.
  ///
  /// - Throws: `tryAgain` where another program has the port; `io` where there is no such address, or
  ///   the port is not for this user.
  package init(
    _ redirect: LoopbackRedirect = .random(), check: @escaping Check
  ) throws(VaultError) {
    let desk = Desk(redirect.requestPath, check)
    self.desk = desk
    servers = try Self.bind(redirect, desk)
    let port = servers[0].port
    address = redirect.address(port: port)
    desk.open(redirect.host, port)
  }

  deinit { close() }

  /// Closes the port. ``wait(until:clock:sleep:)`` has done so when it returns.
  package func close() { for server in servers { server.stop() } }

  /// Waits for the answer and closes the port. To be called once.
  ///
  /// - Parameters:
  ///   - deadline: Nanoseconds by `CLOCK_BOOTTIME`, so that a machine that slept does not wait anew.
  ///   - sleep: Waits until that clock shows so much, or until the task is cancelled.
  /// - Returns: Whether a good answer came. Not where the time was over or the task was cancelled.
  package func wait(
    until deadline: Int64, clock: Clock = .system,
    sleep: @escaping @Sendable (_ until: Int64) async -> Bool
  ) async -> Bool {
    await Self.first(of: desk.answered, or: deadline, sleep)
    if desk.isAnswered {
      // The answer is good whether or not anybody sees the page.
      await Self.first(of: desk.shown, or: clock.sinceBoot() + Self.patience, sleep)
    }
    close()
    // It may have come while the port was being closed.
    return desk.isAnswered
  }

  /// Returns when the signal came, the time is over or the task was cancelled.
  private static func first(
    of signal: AsyncStream<Void>, or deadline: Int64,
    _ sleep: @escaping @Sendable (Int64) async -> Bool
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in signal { return } }
      group.addTask { _ = await sleep(deadline) }
      await group.next()
      group.cancelAll()
    }
  }

  // MARK: Binding

  private static func bind(
    _ redirect: LoopbackRedirect, _ desk: Desk
  ) throws(VaultError) -> [HTTPServer] {
    var refusal = ListenerError.portInUse
    // Where any port will do and both addresses are needed, the second may be another program's.
    for _ in 0..<(redirect.port == nil ? 16 : 1) {
      do throws(ListenerError) {
        return try servers(redirect, desk)
      } catch {
        refusal = error
        if error != .portInUse { break }
      }
    }
    throw failure(refusal, redirect)
  }

  private static func servers(
    _ redirect: LoopbackRedirect, _ desk: Desk
  ) throws(ListenerError) -> [HTTPServer] {
    let port = redirect.port ?? 0
    switch redirect.host {
    case .ipv4: return [try server(.ipv4, port, desk)]
    case .ipv6: return [try server(.ipv6, port, desk)]
    case .localhost:
      // A browser may try either first, so no other program may have the other one.
      let first = try server(.ipv4, port, desk)
      do throws(ListenerError) {
        return [first, try server(.ipv6, first.port, desk)]
      } catch {
        guard error == .noSuchAddress else { throw error }
        return [first]
      }
    }
  }

  private static func server(
    _ host: HTTPServer.Host, _ port: UInt16, _ desk: Desk
  ) throws(ListenerError) -> HTTPServer {
    var limits = HTTPServer.Limits()
    limits.connections = 64
    limits.connectionsPerAddress = 64
    limits.head = 16 << 10
    limits.body = 1 << 10
    limits.request = 10_000
    return try HTTPServer(host: host, port: port, limits: limits) { desk.answer($0) }
  }

  private static func failure(
    _ error: ListenerError, _ redirect: LoopbackRedirect
  ) -> VaultError {
    let place = redirect.port.map { "\(redirect.host.rawValue):\($0)" } ?? redirect.host.rawValue
    return switch error {
    case .portInUse:
      VaultError(
        .tryAgain, "\(place): another program listens there",
        hint: "ss --listening --tcp --processes")
    case .portForbidden: VaultError(.io, "\(place): not a port for this user")
    case .noSuchAddress: VaultError(.io, "\(place): this machine has no such address")
    case .system(let number): VaultError(.io, "\(place): cannot listen, errno \(number)")
    }
  }
}
