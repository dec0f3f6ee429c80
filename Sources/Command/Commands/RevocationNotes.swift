import AccountVault

extension Context {
  /// Has `vault-agent` tell the providers whose tokens are over, and says what became of it.
  ///
  /// To be called when no session is open any more.
  ///
  /// - Parameter done: What is done here, whatever the providers say.
  /// - Returns: `ok` where every provider that can be told knows.
  /// - Throws: `tryAgain` where one does not know yet: it waits in the vault and is tried again.
  func tell(
    _ revocations: [RevocationNotice], key: consuming Key, done: String
  ) throws(CommandFailure) -> ExitStatus {
    for notice in revocations {
      guard let obstacle = notice.obstacle else { continue }
      terminal.note(
        "\(notice.provider) cannot be told (\(obstacle)): its tokens live on there until they end;"
          + " take the app away at its site")
    }
    let waiting = revocations.filter(\.isPending)
    guard !waiting.isEmpty else { return .ok }
    var names: [String] = []
    for notice in waiting where !names.contains(notice.provider) { names.append(notice.provider) }
    let provider = names.joined(separator: ", ")
    var code: Int32?
    do throws(CommandFailure) {
      code = try runAgent(["send-revocations"], key: key, context: self)
    } catch {
      terminal.note(error.message)
    }
    if code == 0 {
      terminal.note("\(provider) was told: its tokens are over there too")
      return .ok
    }
    throw CommandFailure(
      .tryAgain,
      "\(done), but \(provider) was not told yet: that waits in the vault and is tried again",
      hint: "vault renew")
  }
}
