package import Time

/// A decision as it applies to a set: who, when, why, and the entry that records it.
package struct GrantDecision: Equatable, Sendable {
  package var by: PermissionStanding.Author
  package var at: Timestamp
  /// The number of the ledger entry.
  package var entry: UInt64
  package var reason: String?

  package init(
    by: PermissionStanding.Author, at: Timestamp, entry: UInt64, reason: String? = nil
  ) {
    self.by = by
    self.at = at
    self.entry = entry
    self.reason = reason
  }
}
