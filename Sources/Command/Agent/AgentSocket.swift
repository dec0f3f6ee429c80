internal import CSystem
internal import Faults
internal import FileSystem

/// Where the running agent of a vault file listens to the owner.
///
/// `${XDG_RUNTIME_DIR}/vault/by-file/DEVICE-INODE` is a link to the directory of the vault's agent, so
/// that one look at the vault file finds it, without opening that.
enum AgentSocket {
  /// The path of the socket, and which file the vault's is (``FileFacts/identity``), which the agent
  /// there is to have open: a link may be older than the file. Nil where no agent has been there.
  ///
  /// - Throws: `config` where something stands there that is not ours alone: whoever could put a socket
  ///   of theirs in its place would be given what is meant for the agent.
  static func path(
    ofVaultAt vault: String, _ environment: ProcessEnvironment
  ) throws(CommandFailure) -> (path: String, file: String)? {
    let user = vault_effective_user()
    guard let runtime = try runtimeDirectory(environment, user),
      let file = facts({ () throws(FileError) in try Files.target(of: vault) }),
      file.kind == .regular
    else { return nil }
    let place = "\(runtime)/vault"
    let index = "\(place)/by-file"
    let link = "\(index)/\(file.identity)"
    for directory in [place, index] {
      guard let facts = facts({ () throws(FileError) in try Files.inspect(directory) }) else {
        return nil
      }
      try check(directory, facts, .directory, user)
    }
    guard let found = facts({ () throws(FileError) in try Files.inspect(link) }) else { return nil }
    guard found.kind == .symbolicLink, found.owner == user else { throw refusal(link) }
    // A link of ours, in a directory that nobody else can change, and what it leads to is looked at.
    guard let target = facts({ () throws(FileError) in try Files.target(of: link) }) else {
      return nil
    }
    try check(link, target, .directory, user)
    let socket = "\(link)/owner.sock"
    guard let facts = facts({ () throws(FileError) in try Files.inspect(socket) }) else {
      return nil
    }
    guard facts.kind == .socket, facts.owner == user else { throw refusal(socket) }
    return (socket, file.identity)
  }

  private static func runtimeDirectory(
    _ environment: ProcessEnvironment, _ user: UInt32
  ) throws(CommandFailure) -> String? {
    if let path = try environment.value("XDG_RUNTIME_DIR"), path.hasPrefix("/") { return path }
    let usual = "/run/user/\(user)"
    guard let facts = facts({ () throws(FileError) in try Files.inspect(usual) }),
      facts.kind == .directory, facts.owner == user
    else { return nil }
    return usual
  }

  /// What cannot be looked at is as good as not there.
  private static func facts(_ look: () throws(FileError) -> FileFacts?) -> FileFacts? {
    do throws(FileError) { return try look() } catch { return nil }
  }

  private static func check(
    _ path: String, _ facts: FileFacts, _ kind: FileFacts.Kind, _ user: UInt32
  ) throws(CommandFailure) {
    guard facts.kind == kind, facts.owner == user, !facts.isOpenToOthers else {
      throw refusal(path)
    }
  }

  static func refusal(_ path: String) -> CommandFailure {
    CommandFailure(
      .config, "\(path): not yours alone, so no agent is asked there",
      hint: "ls -ld \(ShellText.quoted(path))")
  }
}
