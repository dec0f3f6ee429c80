internal import CSystem
import Glibc

/// An exclusive lock on one byte of a lock file, held until the value dies.
///
/// It belongs to an open file description (`F_OFD_SETLK`): two holders exclude each other within one
/// process too, closing another descriptor of the file does not drop it, and the kernel frees it when
/// the process dies, however it dies, with no clock involved. The byte need not exist in the file.
///
/// The lock file is never renamed or removed: two processes would then lock two files.
package struct FileLock: ~Copyable, Sendable {
  private let file: Descriptor
  private let byte: Int64

  private init(file: consuming Descriptor, byte: Int64) {
    self.file = file
    self.byte = byte
  }

  deinit {
    // Closing alone would leave it locked while a child of another thread, between its start and its
    // own program, shares the description.
    _ = vault_ofd_unlock(file.rawValue, byte)
  }

  /// Makes the lock file with mode 0600 if it is missing, and locks `byte` of it.
  ///
  /// - Parameters:
  ///   - byte: 0 or more.
  ///   - wait: Whether to wait, for as long as it takes, while another holds it.
  /// - Returns: Nil when another holds it and `wait` is false.
  package static func acquire(
    _ path: String, byte: Int64, wait: Bool
  ) throws(FileError) -> FileLock? {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let file = try Files.openRegular(path, flags)
    let number = file.rawValue
    do {
      _ = try SystemCall.run("lock", path) { vault_ofd_lock(number, byte, wait ? 1 : 0) }
    } catch  where !wait && (error.errno == EAGAIN || error.errno == EACCES) {
      return nil
    }
    return FileLock(file: file, byte: byte)
  }
}
