/// A permission of a provider, and the group that its definition puts it into.
public struct Permission: Hashable, Sendable {
  /// As the provider writes it. Case counts.
  public let name: String
  /// Which kind of thing it allows.
  public let group: PermissionGroup

  /// A permission as a definition has it. Nothing is looked up.
  public init(_ name: String, _ group: PermissionGroup) {
    self.name = name
    self.group = group
  }
}
