internal import FileSystem
internal import UnixSocket

/// Has a running agent do the command, which keeps the vault open and warm: `POST /v1/run`.
///
/// Before the command line is read: the agent reads it, with the table of the same version, and
/// declines what is not for it to do. This is most of what a command costs while an agent runs, so
/// nothing here needs what the runtime, libsodium or SQLite first have to set up (decision 15).
enum AgentRun {
  /// The exit code in an answer.
  static let exitHeader = "vault-exit"
  /// Milliseconds until the agent counts as gone: for what may be repeated, and for what may not.
  private static let patience: (run: Int64, once: Int64) = (5_000, 60_000)

  /// Asks the agent of the invocation's vault, and writes what the command there wrote.
  ///
  /// - Returns: The command's status; nil where this process is to do it: no agent runs, it is locked or
  ///   of another version, or the command is not the agent's to do.
  /// - Throws: `tryAgain` where it is not known whether a change was made, for the agent went away in
  ///   the midst of it; `io` where standard output does not take the data.
  static func ask(
    _ invocation: Invocation, _ terminal: Terminal
  ) throws(CommandFailure) -> ExitStatus? {
    guard let name = invocation.arguments.first, invocation.unreadableArgument == nil,
      invocation.hosting == nil, Terminal.isOpen(invocation.standardOutput)
    else { return nil }
    let mayRepeat = AgentUse.runs.contains(name)
    guard mayRepeat || AgentUse.runsOnce.contains(name) else { return nil }
    let request = RunRequest(
      invocation.arguments, vault: vaultOption(invocation.arguments),
      isColored: terminal.showsColors)
    guard let answer = try answer(to: request, invocation.environment, mayRepeat),
      answer.head.status == 200, let text = answer.head.header(exitHeader), let code = Int32(text),
      let status = ExitStatus(rawValue: code)
    else { return nil }
    let isWhole = try answer.body.withSpan { bytes throws(CommandFailure) in
      // Whole bytes, seen as they are.
      try unsafe OutputRecord.pieces(of: bytes.bytes) { (stream, piece) throws(CommandFailure) in
        try terminal.write(recorded: piece, to: stream)
      }
    }
    guard isWhole else { throw gone }
    return status
  }

  /// The value of the first `--vault` in a command line, if it is one; the agent, which reads the line
  /// by the table, declines where it is not.
  private static func vaultOption(_ arguments: [String]) -> String? {
    for (index, word) in arguments.enumerated() {
      if word == "--vault", index + 1 < arguments.count { return arguments[index + 1] }
      if word.utf8.starts(with: "--vault=".utf8) {
        return String(decoding: word.utf8.dropFirst(8), as: UTF8.self)
      }
    }
    return nil
  }

  private static func path(_ request: RunRequest, _ environment: ProcessEnvironment) -> String? {
    if let path = request.vault { return path }
    return try? VaultLocation.path(environment)
  }

  private struct Answer: ~Copyable {
    let head: UnixConnection.Head
    let body: WipedBytes
  }

  private static func answer(
    to request: RunRequest, _ environment: ProcessEnvironment, _ mayRepeat: Bool
  ) throws(CommandFailure) -> Answer? {
    // What is wrong with the file or the socket is told by the process that opens the file.
    guard let path = path(request, environment),
      let file = try? Files.inspect(path), file.kind == .regular, !file.isOpenToOthers
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
            "POST", "/v1/run", type: AgentConnection.keyType, request.bytes)
        else { return nil }
      } catch {
        // Not all of it was sent, so nothing was done.
        return nil
      }
      do throws(SocketError) {
        let patience = mayRepeat ? patience.run : patience.once
        let head = try connection.head(patience: patience)
        var body = WipedBytes()
        var isTooLong = false
        let failure = connection.body(of: head, patience: patience) { piece in
          if piece.byteCount > RunRequest.recordLimit - body.count { isTooLong = true }
          if !isTooLong { body.append(piece) }
        }
        if let failure { throw failure }
        if isTooLong { throw .broken }
        return Answer(head: head, body: body)
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
