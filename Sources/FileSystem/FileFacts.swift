import Glibc

/// What `lstat` or `fstat` tells about one file.
package struct FileFacts: Equatable, Sendable {
  package enum Kind: Sendable {
    case regular, directory, symbolicLink, socket, fifo, device
  }

  package let kind: Kind

  /// The twelve permission bits.
  package let mode: UInt32

  /// User id of the owner.
  package let owner: UInt32

  /// Group id.
  package let group: UInt32

  /// Bytes.
  package let size: Int64

  package let device: UInt64

  package let inode: UInt64

  /// When the content, and when anything about the file, last changed: nanoseconds since 1970, as
  /// exact as the file system keeps them.
  package let modifiedAt, changedAt: Int64

  /// Which file it is, whatever its name: `DEVICE-INODE` in hexadecimal. A file that is made later may
  /// have the number of one that is gone.
  package var identity: String {
    "\(String(device, radix: 16))-\(String(inode, radix: 16))"
  }

  /// True when any other user or group may read, write or search it.
  package var isOpenToOthers: Bool { mode & 0o077 != 0 }

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFSOCK: .socket
      case S_IFIFO: .fifo
      default: .device
      }
    mode = UInt32(status.st_mode & 0o7777)
    owner = status.st_uid
    group = status.st_gid
    size = Int64(status.st_size)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    modifiedAt = Self.nanoseconds(status.st_mtim)
    changedAt = Self.nanoseconds(status.st_ctim)
  }
  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
