package import AccountVault
internal import Faults
internal import Synchronization

/// What a command works on inside the agent, for another process of the owner's: the agent's vault, its
/// sessions in turn, and a record of what is written.
///
/// Nothing of the caller's is here, neither files nor terminal nor environment; a command that comes to
/// need them fails with ``CommandFailure/needsCaller``, and then has done nothing.
package final class Hosting: Sendable {
  /// Lends a session.
  package typealias Lender =
    @Sendable (
      (borrowing Session) throws(VaultError) -> Void
    ) throws(VaultError) -> Void

  package let vault: Vault
  let key: @Sendable () -> Key
  let record: OutputRecord
  let isColored: Bool
  private let lend: Lender
  /// Whether a session has served this run: it may have changed something.
  private let hasBegun = Mutex(false)

  package init(
    _ vault: Vault, record: OutputRecord, isColored: Bool, key: @escaping @Sendable () -> Key,
    lend: @escaping Lender
  ) {
    self.vault = vault
    self.record = record
    self.isColored = isColored
    self.key = key
    self.lend = lend
  }

  /// Runs `body` with a session of the agent's.
  ///
  /// - Throws: `needsCaller` where the agent cannot, and the caller perhaps can: it was locked, or
  ///   another process gave the vault a new key.
  func use<R: ~Copyable>(
    _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(CommandFailure) -> R {
    var result: R?
    do throws(VaultError) {
      try lend { (session) throws(VaultError) in result = try body(session) }
    } catch {
      let cannot = error.code == .locked || error.reason == .keysChanged
      if cannot, !hasBegun.withLock({ $0 }) { throw .needsCaller }
      throw CommandFailure(error)
    }
    hasBegun.withLock { $0 = true }
    switch consume result {
    case .some(let result): return result
    // It returned, so the body has run.
    case .none: throw .needsCaller
    }
  }
}

extension CommandFailure {
  /// The agent cannot do it, and did nothing. Nobody is told: the caller's process does it.
  package static let needsCaller = CommandFailure(.failed, "")
}

/// Runs a command for another process.
///
/// - Parameters:
///   - arguments: The words of its command line.
///   - vault: What the caller took for the value of its option `--vault`.
/// - Returns: Its status; nil where it must be done by the caller, and nothing was done here.
package func run(
  _ arguments: [String], vault: String?, on hosting: Hosting
) -> ExitStatus? {
  var invocation = Invocation(
    arguments: arguments, standardInput: -1, standardOutput: -1, standardError: -1)
  invocation.hosting = hosting
  var run = Run(invocation)
  guard var context = run.begin(), !context.arguments.needsNetwork,
    // Else the caller may have found another vault's agent.
    context.arguments.text("vault") == vault
  else { return nil }
  let mayRepeat: Bool
  switch context.arguments.agentUse {
  case .run: mayRepeat = true
  case .runOnce: mayRepeat = false
  case .none, .key: return nil
  }
  do throws(CommandFailure) {
    run.status = try perform(&context)
  } catch {
    if error == .needsCaller { return nil }
    run.fail(error, in: context)
  }
  run.leave(context)
  let status = run.finish()
  return mayRepeat && hosting.record.isFull ? nil : status
}
