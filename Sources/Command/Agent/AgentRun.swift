internal import FileSystem
internal import Sodium
internal import UnixSocket

/// Has a running agent do the command, which keeps the vault open and warm: `POST /v1/run`.
enum AgentRun {
  /// The exit code in an answer.
  static let exitHeader = "vault-exit"
  /// Milliseconds until the agent counts as gone: for what may be repeated, and for what may not.
  private static let patience: (run: Int64, once: Int64) = (10_000, 60_000)

  /// Asks the agent of the context's vault, and writes what the command there wrote.
  ///
  /// - Returns: The command's status; nil where this process is to do it: no agent runs, it is locked or
  ///   of another version, or the command turned out to need what only this process has.
  /// - Throws: `tryAgain` where it is not known whether a change was made, for the agent went away in
  ///   the midst of it; `io` where standard output does not take the data.
  static func ask(_ context: Context) throws(CommandFailure) -> ExitStatus? {
    let mayRepeat: Bool
    switch context.arguments.agentUse {
    case .none, .key: return nil
    case .run: mayRepeat = true
    case .runOnce: mayRepeat = false
    }
    guard let answer = try answer(context, mayRepeat) else { return nil }
    guard answer.status == 200, let text = answer.head.header(exitHeader), let code = Int32(text),
      let status = ([.ok] + ExitStatus.ranking).first(where: { $0.code == code })
    else { return nil }
    let isWhole = try answer.body.withBytes { bytes throws(CommandFailure) in
      try OutputRecord.pieces(of: bytes) { (stream, piece) throws(CommandFailure) in
        try context.terminal.write(recorded: piece, to: stream)
      }
    }
    guard isWhole else { throw gone }
    return status
  }

  private static func answer(
    _ context: Context, _ mayRepeat: Bool
  ) throws(CommandFailure) -> AgentAnswer? {
    let environment = context.invocation.environment
    // What is wrong with the file or the socket is told by the process that opens the file.
    guard let path = try? context.vaultPath(), let file = try? Files.inspect(path),
      file.kind == .regular, !file.isOpenToOthers
    else { return nil }
    let opened: AgentConnection?
    do throws(CommandFailure) {
      opened = try AgentConnection.open(toAgentOfVaultAt: path, environment)
    } catch {
      return nil
    }
    switch consume opened {
    case .none: return nil
    case .some(var connection):
      do throws(SocketError) {
        guard
          try connection.send(
            "POST", "/v1/run", type: "application/json", RunRequest(context).bytes)
        else { return nil }
      } catch {
        // Not all of it was sent, so nothing was done.
        return nil
      }
      do throws(SocketError) {
        return try connection.answer(
          patience: mayRepeat ? patience.run : patience.once, limit: RunRequest.recordLimit)
      } catch {
        if mayRepeat { return nil }
        throw gone
      }
    }
  }

  private static var gone: CommandFailure {
    CommandFailure(
      .tryAgain, "the agent went away before it answered: whether it was done is not known",
      hint: "vault history --limit 5")
  }
}
