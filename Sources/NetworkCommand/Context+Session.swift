package import AccountVault
package import Command
internal import Faults

extension Context {
  /// Unlocks the vault of this run and runs `body` with the session; then what the session still owes
  /// is written, so that an error of it is the command's error.
  package func withSession<R: ~Copyable>(
    looking: Bool = false, _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(CommandFailure) -> R {
    let vault = try openVault()
    let key = try key(for: vault)
    return try await use(vault, key, looking: looking, body)
  }

  /// ``withSession(looking:_:)`` with a key that is at hand already.
  package func use<R: ~Copyable>(
    _ vault: Vault, _ key: consuming Key, looking: Bool = false,
    _ body: (borrowing Session) async throws(VaultError) -> R
  ) async throws(CommandFailure) -> R {
    let options = try unlockOptions(looking: looking)
    do throws(VaultError) {
      let session = try vault.unlock(with: key, options: options)
      for warning in session.warnings { terminal.warning(warning) }
      let result = try await body(session)
      try session.flush()
      return result
    } catch {
      throw CommandFailure(error)
    }
  }
}
