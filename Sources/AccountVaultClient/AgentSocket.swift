/// The place of an agent's socket for apps.
public struct AgentSocket: Sendable, Equatable {
  /// The path of the socket's file.
  public var path: String

  /// A socket at a path, such as one that was handed into a container.
  public init(path: String) { self.path = path }
}
