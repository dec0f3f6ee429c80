import Faults
import Store

extension Session {
  /// Runs `body` as one transaction: what its calls change is committed together, or not at all.
  ///
  /// For filling a vault. A token is handed out by no call inside: its record must be on the disk
  /// first.
  package func together<R: ~Copyable>(
    _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try store.write(body)
  }

  /// Checks the ledger and the grants, and nothing else.
  ///
  /// - Returns: The number of entries.
  package func verifyLedgerAlone() throws(VaultError) -> UInt64 {
    try store.read { () throws(VaultError) in
      let projection = GrantProjection(store)
      try verifyLedger(progress: { _ in }, projection)
      try projection.finish()
      return store.state.ledgerSize
    }
  }

  /// Forgets what was decided on requests, as a change of any row makes it.
  package func forgetDecisions() { decided.forget() }
}
