import Faults
import FileSystem
import Glibc

/// Where a vault is or shall be, once its path was found to be a safe one.
///
/// Never through a symbolic link at the end of the path: whoever could place one would choose the
/// file. Links further up are resolved once, and the result is what is opened.
struct VaultPlace {
  let path: String
  let directory: String
  let isOnNetwork: Bool
  private(set) var warnings: [String] = []

  /// For an existing vault.
  init(existing path: String, allowNetworkFileSystem: Bool) throws(VaultError) {
    let facts = try files("opening \(path)") { () throws(FileError) in try Files.inspect(path) }
    guard let facts else { throw .noVault(at: path) }
    switch facts.kind {
    case .regular: break
    case .symbolicLink:
      throw VaultError(
        .io, "\(path) is a symbolic link", hint: "readlink -f \(ShellText.quoted(path))",
        reason: .unsafePath)
    default:
      throw VaultError(
        .damaged, "\(path) is not a file", hint: "ls -ld \(ShellText.quoted(path))",
        reason: .foreignFile)
    }
    guard facts.owner == geteuid() else {
      throw VaultError(
        .io, "\(path) belongs to another user", hint: "ls -l \(ShellText.quoted(path))",
        reason: .unsafePath)
    }
    (directory, self.path) = try Self.resolve(path)
    isOnNetwork = try Self.checkNetwork(self.path, allowed: allowNetworkFileSystem)
    try checkDirectory()
    if facts.mode & 0o077 != 0 {
      try files("closing \(path) to others") { () throws(FileError) in
        try Files.openExisting(self.path, write: true).setMode(0o600)
      }
      warnings.append("\(path) could be read by others; its mode is now 0600")
    }
    for suffix in ["-wal", "-shm", "-journal"] {
      let companion = self.path + suffix
      let facts = try files("opening \(path)") { () throws(FileError) in
        try Files.inspect(companion)
      }
      if let facts, facts.kind != .regular {
        throw VaultError(.io, "\(companion) is not a plain file", reason: .unsafePath)
      }
    }
  }

  /// For a vault that is to be made. Missing directories are made, closed to others.
  init(new path: String, allowNetworkFileSystem: Bool) throws(VaultError) {
    if path.isEmpty || path.hasSuffix("/") {
      throw VaultError(.usage, "\(path) names no file", hint: "vault init --vault PATH")
    }
    let existing = try files("making \(path)") { () throws(FileError) in try Files.inspect(path) }
    guard existing == nil else {
      throw VaultError(
        .exists, "\(path) exists already", hint: "vault init --vault PATH")
    }
    let parent = Anchor.directory(of: path)
    try files("making \(parent)") { () throws(FileError) in try Files.makeDirectories(parent) }
    (directory, self.path) = try Self.resolve(path)
    isOnNetwork = try Self.checkNetwork(directory, allowed: allowNetworkFileSystem)
    try checkDirectory()
  }

  private func checkDirectory() throws(VaultError) {
    do throws(FileError) {
      try Files.checkDirectory(directory)
    } catch {
      throw VaultError(
        .io, "no safe place for a vault: \(error.path): \(error.operation)",
        hint: "chmod go-w \(ShellText.quoted(error.path))", reason: .unsafePath)
    }
  }

  private static func resolve(_ path: String) throws(VaultError) -> (String, String) {
    let parent = Anchor.directory(of: path)
    let name = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last
    guard let name, !name.isEmpty, ![".", ".."].contains(String(name) ?? "..") else {
      throw VaultError(.usage, "\(path) names no file", hint: "vault init --vault PATH")
    }
    let resolved = try files("opening \(parent)") { () throws(FileError) in
      try Files.resolvingDirectory(of: path)
    }
    return (Anchor.directory(of: resolved), resolved)
  }

  private static func checkNetwork(_ path: String, allowed: Bool) throws(VaultError) -> Bool {
    let kind = try files("looking at \(path)") { () throws(FileError) in
      try Files.fileSystem(of: path)
    }
    guard case .network(let name) = kind else { return false }
    if allowed { return true }
    throw VaultError(
      .io, "\(path) is on a network file system (\(name)), where locks and syncs cannot be trusted",
      hint: "vault doctor --network-fs", reason: .networkFileSystem)
  }
}
