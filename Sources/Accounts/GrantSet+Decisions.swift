package import Time

/// Each of these makes the new set of the old one and the decision alone, so that a replay of the
/// ledger gives the same set.
extension GrantSet {
  /// Grants permissions, whatever was decided before.
  ///
  /// - Parameters:
  ///   - audience: who sees what is written; kept for the group `write` alone.
  ///   - until: when the grant ends, if it does.
  package func granting(
    _ permissions: [Permission], audience: Audience? = nil, until: Timestamp? = nil,
    _ decision: GrantDecision
  ) -> GrantSet {
    deciding(permissions) { permission in
      PermissionStanding(
        name: permission.name, group: permission.group, decision: .granted,
        audience: permission.group == .write ? audience : nil, until: until,
        since: decision.at, entry: decision.entry, reason: decision.reason,
        decidedBy: decision.by, confirmedAt: decision.by == .provider ? decision.at : nil)
    }
  }

  /// Denies permissions, whatever was decided before.
  package func denying(_ permissions: [Permission], _ decision: GrantDecision) -> GrantSet {
    deciding(permissions) { refusal(of: $0, .denied, decision) }
  }

  /// Takes permissions back. One that was never granted is revoked all the same: it is what the
  /// owner said, and the app cannot use it.
  package func revoking(_ permissions: [Permission], _ decision: GrantDecision) -> GrantSet {
    deciding(permissions) { refusal(of: $0, .revoked, decision) }
  }

  /// Takes back everything that was granted and not taken back since, lapsed or not: the switch in
  /// Settings. What was denied stays denied.
  package func revokingAll(_ decision: GrantDecision) -> GrantSet {
    revoking(standings.filter { $0.decision == .granted }.map(\.permission), decision)
  }

  /// Notes that an entry records the lapse of these grants. Names that are not granted are passed
  /// over.
  package func lapsing(_ names: [String], entry: UInt64) -> GrantSet {
    changing(names) { standing in
      if standing.decision == .granted { standing.lapseEntry = entry }
    }
  }

  /// Notes that the provider showed these grants to be still there.
  package func confirming(_ names: [String], at time: Timestamp) -> GrantSet {
    changing(names) { standing in
      if standing.decision == .granted { standing.confirmedAt = time }
    }
  }

  private func refusal(
    of permission: Permission, _ refused: PermissionStanding.Decision, _ decision: GrantDecision
  ) -> PermissionStanding {
    PermissionStanding(
      name: permission.name, group: permission.group, decision: refused, since: decision.at,
      entry: decision.entry, reason: decision.reason, decidedBy: decision.by)
  }

  private func deciding(
    _ permissions: [Permission], _ standing: (Permission) -> PermissionStanding
  ) -> GrantSet {
    var set = self
    for permission in permissions {
      let place = set.place(of: permission.name)
      if place < set.standings.count, same(set.standings[place].name, permission.name) {
        set.standings[place] = standing(permission)
      } else {
        set.standings.insert(standing(permission), at: place)
      }
    }
    return set
  }

  private func changing(
    _ names: [String], _ change: (inout PermissionStanding) -> Void
  ) -> GrantSet {
    var set = self
    for name in names {
      let place = set.place(of: name)
      if place < set.standings.count, same(set.standings[place].name, name) {
        change(&set.standings[place])
      }
    }
    return set
  }
}
