internal import AccountVault
internal import AccountVaultNetwork
internal import Command
internal import Faults
package import Listener

/// What a program with an app key may ask of the agent, on `apps.sock`.
package struct AppService: Sendable {
  let core: AgentCore
  let gate: AppGate
  /// For requests that wait for their readers and writers, so that they keep no place from renewals.
  let streams: Network
  let transfers: Transfers

  /// - Parameter rate: Requests that one app may make in a second.
  package init(_ core: AgentCore, rate: Int = AppGate.usualRate) {
    self.core = core
    streams = core.network.waiting(version: Release.version)
    gate = AppGate(rate: rate)
    transfers = Transfers(core.keeper)
  }

  /// What connections of apps may cost: none of them is trusted.
  static var limits: SocketServer.Limits {
    var limits = SocketServer.Limits()
    limits.connections = 256
    limits.connectionsPerUser = 96
    limits.body = AppBody.limit
    limits.head = 16 << 10
    limits.request = 5000
    limits.tooLong = .error(
      VaultError(.usage, "the body is longer than \(AppBody.limit) bytes", reason: .tooLong))
    limits.unclear = .unclear
    limits.unclear.headers.append(("Vault-Source", "agent"))
    return limits
  }

  /// What is answered, and how; ``AppRoute/description`` needs no key.
  static let routes: [AppRoute] = [
    AppRoute("GET", "/v1/openapi.json", .description),
    AppRoute("GET", "/v1/app", .session(AppLooks.app)),
    AppRoute("GET", "/v1/accounts", .session(AppLooks.accounts)),
    AppRoute("GET", "/v1/access", .session(AppLooks.access)),
    AppRoute("POST", "/v1/access", .session(AppAsks.ask)),
    AppRoute("POST", "/v1/token", .session(AppTokens.token)),
    AppRoute("POST", "/v1/sign", .session(AppSignatures.sign)),
    AppRoute("GET", "/v1/events", .session(AppEvents.events)),
  ]

  /// Answers one request, on its connection's thread.
  package func reply(to request: SocketServer.Request) -> SocketServer.Reply {
    do throws(VaultError) {
      switch try AppRoute.find(request) {
      case .description: return .description
      case .otherMethod(let allowed): return .otherMethod(allowed)
      case .session(let serve): return try reply(to: request, serve)
      }
    } catch {
      if error.code != .notFound { core.metrics.count(.refusal(error.code)) }
      return .error(error)
    }
  }

  private func reply(
    to request: SocketServer.Request, _ serve: AppRoute.Serve
  ) throws(VaultError) -> SocketServer.Reply {
    let answer = try core.keeper.withUnusedSession { (session) throws(VaultError) in
      let app = try gate.app(of: request, in: session)
      core.keeper.noteUse()
      session.work(for: app)
      defer { session.work(for: nil) }
      return try serve(session, AppCall(core: core, request: request, app: app))
    }
    let reply: SocketServer.Reply
    switch answer {
    case .reply(let made): reply = made
    case .waiting(let work): reply = try ConnectionWait.value(of: core.keeper, work)
    }
    // Locked while it was made: nothing is answered any more. A stream ends by itself.
    if case .bytes = reply.body, core.keeper.poolUnused == nil { throw .agentIsLocked }
    return reply
  }
}
