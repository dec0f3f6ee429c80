internal import AccountVault
internal import Accounts
internal import Faults

/// The vault's sessions, lent for one app: none does anything for it once its key is another.
struct AppSessions: SessionLender {
  let keeper: Keeper
  let app: App

  /// - Throws: ``VaultError``: `locked`; what `body` throws, `wrongKey` with reason `appKey` where the
  ///   key is over.
  func withSession<R: ~Copyable>(
    _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(VaultError) -> R {
    try await keeper.withSession { (session) async throws(VaultError) -> R in
      session.work(for: app)
      defer { session.work(for: nil) }
      return try await body(session)
    }
  }
}

extension AppCall {
  /// For what waits: of what it waited for, each part has a session of its own, which is not there while
  /// the vault is locked.
  var sessions: AppSessions { AppSessions(keeper: core.keeper, app: app) }
}
