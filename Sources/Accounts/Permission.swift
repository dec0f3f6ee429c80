/// A permission of a provider, and the group that its definition puts it into.
public struct Permission: Hashable, Sendable {
  /// As the provider writes it. Case counts.
  public let name: String
  public let group: PermissionGroup

  public init(_ name: String, _ group: PermissionGroup) {
    self.name = name
    self.group = group
  }
}
