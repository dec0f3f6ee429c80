import Foundation
import Testing

/// An agent of a user without any privilege, whom the kernel keeps from nothing but what it keeps every
/// user from: root may look at all processes, and is told nothing by what he may do.
struct PlainUser {
  static let user = OtherUser(65532)

  let home: AgentHome

  /// Hands everything in the home to the user.
  ///
  /// - Parameter prepare: Done before that.
  init(prepare: (AgentHome) throws -> Void = { _ in }) throws {
    try OtherUser.required()
    home = try AgentHome()
    // The user need not get to where these were built, and may read them: of a program that he may
    // not read the kernel gives nothing away by itself.
    let folder = try OtherUser.openDirectory("bin", in: home.directory)
    for name in ["vault", "vault-agent"] {
      try FileManager.default.copyItem(
        atPath: "\(AgentHome.executables)/\(name)", toPath: "\(folder)/\(name)")
      try #require(chmod("\(folder)/\(name)", 0o755) == 0)
    }
    try prepare(home)
    let id = Self.user.id
    let given = try AgentHome.run(
      "/usr/bin/chown", ["-R", "\(id):\(id)", home.directory.path], home.environment)
    try #require(given.status == 0, "\(given.text)")
  }

  func program(_ name: String) -> String { home.directory("bin/\(name)") }

  /// Starts the agent as a shell of the user's does.
  ///
  /// - Parameters:
  ///   - name: `vault`, which becomes the agent, or `vault-agent`.
  ///   - shell: What the shell does before.
  func start(
    _ options: [String], name: String = "vault-agent", shell: String,
    environment: [String: String?] = [:]
  ) throws -> AgentProcess {
    try home.start(
      options, program: program(name), through: through(shell), environment: environment)
  }

  /// Runs a command of the user's, who alone may ask on `owner.sock`.
  ///
  /// - Returns: Its exit status.
  func vault(_ words: [String]) throws -> Int32 {
    let all = through("cd \"$HOME\"") + [program("vault")] + words + ["--vault", home.vaultPath]
    return try AgentHome.run(all[0], Array(all.dropFirst()), home.environment).status
  }

  /// What stands before a program that a shell of the user's starts.
  func through(_ shell: String) -> [String] {
    Self.user.prefix + ["/bin/sh", "-c", "\(shell); exec \"$@\"", "sh"]
  }
}
