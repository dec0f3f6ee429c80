package import AccountVault
import Faults
import Sodium
import Time

extension Context {
  /// Opens the vault of this run, still locked.
  package func openVault() throws(CommandFailure) -> Vault {
    if let hosting = invocation.hosting { return hosting.vault }
    let path = try vaultPath()
    let vault = try vaultCall { () throws(VaultError) in
      try Vault.open(at: path, allowNetworkFileSystem: arguments.has("network-fs"), endsSoon: true)
    }
    for warning in vault.warnings { terminal.warning(warning) }
    return vault
  }

  /// How sessions of this run are unlocked.
  package func unlockOptions(looking: Bool = false) throws(CommandFailure) -> Vault.UnlockOptions {
    var options = Vault.UnlockOptions()
    options.headDirectory = try headDirectory()
    options.allowsExpensiveKeySettings = arguments.has("allow-expensive-kdf")
    options.isLooking = looking
    options.clock = invocation.clock
    return options
  }

  /// `${XDG_STATE_HOME:-~/.local/state}/vault`, where heads are kept outside vault files.
  private func headDirectory() throws(CommandFailure) -> String? {
    if let state = try invocation.environment.value("XDG_STATE_HOME"), state.hasPrefix("/") {
      return state + "/vault"
    }
    guard let home = try invocation.environment.value("HOME"), home.hasPrefix("/") else {
      return nil
    }
    return home + "/.local/state/vault"
  }

  /// Unlocks the vault of this run and runs `body` with the session; then what the session still owes
  /// is written, so that an error of it is the command's error.
  package func withSession<R: ~Copyable>(
    looking: Bool = false, _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(CommandFailure) -> R {
    let vault = try openVault()
    let key = try key(for: vault)
    return try use(vault, key, looking: looking, body)
  }

  /// ``withSession(looking:_:)`` with a key that is at hand already.
  package func use<R: ~Copyable>(
    _ vault: Vault, _ key: consuming Key, looking: Bool = false,
    _ body: (borrowing Session) throws(VaultError) -> R
  ) throws(CommandFailure) -> R {
    if let hosting = invocation.hosting { return try hosting.use(body) }
    let options = try unlockOptions(looking: looking)
    var key = Optional(key)
    return try vaultCall { () throws(VaultError) in
      let session = try vault.unlock(with: key.take()!, options: options)
      for warning in session.warnings { terminal.warning(warning) }
      let result = try body(session)
      try session.flush()
      return result
    }
  }

  /// The secret that unlocks a vault, from where the contract says, in its order.
  package func key(for vault: Vault) throws(CommandFailure) -> Key {
    if let hosting = invocation.hosting { return hosting.key() }
    return try secrets.key(forVaultAt: vault.path)
  }
}

/// Runs calls to the library and tells their errors in the command's words.
package func vaultCall<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(CommandFailure) -> R
{
  do throws(VaultError) {
    return try body()
  } catch {
    throw CommandFailure(error)
  }
}
