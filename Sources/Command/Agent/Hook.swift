internal import CSystem
internal import FileSystem
internal import Glibc

/// A program of the owner's that is run when something happened, such as
/// `${XDG_CONFIG_HOME:-~/.config}/vault/hooks/rejected`.
///
/// It reads one JSON object, a line, from its standard input. No secret is ever in it, nor in the
/// environment, which is the caller's. What it writes goes to standard error; it cannot change what
/// happened.
package struct Hook {
  private let path: String

  /// Milliseconds until a hook that does not end is ended.
  static let limit: Int64 = 30_000

  /// The hook of a name; nil where there is none.
  ///
  /// - Throws: `config` where the file is there and must not be run: it is another user's, or others
  ///   may write it.
  package init?(_ name: String, _ invocation: Invocation) throws(CommandFailure) {
    guard let folder = try Self.folder(invocation) else { return nil }
    path = "\(folder)/\(name)"
    let found: FileFacts?
    do throws(FileError) { found = try Files.inspect(path) } catch { return nil }
    guard let found else { return nil }
    guard found.kind == .regular, found.owner == geteuid() || found.owner == 0,
      found.mode & 0o022 == 0
    else {
      throw CommandFailure(
        .config, "\(path): not run, for it is no plain file of yours that only you may write",
        hint: "ls -l \(path)")
    }
    guard unsafe vault_may_run(path) == 1 else { return nil }
  }

  private static func folder(_ invocation: Invocation) throws(CommandFailure) -> String? {
    if let path = try invocation.environment.value("XDG_CONFIG_HOME"), path.hasPrefix("/") {
      return path + "/vault/hooks"
    }
    guard let home = try invocation.environment.value("HOME"), home.hasPrefix("/") else {
      return nil
    }
    return home + "/.config/vault/hooks"
  }

  /// Runs it and waits for its end, for at most 30 seconds.
  ///
  /// - Returns: What went wrong with it, in words; nil where nothing did.
  package func run(_ line: String, _ invocation: Invocation) -> String? {
    let environment = invocation.environment.entries
    let input = Array((line + "\n").utf8)
    var child: Int32 = 0
    let error = ProcessHardening.withChildLimits {
      // The texts are lent for the call; the child has copies of them then.
      unsafe vault_spawn_hook(
        path, CStrings.packed(environment), Int32(environment.count), input, input.count,
        invocation.standardError, &child)
    }
    if error != 0 { return "\(path): \(SystemText.of(error))" }
    var exited: Int32 = 0
    var code: Int32 = 0
    let waited = unsafe vault_wait_child_for(child, Self.limit, &exited, &code)
    if waited == ETIMEDOUT {
      vault_end_child(child)
      return "\(path): ended after \(Self.limit / 1000) seconds"
    }
    if waited != 0 { return "\(path): \(SystemText.of(waited))" }
    if exited == 0 { return "\(path): ended by signal \(code)" }
    return code == 0 ? nil : "\(path): exit status \(code)"
  }
}

/// Whether a person or a service manager asked this process to end.
package enum EndSignal {
  /// From now on SIGINT and SIGTERM end nothing by themselves.
  package static func note() { vault_note_signals() }

  package static var wasAsked: Bool { vault_end_was_asked() != 0 }
}
