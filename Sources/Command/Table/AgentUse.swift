/// What a command needs of a running agent of the vault. It does ``run`` and ``runOnce`` itself
/// (``AgentRun``), and lends its key for all but ``none``.
package enum AgentUse: Sendable {
  /// Nothing: the command needs no key, or the secret itself.
  case none
  /// The key, and the caller's own files, terminal or time.
  case key
  /// The key, and nothing of the caller's; it may be run twice without harm.
  case run
  /// The key, and nothing of the caller's; it changes something and must not be done twice.
  case runOnce

  // Lists, for they are looked at before anything else of a command is.

  /// The commands of ``run``. A hand-out of a token that nobody got is recorded, and may be repeated.
  static let runs = [
    "token", "accounts", "show-account", "clients", "apps", "show-app", "asks", "access", "explain",
    "checkpoint", "keys",
  ]
  /// The commands of ``runOnce``.
  static let runsOnce = [
    "rename-account", "remove-client", "add-app", "remove-app", "new-app-key", "grant", "deny",
  ]
}

extension CommandSpec {
  /// What this command needs of the agent where it is given nothing that only the caller has.
  ///
  /// A command that reads a file, standard input or a terminal, that stays, or that runs the owner's
  /// hooks, is done by the caller's process with a lent key.
  package var agentUse: AgentUse {
    if AgentUse.runs.contains(name) { return .run }
    if AgentUse.runsOnce.contains(name) { return .runOnce }
    return Self.agentUses[name] ?? .none
  }

  /// What the commands need that it does not do.
  static let agentUses: [String: AgentUse] = [
    // A new vault, or none at all
    "init": .none, "check-provider": .none, "completions": .none, "help": .none, "version": .none,
    "manual": .none, "doctor": .none,
    // The agent's own
    "agent": .none, "unlock": .none, "lock": .none, "status": .none,
    // A new key is wrapped under the secret itself.
    "rotate-key": .none, "restore": .none,
    // Files, standard input, terminals, hooks, and what takes long
    "add-account": .key, "add-client": .key, "sign-in": .key, "request": .key, "renew": .key,
    "renew-for-app": .key, "send-revocations": .key, "request-access": .key, "verify": .key,
    "change-passphrase": .key, "add-key": .key, "backup": .key, "reset-anchor": .key,
    "add-provider": .key, "remove-key": .key,
    // Providers are told by a process of the caller's.
    "revoke": .key, "remove-account": .key,
    // They look even where the file is older than its head, or before it was unlocked.
    "history": .key, "prove": .key, "providers": .key, "show-provider": .key,
  ]
}

extension ParsedArguments {
  /// What this call needs of a running agent.
  package var agentUse: AgentUse {
    // Whoever says what opens the vault means that (contract, section 1).
    if namesKey { return .none }
    switch command.agentUse {
    case .none: return .none
    case .key: return .key
    case .run: return needsCaller ? .key : .run
    case .runOnce: return needsCaller ? .key : .runOnce
    }
  }

  /// Whether an option says what opens the vault.
  package var namesKey: Bool {
    ["passphrase-fd", "passphrase-file", "key-file"].contains { name in
      command.globals.contains { $0.name == name } && has(name)
    }
  }

  private var needsCaller: Bool {
    if command.arguments.contains(where: { $0.isFile }) { return true }
    return command.options.contains { option in
      if option.presence.isAsked { return !has(option.name) }
      return has(option.name) && (option.isFile || option.name == "follow")
    }
  }
}

extension ArgumentSpec {
  fileprivate var isFile: Bool { if case .file = kind { true } else { false } }
}

extension OptionSpec {
  fileprivate var isFile: Bool { if case .file = kind { true } else { false } }
}

extension OptionSpec.Presence {
  fileprivate var isAsked: Bool { if case .asked = self { true } else { false } }
}
