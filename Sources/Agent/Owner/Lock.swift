internal import AccountVault
internal import Command
internal import Faults
internal import Listener
internal import Sodium
internal import Synchronization

extension OwnerService {
  /// `GET /v1/status`
  func status() -> SocketServer.Reply {
    let keeper = core.keeper
    let standing = keeper.standing
    var object = JSONObject()
    object.add("vault", core.facts.vault)
    object.add("path", keeper.path)
    object.add("version", Release.version)
    object.add("pid", Int64(core.facts.process))
    object.add("state", standing.locked == nil ? "unlocked" : "locked")
    object.add("reason", standing.locked?.rawValue)
    object.add("since", standing.since)
    object.add("locks_at", keeper.locksAt)
    object.add("memory_locked", SecureMemory.isLocked)
    object.add("apps_socket", core.facts.appsSocket)
    object.add("next_renewal_at", core.facts.nextRenewal.withLock { $0 }())
    return .json(200, object)
  }

  /// `POST /v1/lock`
  func lock() -> SocketServer.Reply {
    core.keeper.lock(.owner)
    return status()
  }

  /// `POST /v1/unlock`: the body is a key as ``InheritedKey`` has it.
  ///
  /// A wrong one changes nothing, neither the file nor whether it is unlocked.
  func unlock(_ request: SocketServer.Request) -> SocketServer.Reply {
    let body = request.body.withBytes { SecretBytes(copying: $0) }
    guard let key = InheritedKey.key(of: body) else {
      return .error(VaultError(.usage, "the body is no key", hint: "vault unlock"))
    }
    let isUnattended =
      switch key {
      case .keyFile: true
      case .passphrase: false
      case .lent: false
      }
    do throws(VaultError) {
      try core.keeper.unlock(with: key, limits: core.facts.limits(isUnattended))
    } catch {
      core.log.warning("not unlocked", ["code": error.code.rawValue])
      return .error(error)
    }
    return status()
  }
}
