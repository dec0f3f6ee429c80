import Accounts
import Encoding
import Faults
import Store

extension Session {
  /// Whether a renewal of a credential was begun and can no longer be ended by whoever began it: the
  /// provider may have put another refresh token in the old one's place (DESIGN section 6, step 5).
  ///
  /// The next renewal settles it, and only then writes the mark; until then this is all that shows it. A
  /// renewal that is under way holds the credential's lock, which the kernel takes from the dead.
  func wasCutOff(
    _ credential: Credential, of account: Account, _ state: CredentialState
  ) throws(VaultError) -> Bool {
    guard credential.hasRefreshToken, ![.rejected, .stale, .uncertain].contains(state) else {
      return false
    }
    let key = Records(store).credentialKey(account.id, client: credential.clientID)
    guard try openIntents().contains(key) else { return false }
    switch try RenewalLock.take(key, of: store) {
    case .some: return true
    case .none: return false
    }
  }

  /// The credentials of which a renewal was begun and not ended. Such a one is due at once, so the index
  /// of what is due has them all.
  private func openIntents() throws(VaultError) -> Set<Key16> {
    let revision = store.revision(of: .renewal)
    if let known = lookups.openIntents(revision: revision) { return known }
    var open: Set<Key16> = []
    var last: Store.DueRow?
    repeat {
      let rows = try store.dueRows(
        .renewal, until: Records.hour(now), after: last, limit: 512)
      for row in rows {
        if try Records(store).renewal(row.key)?.intent != nil { open.insert(row.key) }
      }
      last = rows.count == 512 ? rows.last : nil
    } while last != nil
    lookups.note(openIntents: open, revision: revision)
    return open
  }
}
