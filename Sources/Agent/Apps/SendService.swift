internal import AccountVault
internal import Accounts
internal import Faults
package import Listener
internal import Synchronization

/// `/v1/request`: has a request of an app signed and sent. The app never sees the token.
///
/// Both ways are streamed: of a long body, and of an answer that the app is slow to read, as much is in
/// memory as fits the queues between the connections. No session is held while bytes move.
extension AppService {
  static let sendPath = "/v1/request"

  /// How a request is served: one that is to be sent is begun at its head, before its body is asked for.
  ///
  /// - Parameter answered: Told the status of what is answered.
  package func entry(
    for request: SocketServer.Request, answered: @escaping @Sendable (Int) -> Void
  ) -> SocketServer.Entry {
    guard request.message.path == Self.sendPath else { return .whole }
    guard SignedRequest.Method(rawValue: request.message.method) != nil else {
      var reply = SocketServer.Reply.otherMethod(SignedRequest.Method.allCases.map(\.rawValue))
      reply.headers.append(("Vault-Source", "agent"))
      answered(reply.status)
      return .answered(reply)
    }
    let app: App
    let order: SendOrder
    do throws(VaultError) {
      app = try sender(of: request)
      order = try SendOrder(request.message)
    } catch {
      core.metrics.count(.refusal(error.code))
      let reply = SocketServer.Reply.sendError(error)
      answered(reply.status)
      return .answered(reply)
    }
    return .streamed { exchange in
      begin(exchange, order, app: app, SendAnswer(exchange, answered: answered))
    }
  }

  /// Whoever shows no good key must not keep the vault unlocked.
  private func sender(of request: SocketServer.Request) throws(VaultError) -> App {
    try core.keeper.withUnusedSession { (session) throws(VaultError) in
      try gate.app(of: request, in: session)
    }
  }

  private func begin(
    _ exchange: StreamedRequest, _ order: SendOrder, app: App, _ answer: SendAnswer
  ) {
    let core = core
    let network = streams
    // The owner's word ends what is under way; time that ran out does not.
    let watch = LockWatch(core.keeper) { $0 != .idle && $0 != .lifetime }
    let transfers = transfers
    let transfer = transfers.begin(app: app, permissions: order.permissions)
    let task = Task.detached {
      do throws(VaultError) {
        var order = order
        try await order.takeBody(of: exchange)
        _ = try await AppSessions(keeper: core.keeper, app: app).send(
          order.request, app: app.id, account: order.account, permissions: order.permissions,
          seenBy: .app, over: network, to: answer
        ) { transfer.account = $0 }
        core.metrics.count(.handOut(.request))
        answer.finish()
      } catch {
        let why = transfer.end ?? error
        core.metrics.count(.refusal(why.code))
        answer.fail(why)
      }
      exchange.body?.drop()
    }
    watch.end(task)
    transfer.run(task)
    exchange.whenGone { task.cancel() }
    Task.detached {
      await task.value
      watch.forget()
      transfers.forget(transfer)
    }
  }
}

extension SendOrder {
  /// Reads a body that has to be whole, and leaves a longer one where it is.
  fileprivate mutating func takeBody(of exchange: StreamedRequest) async throws(VaultError) {
    guard let body = exchange.body else { return }
    guard isWhole(body.length) else { return take(body, after: []) }
    let (bytes, isAll) = try await body.first(Int(Self.wholeLimit))
    if isAll { take(bytes) } else { take(body, after: bytes) }
  }
}
