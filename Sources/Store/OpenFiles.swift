import Faults
import FileSystem
import Synchronization

/// The vault files that SQLite has open in this process.
///
/// Closing any descriptor of a file drops this process's POSIX locks on it (SQLite's
/// `howtocorrupt.html`, 2.2). So the bytes are looked at by hand only while no connection of this
/// process has the file, under one mutex; where one has, the look was taken already.
enum OpenFiles {
  /// Counts one opening; dropping it takes the count back.
  final class Presence: Sendable {
    private let file: FileIdentity
    init(_ file: FileIdentity) { self.file = file }
    deinit { OpenFiles.leave(file) }
  }

  struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
  }

  private static let counts = Mutex<[FileIdentity: Int]>([:])

  /// Looks at the first bytes of the file, unless it is open here already, and notes it as open.
  ///
  /// - Throws: ``VaultError``: `damaged` with reason `foreignFile`, or `newerFormat`.
  static func look(at path: String) throws(VaultError) -> Presence {
    try counts.withLock { (counts) throws(VaultError) -> Presence in
      let facts = try files("opening \(path)") { () throws(FileError) in try Files.inspect(path) }
      guard let facts else { throw .noVault(at: path) }
      let identity = FileIdentity(device: facts.device, inode: facts.inode)
      if counts[identity, default: 0] == 0 { try FirstLook.check(path) }
      counts[identity, default: 0] += 1
      return Presence(identity)
    }
  }

  /// Notes a file that this process has just made and checked.
  static func enter(_ path: String) throws(VaultError) -> Presence { try look(at: path) }

  private static func leave(_ file: FileIdentity) {
    counts.withLock { counts in
      let left = (counts[file] ?? 1) - 1
      counts[file] = left > 0 ? left : nil
    }
  }
}
