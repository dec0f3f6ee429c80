internal import AccountVault
internal import Faults
internal import Listener
internal import Synchronization

/// Hands a provider's answer to the app while it comes.
///
/// What the app has not taken yet is bounded: the transfer waits for it, and no other does.
final class SendAnswer: ResponseReceiver {
  private let exchange: StreamedRequest
  private let body = Mutex<OutgoingBody?>(nil)
  private let answered: @Sendable (Int) -> Void

  /// - Parameter answered: Told the status of what is answered.
  init(_ exchange: StreamedRequest, answered: @escaping @Sendable (Int) -> Void) {
    self.exchange = exchange
    self.answered = answered
  }

  var mayPause: Bool { true }

  func begin(status: Int, headers: [(name: String, value: String)]) {
    let body: OutgoingBody
    do throws(ListenerError) {
      body = try OutgoingBody(length: SendHeaders.length(headers))
    } catch {
      // Nothing is taken then, and the transfer ends.
      refuse(VaultError(.tryAgain, "the agent has no descriptor left"))
      return
    }
    self.body.withLock { $0 = body }
    answered(status)
    exchange.answer(
      SocketServer.Reply(
        status, headers: SendHeaders.answered(headers) + [("Vault-Source", "provider")],
        body: .stream(body)))
  }

  func hasRoom(for count: Int, orCall wake: @escaping @Sendable () -> Void) -> Bool {
    current?.hasRoom(for: count, orCall: wake) ?? true
  }

  func receive(_ piece: RawSpan) -> Bool { current?.write(piece) ?? false }

  private var current: OutgoingBody? { body.withLock { $0 } }

  /// The provider's answer is over.
  func finish() { current?.finish() }

  /// There is no answer, or no more of it.
  func fail(_ error: VaultError) {
    if let body = current { body.fail() } else { refuse(error) }
  }

  private func refuse(_ error: VaultError) {
    let reply = SocketServer.Reply.sendError(error)
    answered(reply.status)
    exchange.answer(reply)
  }
}

extension SocketServer.Reply {
  /// An error of the agent's own, told from the provider's answers by `Vault-Source`.
  static func sendError(_ error: VaultError) -> SocketServer.Reply {
    var reply = SocketServer.Reply.error(error)
    reply.headers.append(("Vault-Source", "agent"))
    // What it is signed with is new already.
    if error.reason == .bodySpent { reply.headers.append(("Retry-After", "0")) }
    return reply
  }
}
