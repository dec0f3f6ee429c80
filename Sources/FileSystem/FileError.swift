import Glibc

/// What the file system refused, and where.
package struct FileError: Error, Equatable {
  package enum Kind: Sendable {
    case notFound, exists, permission, readOnly
    /// No room left, over quota, or over the process's file-size limit.
    case full
    case symbolicLink, notRegular
    /// A file holds more than its reader takes.
    case tooLarge
    case other
  }

  /// The system's number, for example `ENOENT`.
  package let errno: Int32

  /// What was being done, for example "open".
  package let operation: String

  package let path: String

  package let kind: Kind

  /// - Parameter kind: Where the number alone does not tell it.
  package init(errno: Int32, operation: String, path: String, kind: Kind? = nil) {
    self.errno = errno
    self.operation = operation
    self.path = path
    self.kind = kind ?? Self.kind(of: errno)
  }

  private static func kind(of errno: Int32) -> Kind {
    switch errno {
    case ENOENT, ENOTDIR: .notFound
    case EEXIST: .exists
    case EACCES, EPERM: .permission
    case EROFS: .readOnly
    case ENOSPC, EDQUOT, EFBIG: .full
    case ELOOP: .symbolicLink
    case EISDIR: .notRegular
    default: .other
    }
  }

  /// The C library's English for the number, for example "No such file or directory".
  package var text: String {
    // strerror's own buffer may be written by another thread; ours may not.
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let start = buffer.baseAddress, unsafe strerror_r(errno, start, buffer.count) == 0
      else { return "error \(errno)" }
      return unsafe String(cString: start)
    }
  }
}
