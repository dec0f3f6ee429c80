/// What kind of thing a permission allows; asks follow other rules for each.
public enum PermissionGroup: String, CaseIterable, Sendable {
  /// Looking at what is the person's.
  case read
  /// Publishing in the person's name.
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
