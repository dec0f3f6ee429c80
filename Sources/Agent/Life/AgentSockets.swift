internal import CSystem
internal import Command
internal import Faults
internal import FileSystem
internal import UnixSocket

/// A socket that listens, and where.
struct ListeningSocket: Sendable {
  let descriptor: Int32
  let path: String
  /// Whether the agent made its file, and removes it at its end.
  let isOurs: Bool
}

/// How the socket for apps is made.
struct AppsSocketOptions: Sendable, Equatable {
  /// Nil for the usual place.
  var path: String?
  var mode: UInt32 = 0o600
  var group: UInt32?
}

extension ListeningSocket {
  /// Makes a socket's file with these permission bits from its first moment on.
  ///
  /// Whoever calls holds the agent's lock, so that nobody else replaces a socket meanwhile. A file in
  /// its place is removed only where it is a socket on which nobody listens, as after a kill.
  ///
  /// - Throws: `usage` where the path is too long, `exists` where something else stands there or a
  ///   program listens, `config`.
  static func open(
    _ path: String, mode: UInt32 = 0o600, group: UInt32? = nil
  ) throws(CommandFailure) -> ListeningSocket {
    let limit = Int(vault_unix_path_limit())
    guard path.utf8.count <= limit else {
      throw CommandFailure(
        .config,
        "\(path): a socket's path has at most \(limit) bytes, this one has \(path.utf8.count)",
        hint: "export XDG_RUNTIME_DIR=DIRECTORY")
    }
    try removeStale(path)
    let descriptor: Int32
    do throws(SocketError) {
      // Closed to others until the group is the right one.
      descriptor = try UnixListener.open(path: path, mode: group == nil ? mode : 0o600)
    } catch {
      switch error {
      case .system(let error): throw CommandFailure(.io, "\(path): \(SystemText.of(error))")
      default: throw CommandFailure(.io, "\(path): cannot be listened on")
      }
    }
    let socket = ListeningSocket(descriptor: descriptor, path: path, isOurs: true)
    if let group {
      let error = unsafe vault_give_to_group(path, group, mode)
      if error != 0 {
        socket.close()
        throw CommandFailure(.config, "\(path): \(SystemText.of(error))")
      }
    }
    return socket
  }

  private static func removeStale(_ path: String) throws(CommandFailure) {
    let found: FileFacts?
    do throws(FileError) { found = try Files.inspect(path) } catch {
      throw CommandFailure(.io, "\(path): \(error.text)")
    }
    guard let found else { return }
    guard found.kind == .socket, found.owner == vault_effective_user() else {
      throw CommandFailure(
        .exists, "\(path): something stands there that is no socket of yours",
        hint: "ls -l \(ShellText.quoted(path))")
    }
    let connection = unsafe vault_unix_connect(path, 1000)
    if connection >= 0 {
      vault_close(connection)
      throw CommandFailure(
        .exists, "\(path): another program listens there",
        hint: "ls -l \(ShellText.quoted(path))")
    }
    let error = vault_errno()
    // ECONNREFUSED alone says that nobody listens; a full backlog, for one, is another error.
    guard error == 111 else {
      throw CommandFailure(.io, "\(path): \(SystemText.of(error))")
    }
    do throws(FileError) { try Files.remove(path) } catch {
      throw CommandFailure(.io, "\(path): \(error.text)")
    }
  }

  func close() {
    vault_close(descriptor)
    if isOurs { try? Files.remove(path) }
  }
}

/// The sockets of one agent: its own, and those that its service manager gave it.
final class AgentSockets: Sendable {
  let owner: [ListeningSocket]
  let apps: [ListeningSocket]
  /// Keeps another agent from replacing a socket at a place of the owner's choice.
  private let appsLock: FileLock?

  /// Where programs find the socket for apps.
  var appsPath: String { apps[0].path }

  /// Makes those that were not given. The owner's always stands where `vault` looks for it.
  init(
    _ place: RuntimePlace, _ options: AppsSocketOptions, _ manager: ServiceManager
  ) throws(CommandFailure) {
    var owner = manager.sockets.filter { $0.name == "owner" }.map(\.socket)
    var apps = manager.sockets.filter { $0.name == "apps" }.map(\.socket)
    let ownerPath = "\(place.directory)/owner.sock"
    var lock: FileLock?
    do throws(CommandFailure) {
      if !owner.contains(where: { $0.path == ownerPath }) {
        owner.append(try .open(ownerPath))
      }
      if let path = options.path {
        lock = try Self.lock(path)
        apps.insert(try .open(path, mode: options.mode, group: options.group), at: 0)
      } else if apps.isEmpty {
        apps.append(
          try .open(
            "\(place.directory)/apps.sock", mode: options.mode, group: options.group))
      }
    } catch {
      for socket in owner + apps { socket.close() }
      throw error
    }
    self.owner = owner
    self.apps = apps
    appsLock = lock
  }

  /// A directory in which others may write is no place: they could put a socket of theirs there.
  private static func lock(_ path: String) throws(CommandFailure) -> FileLock {
    let lock: FileLock?
    do throws(FileError) {
      try Files.checkDirectory(FilePath(path).parent.text)
      lock = try FileLock.acquire("\(path).lock", byte: 0, wait: false)
    } catch {
      throw CommandFailure(
        .config, "\(error.path): \(error.operation): \(error.text)",
        hint: "ls -ld \(ShellText.quoted(error.path))")
    }
    switch consume lock {
    case .some(let lock): return lock
    case .none:
      throw CommandFailure(.exists, "\(path): another agent listens there", hint: "vault status")
    }
  }

  /// Takes away the files that were made, so that nobody connects any more.
  func remove() {
    for socket in owner + apps where socket.isOurs { try? Files.remove(socket.path) }
  }
}
