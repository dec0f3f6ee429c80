internal import AccountVault
internal import Command
internal import Faults
internal import Listener
internal import Sodium

/// `POST /v1/key`: lends the owner the vault's key, for a command that runs in a process of its own.
///
/// Whoever reaches this socket may do all that the owner may, adding a key of their own included, so
/// this gives nothing that could not be taken in another way. `vault agent --keep-key` refuses it.
struct KeyService {
  private let core: AgentCore

  init(_ core: AgentCore) { self.core = core }

  func reply() -> SocketServer.Reply {
    guard !core.keepsKey else {
      return .error(
        VaultError(.denied, "the agent keeps its key", hint: "export VAULT_PASSPHRASE_FILE=FILE"))
    }
    do throws(VaultError) {
      let key = try core.keeper.pool().lentKey()
      core.log.debug("key lent")
      return SocketServer.Reply(
        200,
        headers: [("Content-Type", "application/octet-stream"), ("Cache-Control", "no-store")],
        body: .bytes(SharedSecret(InheritedKey.bytes(of: key))))
    } catch {
      return .error(error)
    }
  }
}
