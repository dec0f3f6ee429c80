internal import CSystem
import Glibc

/// Whether a file system's locks and shared memory hold among all that can reach it.
///
/// SQLite's WAL needs every process on one host: on NFS it gives I/O errors or a corrupt file.
package enum FileSystemKind: Equatable, Sendable {
  case local
  /// Served by another host, or by a process as FUSE does; with its common name.
  case network(String)

  /// - Parameter magic: `f_type` of statfs(2); the numbers are in its manual page and in
  ///   `linux/magic.h`.
  package init(magic: UInt32) {
    self = Self.names[magic].map { .network($0) } ?? .local
  }

  private static let names: [UInt32: String] = [
    0x0000_6969: "NFS",
    0x0000_517B: "SMB",
    0xFF53_4D42: "CIFS",
    0xFE53_4D42: "SMB2",
    0x0102_1997: "9p",
    0x6573_5546: "FUSE",
    0x5346_414F: "AFS",
    0x6B41_4653: "AFS",
    0x00C3_6400: "Ceph",
    0x7375_7245: "Coda",
    0x0000_564C: "NCP",
    0x7461_636F: "OCFS2",
    0x0116_1970: "GFS2",
    0x0BD0_0BD0: "Lustre",
    0x4750_4653: "GPFS",
    0x1983_0326: "BeeGFS",
    0x2003_0528: "OrangeFS",
    0x786F_4256: "vboxsf",
    0xBACB_ACBC: "vmhgfs",
  ]
}

/// Asks for the kind of file system, as a value, so that a test can stand in for the kernel.
package struct FileSystemProbe: Sendable {
  /// The kind of file system that holds a path, or will hold it once it is made.
  package let kind: @Sendable (String) throws(FileError) -> FileSystemKind

  package init(kind: @escaping @Sendable (String) throws(FileError) -> FileSystemKind) {
    self.kind = kind
  }

  /// Asks statfs(2).
  package static let system = FileSystemProbe { path throws(FileError) in
    var next = FilePath(path)
    while try Files.inspect(next.text) == nil { next = next.parent }
    var magic: UInt32 = 0
    try unsafe SystemCall.run("inspect file system", path: next.text) {
      unsafe vault_file_system_magic($0, &magic)
    }
    return FileSystemKind(magic: magic)
  }

  /// Says the same of every path.
  package static func always(_ kind: FileSystemKind) -> FileSystemProbe {
    FileSystemProbe { (_) throws(FileError) in kind }
  }
}
