/// What kind of thing a permission allows; asks follow other rules for each.
public enum PermissionGroup: String, CaseIterable, Sendable {
  case read
  case write
  /// Asked for alone, and shown as such, or not at all, as the provider's definition says.
  case extended
}

extension PermissionGroup: ByteCoded {
  var code: UInt8 {
    switch self {
    case .read: 1
    case .write: 2
    case .extended: 3
    }
  }
}
