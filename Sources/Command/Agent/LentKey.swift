internal import AccountVault
internal import UnixSocket

/// The key that a running agent lends.
enum LentKey {
  /// Milliseconds that a living agent needs many times less than.
  private static let patience: Int64 = 2000

  /// Asks the agent of the vault file at `path`; nil where none runs, or it lends no key.
  ///
  /// - Throws: `config` where another user may be at the other end; `locked` where it is; `tryAgain`
  ///   where it does not answer.
  static func ask(
    forVaultAt path: String, _ environment: ProcessEnvironment
  ) throws(CommandFailure) -> Key? {
    let opened = try AgentConnection.open(toAgentOfVaultAt: path, environment)
    switch consume opened {
    case .none: return nil
    case .some(var connection):
      var isLocked = false
      do throws(SocketError) {
        try connection.send("POST", "/v1/key", type: nil)
        let answer = try connection.answer(patience: patience)
        if answer.status == 200 { return InheritedKey.key(of: answer.body) }
        if let failure = AgentStanding.failure(answer.body), failure.status == .locked {
          isLocked = true
        }
      } catch {
        if error == .timeout { throw AgentConnection.noAnswer(connection.path) }
      }
      if isLocked { throw CommandFailure(.locked, "the agent is locked", hint: "vault unlock") }
      return nil
    }
  }
}
