import Encoding
import FileSystem
import Store

/// Where the heads of vaults are kept, outside their files.
enum HeadDirectory {
  /// `${XDG_STATE_HOME}/vault`, else `~/.local/state/vault`; nil where there is no home.
  static var standard: String? {
    if let state = Environment.value("XDG_STATE_HOME"), state.hasPrefix("/") {
      return state + "/vault"
    }
    guard let home = Environment.value("HOME"), home.hasPrefix("/") else { return nil }
    return home + "/.local/state/vault"
  }

  /// The head of a vault's branch. The first branch has the vault's name alone; one that began with
  /// a restore has a head of its own, so that a copy that is tried out does not disturb the vault
  /// beside it.
  static func anchor(for store: Store, in directory: String?) -> Anchor? {
    let policy = store.keyring.anchor
    if policy.kind == .none { return nil }
    let vault = store.vault.base32
    let branch = store.state.branch == store.vault ? "" : "-\(store.state.branch.base32)"
    if let path = policy.path { return Anchor(path: path + branch, vault: store.vault) }
    guard let directory = directory ?? standard else { return nil }
    return Anchor(path: "\(directory)/\(vault)\(branch).head", vault: store.vault)
  }

  /// The newest head of a vault that is still locked, signed by the key that it names itself.
  static func head(of state: StateRecord, in directory: String?) throws(VaultError) -> AnchoredHead?
  {
    guard let directory = directory ?? standard else { return nil }
    let vault = state.vault.base32
    let name =
      state.branch == state.vault ? "\(vault).head" : "\(vault)-\(state.branch.base32).head"
    return try Anchor(path: "\(directory)/\(name)", vault: state.vault).readUnauthenticated()
  }
}
