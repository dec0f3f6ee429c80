import Accounts
import Faults
import Store

/// The app for which a session works now, where it was told apart by its key.
final class Caller {
  var app: App?
}

extension Session {
  /// Works for an app from now on, as long as its key is the one that it showed; nil: for the owner.
  ///
  /// Each transaction that decides something for the app looks at its key again, so that a request which
  /// takes long, because its body comes slowly or a token is renewed first, ends where the app got
  /// another key, or was removed and its id given to another program: nothing is decided, opened or
  /// signed for whoever shows a key that is over. It is refused with `wrongKey`, reason `appKey`, as if
  /// it were shown now.
  ///
  /// Whoever borrows the session for an app says so at first, and `nil` before giving it back.
  package func work(for app: App?) { caller.app = app }

  /// To be called in the transaction.
  ///
  /// - Throws: ``VaultError``: `wrongKey` with reason `appKey`.
  func checkCaller() throws(VaultError) {
    guard let app = caller.app else { return }
    guard let now = try knownApp(app.id), now.keyHash == app.keyHash else { throw .noAppKey }
  }
}

extension Session {
  /// Looks whether what an app was allowed it would be allowed now; nothing is recorded.
  ///
  /// - Parameter account: Nil where it is not known yet: then the app's key alone is looked at.
  /// - Throws: ``VaultError``: what stands against it.
  package func checkUse(
    by app: App, of account: AccountID?, permissions: [String]
  ) throws(VaultError) {
    work(for: app)
    defer { work(for: nil) }
    guard let account else {
      return try store.read { () throws(VaultError) in try checkCaller() }
    }
    _ = try grantedCredential(
      app: app.id, account: account.text, permissions: permissions, seenBy: .app)
  }
}
