public import Time

/// What was decided about one permission of an app on an account, and the ledger entry that made
/// it so.
public struct PermissionStanding: Equatable, Sendable {
  /// What was decided last. `never` is the absence of a standing, and `lapsed` is computed.
  public enum Decision: String, CaseIterable, Sendable {
    /// A yes, perhaps with an end.
    case granted
    /// A no before any yes, or after one.
    case denied
    /// A yes that was taken back.
    case revoked
  }

  /// Who decided.
  public enum Author: String, CaseIterable, Sendable {
    /// The owner, by a command or at a prompt.
    case person
    /// The provider, by what it answered.
    case provider
    /// A setting of the owner's, without a question.
    case configuration
  }

  /// The permission, as the provider writes it.
  public let name: String
  /// The group that the definition had put it into when it was decided.
  public let group: PermissionGroup
  /// What was decided last.
  public var decision: Decision
  /// Who sees what is written with it; nil for what is not of the group `write`.
  public var audience: Audience?
  /// When the grant ends: at that second it has lapsed.
  public var until: Timestamp?
  /// When it was decided.
  public var since: Timestamp
  /// The number of the ledger entry.
  public var entry: UInt64
  /// Why, in the owner's words.
  public var reason: String?
  /// Who decided.
  public var decidedBy: Author
  /// When the provider last showed that the permission is still there.
  public var confirmedAt: Timestamp?
  /// The entry that records the lapse, once there is one. From then on the grant has lapsed
  /// whatever the clock says: one that is set back revives nothing.
  public var lapseEntry: UInt64?

  package init(
    name: String, group: PermissionGroup, decision: Decision, audience: Audience? = nil,
    until: Timestamp? = nil, since: Timestamp, entry: UInt64, reason: String? = nil,
    decidedBy: Author, confirmedAt: Timestamp? = nil, lapseEntry: UInt64? = nil
  ) {
    self.name = name
    self.group = group
    self.decision = decision
    self.audience = audience
    self.until = until
    self.since = since
    self.entry = entry
    self.reason = reason
    self.decidedBy = decidedBy
    self.confirmedAt = confirmedAt
    self.lapseEntry = lapseEntry
  }

  /// Name and group together.
  public var permission: Permission { Permission(name, group) }

  /// The state at a time.
  public func state(now: Timestamp) -> PermissionState {
    switch decision {
    case .denied: return .denied
    case .revoked: return .revoked
    case .granted:
      if lapseEntry != nil { return .lapsed }
      if let until, now >= until { return .lapsed }
      return .granted
    }
  }
}

extension PermissionStanding.Decision: ByteCoded {
  var code: UInt8 {
    switch self {
    case .granted: 1
    case .denied: 2
    case .revoked: 3
    }
  }
}

extension PermissionStanding.Author: ByteCoded {
  var code: UInt8 {
    switch self {
    case .person: 1
    case .provider: 2
    case .configuration: 3
    }
  }
}
