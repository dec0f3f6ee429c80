public import Accounts
public import Faults
import Store

extension Session {
  /// The account and the client of a token that an app may have and that has ended, where a renewal can
  /// put another in its place; nil where nothing is to be renewed, or nothing may be.
  ///
  /// The grant comes first: what an app was not granted is not renewed for it.
  public func renewableUse(
    app: String, account: String? = nil, permissions: [String] = [], seenBy view: View = .owner
  ) throws(VaultError) -> (account: Account, clientID: String)? {
    try store.read { () throws(VaultError) in
      do throws(VaultError) {
        let (account, credential) = try grantedCredential(
          app: app, account: account, permissions: permissions, seenBy: view)
        do throws(VaultError) { try checkState(credential, of: account) } catch {
          guard error.code == .tryAgain, error.reason == .expired else { return nil }
          return (account, credential.clientID)
        }
        return nil
      } catch {
        // The use itself says what stands against it, and records that.
        if error.code == .damaged { throw error }
        return nil
      }
    }
  }

  /// The credential that an app would use, if its grants allow it.
  ///
  /// - Throws: ``VaultError``, as ``token(app:account:permissions:strictly:renews:seenBy:)`` does,
  ///   but for the credential's own state.
  public func grantedCredential(
    app id: String, account: String? = nil, permissions: [String] = [], seenBy view: View = .owner
  ) throws(VaultError) -> (account: Account, credential: Credential) {
    try store.read { () throws(VaultError) in
      let found = try usedAccount(
        app: id, account: account, permissions: permissions, seenBy: view)
      let app = try findApp(id)
      let set = try Records(store).grants(app: id, account: found.id)
      _ = try checkGrants(set, app: app, account: found, permissions: permissions)
      return (found, try credential(of: found, for: app).0)
    }
  }
}
