public import Accounts
import Encoding
public import Faults
import Ledger
import Sodium
import Store

extension Session {
  /// The app whose key was shown, and that its user may show.
  ///
  /// Costs the same for a key that no app has: the hashes are found under the hash of what was shown,
  /// which nobody can aim at without the vault's key for it, and something is compared in either case.
  /// What is known of the apps holds for one revision of their table, so a key that was replaced, or
  /// whose app was removed, by whichever process, is worth nothing at once.
  ///
  /// - Parameters:
  ///   - key: The key's text, as it was shown.
  ///   - user: The Unix user who showed it. Where the app is bound to others, that is recorded
  ///     (`use_refused`, the first in a minute and the rest as a count).
  /// - Throws: ``VaultError``: `wrongKey` with reason `appKey`, in the same words whatever was wrong.
  public func app(withKey key: borrowing Secret, shownBy user: UInt32) throws(VaultError) -> App {
    var parsed: AppKey
    do throws(KeyText.Fault) { parsed = try AppKey(parsing: key.bytes) } catch {
      parsed = AppKey.random()
    }
    let hash = parsed.hash(under: store.keyring.appKeys)
    if try !store.isUnchanged() { try store.read {} }
    let app = try appsByKey()[hash]
    var shown = hash.bytes
    var known = (app?.keyHash ?? Digest32(Random.bytes(32))).bytes
    // In constant time: otherwise an app could find a hash byte by byte.
    let isEqual = SecretBytes(wiping: &shown).isEqual(to: SecretBytes(wiping: &known))
    guard isEqual, let app else { throw .noAppKey }
    guard app.uids.isEmpty || app.uids.contains(user) else {
      try recordRefusedUser(user, of: app)
      throw .noAppKey
    }
    return app
  }

  private func appsByKey() throws(VaultError) -> [Digest32: App] {
    let revision = store.revision(of: .app)
    if let known = lookups.appsByKey(revision: revision) { return known }
    return try store.read { () throws(VaultError) in
      var keyed: [Digest32: App] = [:]
      for app in try Records(store).apps() {
        if let hash = app.keyHash { keyed[hash] = app }
      }
      lookups.note(appsByKey: keyed, revision: store.revision(of: .app))
      return keyed
    }
  }

  private func recordRefusedUser(_ user: UInt32, of app: App) throws(VaultError) {
    let kind = UseWindows.Kind(
      event: .useRefused, app: app.id, account: .zero, client: "", generation: 0, grants: [],
      permissions: [], reason: "its key was shown by user \(user)")
    if uses.count(kind, now: now) != nil { return }
    _ = try store.write { () throws(VaultError) in
      try record(.useRefused, app: app.id, reason: kind.reason)
    }
    uses.begin(kind, label: "", now: now)
  }
}

extension VaultError {
  /// One text for every way in which it can be wrong, so that it tells nothing.
  static var noAppKey: VaultError {
    VaultError(
      .wrongKey, "that is no app's key, or not one that you may show",
      hint: "vault new-app-key APP",
      reason: .appKey)
  }
}
