/// Why bytes of the ledger are not what they claim to be.
public enum LedgerError: Error, Equatable, Sendable {
  /// They do not have their one canonical form; says which part and how, never a value.
  case malformed(String)
  /// They were written by a later release.
  case newerVersion(UInt8)
  /// The body names an event outside the registry.
  case unknownEvent(code: UInt8)
  /// The body is not the one that the leaf of this number commits to.
  case commitmentMismatch(UInt64)
}

extension LedgerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let what): "malformed: \(what)"
    case .newerVersion(let version): "written by a later release, in version \(version)"
    case .unknownEvent(let code): "an unknown event, \(code)"
    case .commitmentMismatch: "its leaf does not commit to it"
    }
  }
}
