internal import FoundationEssentials

/// The place of an agent's socket for apps.
public struct AgentSocket: Sendable, Equatable {
  /// The path of the socket's file; at most 107 bytes.
  public var path: String

  /// A socket at a path, such as one that was handed into a container.
  public init(path: String) { self.path = path }

  /// Where the environment says: `$VAULT_APPS_SOCKET`, else the one
  /// `${XDG_RUNTIME_DIR}/vault/*/apps.sock`, which is there while this user's agent runs.
  ///
  /// - Throws: ``AgentError`` (`config`) where there are several agents, or nothing says where to look;
  ///   (`try_again`, ``AgentError/Cause/unreachable``) where no agent runs.
  public static func ofEnvironment() throws(AgentError) -> AgentSocket {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["VAULT_APPS_SOCKET"], !path.isEmpty { return AgentSocket(path: path) }
    guard let runtime = environment["XDG_RUNTIME_DIR"], !runtime.isEmpty else {
      throw AgentError(
        .config, .setup, "neither $VAULT_APPS_SOCKET nor $XDG_RUNTIME_DIR is set",
        hint: "set VAULT_APPS_SOCKET to the path that vault status shows as apps_socket")
    }
    let directory = "\(runtime)/vault"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let sockets = names.filter { $0 != "by-file" }.map { "\(directory)/\($0)/apps.sock" }
      .filter { FileManager.default.fileExists(atPath: $0) }
    guard let socket = sockets.first else {
      throw AgentError(
        .tryAgain, .unreachable, "no agent runs: there is no \(directory)/*/apps.sock",
        hint: "vault agent")
    }
    guard sockets.count == 1 else {
      throw AgentError(
        .config, .setup, "there are several agents: \(sockets.sorted().joined(separator: ", "))",
        hint: "set VAULT_APPS_SOCKET to one of them")
    }
    return AgentSocket(path: socket)
  }
}
