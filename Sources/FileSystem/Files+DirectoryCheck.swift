import Glibc

extension Files {
  /// Refuses a directory in which somebody else could put a file of theirs in the place of ours.
  ///
  /// The directory is ours or root's, no link, and nobody else may write in it. The directories above
  /// it are ours or root's too, and either closed to others' writing or, like `/tmp`, root's and
  /// sticky: there nobody can rename or remove what is ours. Links on the way must be ours or root's.
  ///
  /// - Throws: ``FileError`` with the path that is wrong and, in its operation, what is wrong with it.
  package static func checkDirectory(_ path: String) throws(FileError) {
    guard let facts = try inspect(FilePath(path).text) else {
      throw FileError(errno: ENOENT, operation: "check directory", path: path)
    }
    if facts.kind == .symbolicLink {
      throw FileError(
        errno: ELOOP, operation: "check directory: it is a symbolic link", path: path)
    }
    if facts.kind != .directory {
      throw FileError(errno: ENOTDIR, operation: "check directory", path: path)
    }
    try checkOwner(facts, path)
    if facts.mode & 0o022 != 0 { throw writableByOthers(path) }
    // By the way the caller walked, and by the way it really is.
    try checkParents(of: path)
    try checkParents(of: try resolve(path))
  }

  private static func checkParents(of path: String) throws(FileError) {
    var directory = FilePath(path)
    var depth = 0
    while true {
      let parent = directory.parent
      guard let facts = try inspect(parent.text) else {
        throw FileError(errno: ENOENT, operation: "check directory", path: parent.text)
      }
      try checkOwner(facts, parent.text)
      let isSharedButSticky = facts.owner == 0 && facts.mode & UInt32(S_ISVTX) != 0
      // A link's own mode means nothing; where it leads is checked on the real way.
      if facts.kind == .directory && facts.mode & 0o022 != 0 && !isSharedButSticky {
        throw writableByOthers(parent.text)
      }
      // A relative path ends at ".", whose parents the real way covers.
      if parent.text == "/" || parent.lastComponent == nil || depth == 4096 { return }
      directory = parent
      depth += 1
    }
  }

  private static func checkOwner(_ facts: FileFacts, _ path: String) throws(FileError) {
    if facts.owner != geteuid() && facts.owner != 0 {
      throw FileError(
        errno: EPERM, operation: "check directory: another user owns it", path: path)
    }
  }

  private static func writableByOthers(_ path: String) -> FileError {
    FileError(errno: EPERM, operation: "check directory: others may write in it", path: path)
  }
}
