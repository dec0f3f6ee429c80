internal import AccountVault
internal import Accounts
internal import Command
internal import Faults
internal import Listener
internal import Sodium

/// `POST /v1/token`: hands an app a token. One that has expired is renewed first.
enum AppTokens {
  private static let members = ["account", "permissions", "renew"]

  private struct Wanted: Sendable {
    let call: AppCall
    let account: String?
    let permissions: [String]
    var app: String { call.app.id }
  }

  static let token: AppRoute.Serve = { (session, call) throws(VaultError) in
    let body = try call.body(members)
    let wanted = Wanted(
      call: call, account: try body.text("account"), permissions: try body.permissions())
    if try body.flag("renew") { return renewed(wanted) }
    do throws(VaultError) {
      return .reply(try handOut(wanted, session, account: wanted.account, renews: true))
    } catch {
      guard error.isRenewable else { throw error }
      return .waiting { () async throws(VaultError) in
        try await call.sessions.withSession { (session) async throws(VaultError) in
          try await session.renewExpired(
            app: wanted.app, account: wanted.account, permissions: wanted.permissions,
            seenBy: .app, over: call.core.network)
        }
        return try await handOut(wanted, account: wanted.account)
      }
    }
  }

  /// Renews before the end. Where that cannot be, the token itself says whether it is still good.
  private static func renewed(_ wanted: Wanted) -> AppAnswer {
    .waiting { () async throws(VaultError) in
      let account = try await wanted.call.sessions.withSession {
        (session) async throws(VaultError) -> String? in
        var account = wanted.account
        do throws(VaultError) {
          let use = try session.grantedCredential(
            app: wanted.app, account: wanted.account, permissions: wanted.permissions,
            seenBy: .app)
          account = use.account.id.text
          _ = try await session.renew(
            use.account, clientID: use.credential.clientID, over: wanted.call.core.network,
            .request)
        } catch {
          // The hand-out meets what stands against the use, and records it.
          guard error.isAnswer else { throw error }
        }
        return account
      }
      return try await handOut(wanted, account: account)
    }
  }

  /// On another session than the renewal's: the vault may have been locked meanwhile.
  private static func handOut(
    _ wanted: Wanted, account: String?
  ) async throws(VaultError) -> SocketServer.Reply {
    try await wanted.call.sessions.withSession { (session) throws(VaultError) in
      try handOut(wanted, session, account: account)
    }
  }

  private static func handOut(
    _ wanted: Wanted, _ session: borrowing Session, account: String?, renews: Bool = false
  ) throws(VaultError) -> SocketServer.Reply {
    let token = try session.token(
      app: wanted.app, account: account, permissions: wanted.permissions,
      renews: renews, seenBy: .app)
    wanted.call.core.metrics.count(.handOut(.token))
    return .json(200, body(token))
  }

  private static func body(_ token: borrowing AccessToken) -> SecretBytes {
    var object = JSONObject()
    object.add("token_type", token.tokenType)
    object.add("expires_at", token.expiry.time)
    object.add("account", token.account.text)
    object.add("client_id", token.clientID)
    var line = SecretObject()
    line.add("token", secret: token.secret.bytes)
    line.add(object)
    token.withTokenSecret { line.add("token_secret", secret: $0.bytes) }
    return line.finish()
  }
}
