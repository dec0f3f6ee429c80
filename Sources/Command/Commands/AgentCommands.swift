import AccountVault
import Faults
import JSON
import Sodium
import Time
import UnixSocket

/// `vault status`: whether an agent of the vault runs, and whether it is unlocked.
enum StatusCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let standing = try context.askAgent { connection throws(SocketError) in
      try connection.send("GET", "/v1/status")
    }
    let path = try context.vaultPath()
    guard let standing else {
      var object = JSONObject()
      for key in AgentStanding.keys { object.add(key, String?.none) }
      try AgentStanding.show(object.with("path", path).with("state", "none"), context)
      throw context.noAgent(path)
    }
    try AgentStanding.show(standing, context)
    guard standing["state"] == .string("unlocked") else {
      throw CommandFailure(.locked, "\(path): its agent is locked", hint: "vault unlock")
    }
    return .ok
  }
}

/// `vault lock`: the agent of the vault forgets its key.
enum LockCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let standing = try context.askAgent { connection throws(SocketError) in
      try connection.send("POST", "/v1/lock")
    }
    guard let standing else { throw context.noAgent(try context.vaultPath()) }
    try AgentStanding.show(standing, context)
    return .ok
  }
}

/// `vault unlock`: gives the agent of the vault the key.
enum UnlockCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    let path = try context.vaultPath()
    // Nobody is asked for a passphrase that nobody would take.
    let isThere = try context.askAgent { connection throws(SocketError) in
      try connection.send("GET", "/v1/status")
    }
    guard isThere != nil else { throw context.noAgent(path) }
    let key = InheritedKey.bytes(of: try context.secrets.key(forVaultAt: path))
    // It may take the time that a passphrase costs.
    let standing = try context.askAgent(patience: 120_000) { connection throws(SocketError) in
      try connection.send("POST", "/v1/unlock", type: AgentConnection.keyType, secret: key)
    }
    guard let standing else { throw context.noAgent(path) }
    try AgentStanding.show(standing, context)
    return .ok
  }
}

extension Context {
  fileprivate func noAgent(_ path: String) -> CommandFailure {
    Vault.exists(at: path)
      ? CommandFailure(.notFound, "\(path): no agent of this vault runs", hint: "vault agent")
      : CommandFailure(.notFound, "\(path): not there", hint: "vault init")
  }

  /// Asks the agent of this run's vault how it stands, after what `send` has it do.
  ///
  /// - Returns: Nil where no agent runs.
  /// - Throws: The error that the agent answers with; `tryAgain` where it does not.
  fileprivate func askAgent(
    patience: Int64 = 10_000,
    _ send: (borrowing AgentConnection) throws(SocketError) -> Void
  ) throws(CommandFailure) -> JSONObject? {
    let opened = try AgentConnection.open(
      toAgentOfVaultAt: try vaultPath(), invocation.environment)
    switch consume opened {
    case .none: return nil
    case .some(var connection):
      let answer: AgentAnswer
      do throws(SocketError) {
        try send(connection)
        answer = try connection.answer(patience: patience)
      } catch {
        throw AgentConnection.noAnswer(connection.path)
      }
      // It has another file open: a link that it left behind leads there.
      if answer.status == 421 { return nil }
      if answer.status == 200, let standing = AgentStanding.read(answer.body) { return standing }
      if let failure = AgentStanding.failure(answer.body) { throw failure }
      throw CommandFailure(
        .tryAgain, "\(connection.path): the agent answers \(answer.status), which says nothing",
        hint: "vault agent")
    }
  }
}

/// How an agent stands, as it says so.
enum AgentStanding {
  static let keys = [
    "vault", "path", "version", "pid", "state", "reason", "since", "locks_at", "memory_locked",
    "apps_socket", "next_renewal_at",
  ]

  /// Reads the agent's object. What it does not tell is null.
  static func read(_ body: borrowing SecretBytes) -> JSONObject? {
    body.withBytes { bytes -> JSONObject? in
      do {
        let text = try JSONText(bytes)
        guard text.kind(text.root) == .object else { return nil }
        var object = JSONObject()
        for key in keys {
          guard let node = try text.member(text.root, key) else {
            object.add(key, String?.none)
            continue
          }
          switch text.kind(node) {
          case .string: object.add(key, text.string(node))
          case .bool: object.add(key, text.bool(node))
          case .number: object.add(key, text.numberText(node).flatMap { Int64($0) })
          default: object.add(key, String?.none)
          }
        }
        guard case .string? = object["state"] else { return nil }
        return object
      } catch {
        return nil
      }
    }
  }

  /// The error that an agent answers with.
  static func failure(_ body: borrowing SecretBytes) -> CommandFailure? {
    body.withBytes { bytes -> CommandFailure? in
      do {
        let text = try JSONText(bytes)
        guard let error = try text.member(text.root, "error"),
          let code = try text.member(error, "code").flatMap({ text.string($0) }),
          let status = ExitStatus.allCases.first(where: { $0.name == code }),
          let message = try text.member(error, "message").flatMap({ text.string($0) })
        else { return nil }
        let hint = try text.member(error, "hint").flatMap { text.string($0) }
        return CommandFailure(status, message, hint: hint)
      } catch {
        return nil
      }
    }
  }

  static func show(_ standing: JSONObject, _ context: Context) throws(CommandFailure) {
    try context.terminal.show(
      standing,
      rows: keys.map { Column($0.replacing("_", with: " "), $0) })
  }
}

extension JSONObject {
  /// The same object with another value at `name`.
  fileprivate func with(_ name: String, _ value: String) -> JSONObject {
    var object = JSONObject()
    for member in members {
      object.add(member.name, member.name == name ? .string(value) : member.value)
    }
    return object
  }
}
