internal import AccountVault
internal import UnixSocket

/// The key that a running agent lends.
enum LentKey {
  /// Milliseconds that a living agent needs many times less than.
  private static let patience: Int64 = 2000

  /// Asks the agent of the vault file at `path`; nil where none runs, it is locked, or lends no key.
  ///
  /// - Throws: `config` where another user may be at the other end.
  static func ask(
    forVaultAt path: String, _ environment: ProcessEnvironment
  ) throws(CommandFailure) -> Key? {
    let opened = try AgentConnection.open(toAgentOfVaultAt: path, environment)
    switch consume opened {
    case .none: return nil
    case .some(var connection):
      do throws(SocketError) {
        try connection.send("POST", "/v1/key", type: nil)
        let answer = try connection.answer(patience: patience)
        guard answer.status == 200 else { return nil }
        return InheritedKey.key(of: answer.body)
      } catch {
        return nil
      }
    }
  }
}
